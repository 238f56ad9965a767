# ruff: noqa: E501
# Programs as they are handed over: a line of theirs is as long as it is.
"""Wrong answers that try to leave the score: whatever they do, they count as wrong."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from proctor.domain.errors import SandboxError
from proctor.domain.response import Response
from proctor.domain.sample import Sample
from proctor.domain.sandbox import Check, Ending, Program, SandboxLimits, SandboxResult, Verdict
from proctor.domain.score import Score
from proctor.engine.scoring import score_answer
from proctor.sandboxes.pool import SandboxPool
from proctor.scorers.code import humaneval, mbpp, stdio, tests
from scorers_code.conftest import rows, with_sandbox

pytestmark = pytest.mark.timeout(300)
FILE = "from solution import f\ndef test_one(): assert f(1) == 2\n"


def scored(scorer: Any, text: str, metadata: dict[str, Any]) -> Score:
    async def score(sandbox: SandboxPool) -> Score:
        given = scorer.with_sandbox(sandbox)
        return await score_answer(given, Sample("s", "", metadata=metadata), Response(f"```python\n{text}\n```"))

    found: Score = with_sandbox(score)
    return found


def test_wrong_answers_to_humaneval_count_whatever_they_return() -> None:
    samples = [Sample(str(row["task_id"]), "", metadata=row) for row in rows("humaneval")[:40]]

    async def score_all(sandbox: SandboxPool) -> list[float | None]:
        scorer = humaneval.create().with_sandbox(sandbox)

        async def one(number: int, sample: Sample) -> float | None:
            row = sample.metadata
            wrong = f"def {row['entry_point']}(*args, **kwargs):\n    return 10 ** 5000\n"
            text = f"{row['prompt']}{row['canonical_solution']}" if number % 2 else wrong
            return (await score_answer(scorer, sample, Response(f"```python\n{text}\n```"))).value

        return await asyncio.gather(*(one(number, sample) for number, sample in enumerate(samples)))

    assert with_sandbox(score_all) == [0.0, 1.0] * 20


@pytest.mark.parametrize(
    ("code", "metadata"),
    [
        pytest.param("def g(x): return 2", {"tests": FILE}, id="no f to import"),
        pytest.param("f = None", {"tests": FILE}, id="f is nothing"),
        pytest.param(
            "VALUES = []",
            {
                "tests": "import pytest\nfrom solution import VALUES\n@pytest.mark.parametrize('value', VALUES)\ndef test_one(value): assert value\n"
            },
            id="nothing to parametrise over",
        ),
        pytest.param(
            "VALUES = []\ndef f(x): return 2",
            {
                "tests": f"{FILE}import pytest\nfrom solution import VALUES\n@pytest.mark.parametrize('value', VALUES)\ndef test_two(value): assert value > 3\n"
            },
            id="nothing to parametrise one of two tests over",
        ),
        pytest.param(
            "def f(x): raise ValueError",
            {
                "tests": "import unittest\nfrom solution import f\nclass TestF(unittest.TestCase):\n    @classmethod\n    def setUpClass(cls): cls.value = f(1)\n    def test_one(self): pass\n"
            },
            id="setUpClass fails in the answer",
        ),
        pytest.param(
            "def f(x): return 3",
            {
                "tests": "import unittest\nfrom solution import f\nclass TestF(unittest.TestCase):\n    @classmethod\n    def setUpClass(cls): cls.value = f(1).value\n    def test_one(self): pass\n"
            },
            id="setUpClass fails on the answer",
        ),
        pytest.param(
            "def f(x): raise ValueError",
            {"test_setup": "from solution import f\nready = f(1)", "tests": "def test_one(): assert ready == 2\n"},
            id="the test_setup fails in the answer",
        ),
        pytest.param(
            "def f(x): return 3",
            {"test_setup": "from solution import f\nassert f(1) == 2", "tests": "def test_one(): assert f(1) == 2\n"},
            id="the test_setup fails on the answer",
        ),
        pytest.param(
            "def g(x): return 2",
            {"test_setup": "from solution import f\n", "tests": "def test_one(): assert f(1) == 2\n"},
            id="the test_setup imports what is not there",
        ),
        pytest.param(
            "import re\ndef f(x): return 'a'\ndef g(x): return True",
            {
                "tests": "import re\nfrom solution import f, g\ndef test_one():\n    assert not g(re.match('a', f(1))) and f(1) == 2\n"
            },
            id="an answer that makes the tests pass on what cannot cross",
        ),
    ],
)
def test_ordinary_wrong_answers_to_test_files_count(code: str, metadata: dict[str, Any]) -> None:
    score = scored(tests.create(kind="files"), code, metadata)
    assert score.value == 0.0
    assert score.reason


@pytest.mark.parametrize(
    "metadata",
    [{"tests": "def test_one(: pass"}, {"tests": FILE, "test_setup": "import nothing_like_it"}, {"tests": "x = 1"}],
    ids=["no Python", "a set-up that fails for all", "no test"],
)
def test_tests_that_break_for_every_answer_are_a_fault(metadata: dict[str, Any]) -> None:
    assert scored(tests.create(kind="files"), "def f(x): return 2", metadata).value is None


def test_a_test_file_that_would_be_taken_for_asserts_is_refused_before_anything_is_asked() -> None:
    def obstacle(source: str, **options: Any) -> str | None:
        return tests.create(**options).obstacle(Sample("s", "", metadata={"tests": source}))

    unit = "import unittest\nclass TestF(unittest.TestCase):\n    def test_one(self): assert f(1) == 2\n"
    unit += "if __name__ == '__main__':\n    unittest.main()\n"
    for source in (FILE, unit):
        assert "say 'kind: files'" in (obstacle(source) or "")
        assert obstacle(source, kind="files") is None
    assert obstacle("def check(f): assert f(1) == 2\ncheck(f)") is None


def test_a_program_that_ends_its_supervisor_has_failed() -> None:
    cases = {"tests": [{"input": "", "output": "42"}]}
    for attack in ("os.kill(1, 2)", "os.kill(os.getppid(), 9)", "os.kill(os.getppid(), 2)"):
        score = scored(stdio.create(), f"import os, time\n{attack}\ntime.sleep(0.3)\nprint(1)", cases)
        assert score.value == 0.0, attack


class _FailingFor:
    """A sandbox that breaks on texts with these words in it, for ever or the first few times."""

    name, is_isolated = "failing", True

    def __init__(self, words: str, times: int = 1_000) -> None:
        self.words, self.left = words, times

    async def check(self, check: Check, limits: SandboxLimits = SandboxLimits()) -> Verdict:  # noqa: B008
        if self.words in check.submission and self.left:
            self.left -= 1
            raise SandboxError("a warm parent died during the run")
        return Verdict(passed="return 2" in check.submission, ending=Ending.EXITED, message="wrong")

    async def run(self, program: Program, limits: SandboxLimits = SandboxLimits()) -> SandboxResult:  # noqa: B008
        raise AssertionError

    async def close(self) -> None: ...


ROW = {"code": "def f(x): return 2", "test_list": ["assert f(1) == 2"], "test_imports": []}


def test_an_answer_that_breaks_the_sandbox_where_the_gold_passes_is_invalid() -> None:
    def score(words: str, times: int) -> Score:
        scorer = mbpp.create().with_sandbox(_FailingFor(words, times))
        text = "```python\ndef f(x): return 'attack'\n```"
        return asyncio.run(score_answer(scorer, Sample("s", "", metadata=ROW), Response(text)))

    broken = score("attack", 1_000)
    assert (broken.value, broken.is_invalid) == (0.0, True)
    assert "the reference solution can" in broken.reason
    assert score("attack", 1).value == 0.0
    assert not score("attack", 1).is_invalid
    assert score("def", 1_000).value is None
