"""HumanEval+ and MBPP+: the reference solution's answers on many inputs, compared as evalplus compares them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from hashlib import blake2b
from pathlib import Path
from typing import Any

from msgspec import structs

from proctor.domain.errors import SandboxError, ScorerError
from proctor.domain.message import Json
from proctor.domain.response import Response
from proctor.domain.sample import Sample
from proctor.domain.sandbox import Case, Check, Program, SandboxLimits
from proctor.domain.score import Score
from proctor.domain.scorer import traits
from proctor.scorers.code.evalplus_inputs import mbpp_inputs
from proctor.scorers.code.extraction import extract_function
from proctor.scorers.code.judged import Sandboxed, doing_nothing, fenced, judged
from proctor.scorers.options import build, version_of

NAME = "evalplus"
REVISION = "2"
_NEEDED = ("task_id", "prompt", "canonical_solution", "entry_point", "base_input", "plus_input")
_FACTOR = 4
_REFERENCE_LIMITS = SandboxLimits(wall_seconds=900, cpu_seconds=300, memory_bytes=4 << 30, output_bytes=32 << 20)


@traits(has_votes=False)
def create(**options: Json) -> EvalPlus:
    return build(EvalPlus, NAME, options)


@cache
def _comparison_source() -> str:
    return Path(__file__).with_name("evalplus_judge.py").read_text(encoding="utf-8")


@dataclass(frozen=True, slots=True)
class Reference:
    """The reference solution's answers, as Python text where they can be written so, and the time it took for all."""

    answers: tuple[str, ...] | None
    seconds: float


def inputs_of(row: Mapping[str, Any], *, is_base_only: bool = False) -> list[Any]:
    extra = [] if is_base_only else _read(row["plus_input"]) or []  # some rows say {} for none
    inputs = [*_read(row["base_input"]), *extra]
    return mbpp_inputs(row["task_id"], inputs) if _is_mbpp(row) else inputs


def _read(inputs: Any) -> Any:
    """Inputs may be kept as the text of Python's JSON, which has whole numbers of any length, NaN and infinity."""
    return json.loads(inputs) if isinstance(inputs, str) else inputs


def _is_mbpp(row: Mapping[str, Any]) -> bool:
    return str(row["task_id"]).lower().startswith("mbpp")


def reference_program(row: Mapping[str, Any], *, is_base_only: bool = False) -> Program:
    """Prints the reference solution's answers."""
    lines = (
        _comparison_source(),
        "import json, sys, time",
        "inf, nan = math.inf, math.nan",
        _gold_source(row),
        "start = time.process_time()",
        f"found = answers(_proctor_gold, {row['entry_point']!r}, {inputs_of(row, is_base_only=is_base_only)!r})",
        "json.dump([found, time.process_time() - start], sys.__stdout__)",
    )
    return Program("\n".join(lines))


def evalplus_check(code: str, row: Mapping[str, Any], reference: Reference, *, is_base_only: bool = False) -> Check:
    """One test per input; expected answers exist on the judge's side alone."""
    inputs = inputs_of(row, is_base_only=is_base_only)
    entry_point, count = row["entry_point"], len(_read(row["base_input"]))
    setting = f"{entry_point!r}, _proctor_candidate, {row.get('atol') or 0!r}, {_is_mbpp(row)!r}"
    prelude = f"{_comparison_source()}\n\ninf, nan = math.inf, math.nan\n"
    if reference.answers is None:
        prelude += _gold_source(row)
        calls = [f"_proctor_comparison.run_with_gold({given!r}, _proctor_gold)" for given in inputs]
    else:
        calls = [
            f"_proctor_comparison.run({given!r}, {text})" for given, text in zip(inputs, reference.answers, strict=True)
        ]
    return Check(
        submission=code,
        prelude=prelude,
        cases=(
            Case("load", f"_proctor_comparison = OutputComparison({setting})"),
            *(
                Case(f"{'base' if number < count else 'plus'} input {number + 1}", call)
                for number, call in enumerate(calls)
            ),
        ),
        remote={"_proctor_candidate": entry_point},
        is_closed=True,
        is_fail_fast=True,
    )


