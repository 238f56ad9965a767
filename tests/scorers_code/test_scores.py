"""What a score of run code says: passed or not, why, with which evidence, in which sandbox."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from proctor.domain.errors import BenchmarkError, SandboxError, ScorerError
from proctor.domain.response import Response
from proctor.domain.sample import Sample
from proctor.domain.sandbox import Check, Program, SandboxLimits, SandboxResult, Verdict
from proctor.domain.score import Score
from proctor.scorers.code import evalplus, humaneval, mbpp, tests
from scorers_code.conftest import with_sandbox

PROMPT = 'def helper(x):\n    return x + 1\n\n\ndef add(x):\n    """ Add one. """\n'
TEST = "def check(candidate):\n    assert candidate(1) == helper(1)\n    assert candidate(2) == 3\n"
ROW = {"prompt": PROMPT, "entry_point": "add", "test": TEST}


def scored(scorer: Any, text: str, metadata: dict[str, Any]) -> Score:
    sample = Sample("s", "", metadata=metadata)
    score: Score = with_sandbox(lambda s: scorer.with_sandbox(s).score(sample, Response(text)))
    return score


def test_a_right_answer_scores_with_its_sandbox_recorded() -> None:
    score = scored(humaneval.create(), "    return helper(x)\n", ROW)
    assert score.value == 1.0
    assert score.details["sandbox"]["backend"] == "namespaces"
    assert score.details["sandbox"]["is_isolated"] is True
    assert score.details["extraction"] == "continuation"


def test_a_wrong_answer_says_which_assertion_failed_with_what() -> None:
    score = scored(humaneval.create(), "    return 2\n", ROW)
    assert score.value == 0.0
    assert "assert candidate(2) == 3" in score.reason
    assert "(2) -> 2" in score.reason
    assert score.details["not_passed"][0]["status"] == "failed"


def test_a_submission_cannot_bring_its_own_helper() -> None:
    forged = "```python\ndef helper(x): return 0\ndef add(x): return 0 if x == 1 else 3\n```"
    assert scored(humaneval.create(), forged, ROW).value == 0.0


def test_an_ending_by_a_limit_is_named() -> None:
    score = scored(humaneval.create(timeout_seconds=0.5), "    while True: pass\n", ROW)
    assert score.value == 0.0
    assert score.reason.startswith(("cpu", "timeout"))


def test_an_answer_without_code_is_invalid_and_counts_as_zero() -> None:
    score = scored(humaneval.create(), "I would rather not.", ROW)
    assert score.is_invalid
    assert score.value == 0.0
    binary = scored(humaneval.create(), "```python\ndef add(x): return '\x01'\n```", ROW)
    assert binary.is_invalid
    assert "binary" in binary.reason


def test_every_assert_of_mbpp_is_reported() -> None:
    row = {
        "code": "def sum(a, b): return a + b",
        "test_list": ["assert sum(1, 2) == 3", "assert sum(2, 2) == 5"],
        "test_imports": [],
    }
    score = scored(mbpp.create(), "```python\ndef sum(a, b): return a + b\n```", row)
    assert (score.details["tests"], score.details["tests_passed"]) == (2, 1)
    assert score.details["not_passed"][0]["test"] == "assert 2"


def test_a_built_in_the_reference_does_not_define_cannot_be_replaced() -> None:
    row = {
        "code": "def pick(a): return set(a)",
        "test_list": ["assert set(pick([1, 2])) == set([1, 2])"],
        "test_imports": [],
    }
    forged = "```python\ndef set(a): return 0\ndef pick(a): return [7]\n```"
    assert scored(mbpp.create(), forged, row).value == 0.0


def test_test_files_are_run_one_test_at_a_time() -> None:
    text = (
        "from solution import double\ndef test_two(): assert double(2) == 4\ndef test_three(): assert double(3) == 7\n"
    )
    score = scored(tests.create(kind="files"), "```python\ndef double(x): return 2 * x\n```", {"tests": text})
    assert score.value == 0.0
    assert [entry["test"] for entry in score.details["not_passed"]] == ["test_three"]
    live = scored(
        tests.create(live_objects=True, entry_point="V"),
        "```python\nclass V:\n    def __init__(self, x): self.x = x\n    def __add__(self, o): return V(self.x + o)\n",
        {"tests": ["assert (V(1) + 2).x == 3"]},
    )
    assert live.value == 1.0
    assert live.details["is_forgeable"] is True


def test_the_plus_inputs_decide() -> None:
    row = {
        "task_id": "Mbpp/0",
        "prompt": "",
        "canonical_solution": "def half(x): return x / 2\n",
        "entry_point": "half",
        "base_input": [[2]],
        "plus_input": [[3]],
        "atol": 0,
    }
    close = "```python\ndef half(x): return x * 0.5 + 1e-9\n```"
    assert scored(evalplus.create(), close, row).value == 1.0
    whole = "```python\ndef half(x): return float(x // 2)\n```"
    assert scored(evalplus.create(), whole, row).reason.startswith("plus input 2")
    assert scored(evalplus.create(base_only=True), whole, row).value == 1.0


class Broken:
    """A sandbox that has failed."""

    name = "broken"
    is_isolated = True

    async def run(self, program: Program, limits: SandboxLimits = SandboxLimits()) -> SandboxResult:  # noqa: B008
        raise SandboxError("it is broken")

    async def check(self, check: Check, limits: SandboxLimits = SandboxLimits()) -> Verdict:  # noqa: B008
        raise SandboxError("it is broken")

    async def close(self) -> None: ...


def test_a_lost_sandbox_is_not_a_wrong_answer() -> None:
    sample, answer = Sample("s", "", metadata=ROW), Response("    return helper(x)\n")
    with pytest.raises(ScorerError, match="it is broken"):
        asyncio.run(humaneval.create().with_sandbox(Broken()).score(sample, answer))
    with pytest.raises(ScorerError, match="no sandbox"):
        asyncio.run(humaneval.create().score(sample, answer))


def test_missing_fields_are_a_fault_of_the_benchmark() -> None:
    for scorer in (humaneval, mbpp, evalplus, tests):
        with pytest.raises(ScorerError):
            asyncio.run(scorer.create().with_sandbox(Broken()).score(Sample("s", ""), Response("x = 1")))


def test_options_change_the_version_and_unknown_ones_are_refused() -> None:
    assert humaneval.create().version != humaneval.create(timeout_seconds=1).version
    with pytest.raises(BenchmarkError):
        humaneval.create(timeout=3)
    assert humaneval.create().needs_sandbox
