# ruff: noqa: E501
# Programs as they are handed over: a line of theirs is as long as it is.
"""What the tests hold an answer against is never taken from the answer."""

from __future__ import annotations

from typing import Any

import pytest

from proctor.domain.response import Response
from proctor.domain.sample import Sample
from proctor.domain.score import Score
from proctor.scorers.code import humaneval, mbpp, tests
from scorers_code.conftest import rows, with_sandbox

pytestmark = pytest.mark.timeout(300)


def scored(scorer: Any, text: str, metadata: dict[str, Any]) -> Score:
    sample = Sample("s", "", metadata=metadata)
    score: Score = with_sandbox(
        lambda sandbox: scorer.with_sandbox(sandbox).score(sample, Response(f"```python\n{text}\n```"))
    )
    return score


def test_the_module_that_an_assert_of_mbpp_asks_is_pythons() -> None:
    row = next(row for row in rows("mbpp") if row["task_id"] == 596)
    forged = "class sys:\n    getsizeof = staticmethod(lambda value: 0)\ndef tuple_size(value): return 0\n"
    assert scored(mbpp.create(), forged, row).value == 0.0
    assert scored(mbpp.create(), row["code"], row).value == 1.0
    assert scored(mbpp.create(), "def tuple_size(value): return value.__sizeof__() + 16", row).value == 1.0


@pytest.mark.parametrize("name", ["math", "statistics"])
def test_a_module_that_the_tests_do_not_import_is_pythons(name: str) -> None:
    metadata = {"tests": [f"assert f([2, 8]) == {name}.{'dist((0,), (5,))' if name == 'math' else 'mean([2, 8])'}"]}
    forged = f"class {name}:\n    dist = mean = staticmethod(lambda *args: 0)\ndef f(x): return 0\n"
    assert scored(tests.create(), forged, metadata).value == 0.0
    assert scored(tests.create(), "def f(x): return sum(x) / 2", metadata).value == 1.0


def test_a_tested_function_may_have_the_name_of_a_module() -> None:
    right = "def calendar(x): return x + 1"
    assert scored(tests.create(), right, {"tests": ["assert calendar(1) == 2"]}).value == 1.0
    dotted = {"tests": ["assert statistics.best(1) == 2"], "entry_point": "statistics"}
    assert scored(tests.create(), "class statistics:\n    best = staticmethod(lambda x: x + 1)", dotted).value == 1.0


def test_a_star_replaces_no_name_of_the_tests_and_none_of_pythons() -> None:
    file = "import math\nfrom solution import *\ndef near(a, b): return math.isclose(a, b)\ndef test_one():\n    assert len(f(1)) == 2 and near(math.fsum(f(1)), 3.0)\n"
    forged = (
        "class math:\n    isclose = fsum = staticmethod(lambda *args: True)\nlen = lambda x: 2\ndef f(x): return []\n"
    )
    assert scored(tests.create(kind="files"), forged, {"tests": file}).value == 0.0
    assert scored(tests.create(kind="files"), "def f(x): return [1.0, 2.0]", {"tests": file}).value == 1.0
    builtin = {"tests": "from solution import *\ndef test_one(): assert sum(1) == 2\n", "entry_point": "sum"}
    assert scored(tests.create(kind="files"), "def sum(x): return x + 1", builtin).value == 1.0


def test_an_object_does_not_answer_what_a_text_or_number_is_asked() -> None:
    forged = "class Yes:\n    def __getattr__(self, name): return lambda *args: True\ndef f(x): return Yes()\n"
    for asked in ("startswith('a')", "endswith('a')", "isupper()", "is_integer()", "issubset({1})"):
        assert scored(tests.create(), forged, {"tests": [f"assert f(1).{asked}"]}).value == 0.0, asked
    assert scored(tests.create(), "def f(x): return 'abc'", {"tests": ["assert f(1).startswith('a')"]}).value == 1.0
    live = scored(tests.create(live_objects=True), forged, {"tests": ["assert f(1).startswith('a')"]})
    assert (live.value, live.details["is_forgeable"]) == (1.0, True)


def test_a_loop_that_an_answer_ends_is_no_proof() -> None:
    metadata = {
        "prompt": "def f(x):\n    ...\n",
        "entry_point": "f",
        "test": "def check(candidate):\n    assert all(map(lambda x: candidate(x) == x + 1, range(9)))\n    assert list(map(candidate, [])) == []\n",
    }
    assert scored(humaneval.create(), "def f(x): raise StopIteration", metadata).value == 0.0
    assert scored(humaneval.create(), "def f(x): return x + 1", metadata).value == 1.0


def test_iterators_of_an_answer_still_end() -> None:
    metadata = {
        "tests": ["assert list(f(3)) == [0, 1, 2]", "it = f(1)\nnext(it)\nassert next(it, 'end') == 'end'"],
    }
    assert scored(tests.create(), "def f(x): yield from range(x)", metadata).value == 1.0