def _gold_source(row: Mapping[str, Any]) -> str:
    """The reference solution in a namespace of its own, so that its names meet no others."""
    gold, entry_point = row["prompt"] + row["canonical_solution"], row["entry_point"]
    run = f"_proctor_space = {{'__name__': 'gold'}}\nexec({gold!r}, _proctor_space)\n"
    return f"{run}_proctor_gold = _proctor_space[{entry_point!r}]\n"


@dataclass(frozen=True, kw_only=True)
class EvalPlus(Sandboxed):
    """1 when every base and plus input gives the reference's answer; needs evalplus' own fields in the metadata."""

    timeout_seconds: float = 10.0
    """Or four times what the reference solution took, where that is more: evalplus' own rule."""
    memory_mb: int = 2048
    base_only: bool = False
    """Judge by the original inputs alone."""
    _references: dict[str, asyncio.Task[Reference]] = field(default_factory=dict, init=False, compare=False, repr=False)

    @property
    def name(self) -> str:
        return NAME

    @property
    def version(self) -> str:
        return version_of(self, REVISION)

    def golds(self, sample: Sample) -> tuple[str, str] | None:
        row = sample.metadata
        if any(name not in row for name in _NEEDED):
            return None
        return fenced(f"{row['prompt']}{row['canonical_solution']}"), doing_nothing(str(row["entry_point"]))

    def for_golds(self) -> EvalPlus:
        """By the original inputs: some references take seconds for all of them."""
        return replace(self, base_only=True)

    def obstacle(self, sample: Sample) -> str | None:
        missing = [name for name in _NEEDED if name not in sample.metadata]
        return f"its metadata has no {', '.join(missing)}" if missing else None

    async def score(self, sample: Sample, response: Response) -> Score:
        row = sample.metadata
        missing = [name for name in _NEEDED if name not in row]
        if missing:
            raise ScorerError(
                f"The sample {sample.id} lacks {', '.join(missing)}, which the scorer needs in its metadata."
            )
        prompt = row["prompt"] if "def " in row["prompt"] else ""
        found = extract_function(response.text, row["entry_point"], prompt)
        reference = await self._reference(sample)
        check = evalplus_check(found.code, row, reference, is_base_only=self.base_only)
        seconds = max(self.timeout_seconds, _FACTOR * reference.seconds)
        limits = structs.replace(
            self.limits, cpu_seconds=seconds, wall_seconds=3 * seconds + _FACTOR * reference.seconds
        )
        return await judged(self, NAME, check, found, limits)

    async def _reference(self, sample: Sample) -> Reference:
        """The reference's answers, computed once however many answers wait for them."""
        # Not the content hash of other places: inputs hold numbers that JSON writers refuse.
        key = blake2b(repr([sample.metadata[name] for name in _NEEDED]).encode()).hexdigest()
        task = self._references.get(key)
        if task is None:
            task = self._references[key] = asyncio.create_task(self._run_reference(sample))
            task.add_done_callback(
                lambda done: self._references.pop(key, None) if done.cancelled() or done.exception() else None
            )
        return await asyncio.shield(task)

    async def _run_reference(self, sample: Sample) -> Reference:
        program = reference_program(sample.metadata, is_base_only=self.base_only)
        try:
            done = await self._given_sandbox().run(program, _REFERENCE_LIMITS)
        except SandboxError as error:
            raise ScorerError(str(error)) from error
        if not done.succeeded:
            text = done.stderr.decode(errors="replace")[-500:]
            raise ScorerError(f"The reference solution of {sample.id} does not run here ({done.ending}): {text}")
        answers, seconds = json.loads(done.stdout)
        return Reference(None if answers is None else tuple(answers), seconds)
