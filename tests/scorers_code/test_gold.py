"""The datasets' own solutions pass, doing nothing does not, and mutants fare as in plain CPython. Real data."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable
from typing import Any

import pytest

from proctor.domain.errors import ScorerError
from proctor.domain.response import Response
from proctor.domain.sample import Sample
from proctor.domain.sandbox import MIB, Check, SandboxLimits
from proctor.domain.score import Score
from proctor.sandboxes.pool import SandboxPool
from proctor.scorers.code import evalplus, humaneval, mbpp
from proctor.scorers.code.humaneval import humaneval_check
from proctor.scorers.code.mbpp import mbpp_check
from scorers_code.conftest import chosen, rows, with_sandbox
from scorers_code.mutation import CPU_SECONDS, mutate, plainly_passes

pytestmark = pytest.mark.timeout(1800)
Row = dict[str, Any]
FENCED = "Sure, here it is:\n\n```python\n{}\n```\n\nIt works because it is right."
GOLD: dict[str, tuple[Any, int, Callable[[Row], str]]] = {
    "humaneval": (humaneval, 164, lambda row: row["canonical_solution"]),
    "humaneval-plus": (evalplus, 164, lambda row: FENCED.format(row["prompt"] + row["canonical_solution"])),
    "mbpp": (mbpp, 427, lambda row: f"[BEGIN]\n{row['code']}\n[DONE]"),
    "mbpp-plus": (evalplus, 378, lambda row: FENCED.format(row["canonical_solution"])),
}


async def _scores(sandbox: SandboxPool, module: Any, given: list[tuple[Row, str]]) -> list[Score | ScorerError]:
    scorer = module.create().with_sandbox(sandbox)

    async def one(row: Row, text: str) -> Score | ScorerError:
        try:
            score: Score = await scorer.score(Sample(str(row["task_id"]), row["prompt"], metadata=row), Response(text))
        except ScorerError as error:
            return error
        return score

    return await asyncio.gather(*(one(*pair) for pair in given))


@pytest.mark.parametrize("name", GOLD)
def test_gold_solutions_pass(name: str) -> None:
    module, count, answer = GOLD[name]
    data = rows(name)
    assert len(data) == count
    if name == "mbpp-plus":  # its inputs take as long as all the other tests of this folder together
        data = chosen(data, 60)
    scores = with_sandbox(lambda s: _scores(s, module, [(row, answer(row)) for row in data]))
    wrong = {
        row["task_id"]: score for row, score in zip(data, scores, strict=True) if getattr(score, "value", 0) != 1.0
    }
    assert wrong == {}


@pytest.mark.parametrize("name", ["humaneval", "mbpp"])
def test_a_function_that_does_nothing_never_passes(name: str) -> None:
    module, _, _ = GOLD[name]
    data = rows(name)
    empty = "    return None\n" if name == "humaneval" else "```python\ndef {}(*args, **kwargs):\n    return None\n```"
    names = [row.get("entry_point") or mbpp.tested_names(row["code"], row["test_list"])[-1] for row in data]
    given = [(row, empty.format(entry)) for row, entry in zip(data, names, strict=True)]
    scores = with_sandbox(lambda s: _scores(s, module, given))
    passed = [row["task_id"] for row, score in zip(data, scores, strict=True) if getattr(score, "value", 0) != 0.0]
    assert passed == []


def _mutants(count: int) -> list[tuple[str, list[str], Check]]:
    rng = random.Random(20_240_601)
    functions, asserts = rows("humaneval"), rows("mbpp")
    found: list[tuple[str, list[str], Check]] = []
    while len(found) < count:
        if rng.random() < 0.4:
            row = rng.choice(functions)
            whole = row["prompt"] + row["canonical_solution"]
            mutant = mutate(whole, rng, row["prompt"].count("\n"))
            tests = [row["test"], f"check({row['entry_point']})"]
            check = humaneval_check(mutant or "", row["prompt"], row["test"], row["entry_point"])
        else:
            row = rng.choice(asserts)
            whole = row["code"]
            mutant = mutate(whole, rng)
            tests = ["\n".join(row["test_imports"]), *row["test_list"]]
            check = mbpp_check(mutant or "", whole, row["test_list"], row["test_imports"])
        if mutant is not None and mutant != whole:
            found.append((mutant, tests, check))
    return found


async def _compare(sandbox: SandboxPool, mutants: list[tuple[str, list[str], Check]]) -> list[tuple[bool, bool]]:
    gate = asyncio.Semaphore(sandbox.parallel)
    limits = SandboxLimits(wall_seconds=40, cpu_seconds=CPU_SECONDS, memory_bytes=512 * MIB)

    async def both(program: str, tests: list[str], check: Check) -> tuple[bool, bool]:
        async with gate:
            plain = await asyncio.to_thread(plainly_passes, program, tests)
        return plain, (await sandbox.check(check, limits)).passed

    return await asyncio.gather(*(both(*mutant) for mutant in mutants))


def test_mutants_are_judged_as_plain_cpython_judges_them() -> None:
    mutants = chosen(_mutants(1_000), 200)
    verdicts = with_sandbox(lambda s: _compare(s, mutants))
    different = [mutants[index][0] for index, (plain, ours) in enumerate(verdicts) if plain != ours]
    assert different == []
    assert 0.01 < sum(plain for plain, _ in verdicts) / len(verdicts) < 0.99, "the mutants must tell right from wrong"
