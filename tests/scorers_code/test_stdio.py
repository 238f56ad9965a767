"""Programs that read and print, the shapes their tests come in, and the ways to compare."""

from __future__ import annotations

import base64
import json
import zlib
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proctor.domain.errors import BenchmarkError, ScorerError
from proctor.domain.response import Response
from proctor.domain.sample import Sample
from proctor.domain.score import Score
from proctor.scorers.code import stdio
from proctor.scorers.code.checkers import CHECKERS, floats
from proctor.scorers.code.stdio import io_tests
from scorers_code.conftest import with_sandbox

TESTS = [{"input": "2\n", "output": "4\n"}, {"input": "5\n", "output": "10\n"}, {"input": "-1\n", "output": "-2\n"}]
RIGHT = "```python\nprint(int(input()) * 2)\n```"


def scored(text: str, metadata: dict[str, Any], **options: Any) -> Score:
    scorer = stdio.create(**options)
    score: Score = with_sandbox(
        lambda s: scorer.with_sandbox(s).score(Sample("x", "", metadata=metadata), Response(text))
    )
    return score


def test_a_right_program_scores_and_a_wrong_one_shows_what_it_printed() -> None:
    assert scored(RIGHT, {"tests": TESTS}).value == 1.0
    wrong = scored("```python\nn = int(input())\nprint(n * 2 if n < 5 else 11)\n```", {"tests": TESTS})
    assert wrong.value == 0.0
    assert wrong.reason == "input 2: printed something else"
    assert wrong.details["not_passed"][0]["stdout"] == "11\n"
    assert wrong.details["not_passed"][0]["expected"] == "10\n"
    assert wrong.details["tests_run"] == 2


def test_partial_marks_run_every_input() -> None:
    score = scored("```python\nn = int(input())\nprint(n * 2 if n < 5 else 11)\n```", {"tests": TESTS}, partial=True)
    assert score.value == pytest.approx(2 / 3)
    assert score.details["tests_run"] == 3


def test_how_a_program_failed_is_said() -> None:
    assert scored("```python\nraise ValueError('no')\n```", {"tests": TESTS}).reason == "input 1: exit code 1"
    slow = scored("```python\nwhile True: pass\n```", {"tests": TESTS[:1]}, timeout_seconds=0.5)
    assert slow.reason in ("input 1: cpu", "input 1: timeout")
    assert scored("I do not know.", {"tests": TESTS}).is_invalid


def test_expected_output_cannot_be_found_in_the_sandbox() -> None:
    spy = """```python
import glob
text = ""
for path in glob.glob("/tmp/**", recursive=True) + glob.glob("/proc/*/environ") + glob.glob("/proc/*/cmdline"):
    try: text += open(path, errors="replace").read()
    except OSError: pass
print("SECRETEXPECTED" if "SECRETEXPECTED" in text else "nothing")
```"""
    assert scored(spy, {"tests": [{"input": "", "output": "SECRET" + "EXPECTED"}]}).value == 0.0


def test_the_usual_shapes_of_tests_are_read() -> None:
    pairs = {"inputs": ["1\n", ["2", "3"]], "outputs": ["2\n", ["4"]]}
    assert [test.stdin for test in io_tests({"input_output": json.dumps(pairs)})] == ["1\n", "2\n3"]
    packed = base64.b64encode(zlib.compress(json.dumps(TESTS).encode())).decode()
    both = io_tests({"public_test_cases": json.dumps(TESTS[:1]), "private_test_cases": packed})
    assert len(both) == 4
    assert both[0].expected == "4\n"


def test_tests_that_cannot_be_read_are_a_fault() -> None:
    for metadata in ({}, {"private_test_cases": "!!"}, {"input_output": '{"inputs": [1], "outputs": []}'}):
        with pytest.raises(ScorerError):
            scored(RIGHT, metadata)


def test_a_bomb_of_tests_is_refused() -> None:
    bomb = base64.b64encode(zlib.compress(b" " * (65 << 20), 9)).decode()
    with pytest.raises(ScorerError, match="bytes of tests"):
        scored(RIGHT, {"private_test_cases": bomb})


def test_options_are_checked() -> None:
    with pytest.raises(BenchmarkError):
        stdio.create(checker="close")


@pytest.mark.parametrize(
    ("checker", "printed", "expected", "is_right"),
    [
        ("exact", "1\n", "1\n", True),
        ("exact", "1", "1\n", False),
        ("lines", "1  \n2\n\n", "1\n2", True),
        ("lines", "1 2", "1\n2", False),
        ("lines", " 1", "1", False),
        ("tokens", "1 2", "1\n2", True),
        ("tokens", "12", "1 2", False),
        ("case_insensitive", "yes", "YES", True),
        ("floats", "0.3333333", "0.33333334", True),
        ("floats", "0.34", "0.33", False),
        ("floats", "nan", "1", False),
        ("floats", "1 2", "1", False),
        ("floats", "1e9", "1000000000.5", True),
        ("floats", "abc", "abc", True),
        ("unordered_lines", "b\na\n", "a\nb", True),
        ("unordered_lines", "a\na", "a\nb", False),
        ("unordered_tokens", "3 1 2", "1 2 3", True),
    ],
)
def test_checkers(checker: str, printed: str, expected: str, is_right: bool) -> None:
    assert CHECKERS[checker](printed, expected) is is_right


@settings(deadline=None)
@given(st.text(), st.text())
def test_a_stricter_checker_never_accepts_what_a_looser_one_refuses(printed: str, expected: str) -> None:
    order = [CHECKERS[name](printed, expected) for name in ("exact", "tokens", "unordered_tokens")]
    assert order == sorted(order)
    assert floats(expected, expected)
