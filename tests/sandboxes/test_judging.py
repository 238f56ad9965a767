"""Judge and judged, each in a thread of this process: the code of two sandboxes, over the same kind of socket."""

from __future__ import annotations

import json
import socket
import struct
import sys
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from proctor.sandboxes.inside import candidate, judge
from proctor.sandboxes.inside.frames import Channel, ChannelClosedError, FrameTooLargeError

MODULE = "judged_in_this_process"


@pytest.fixture(autouse=True)
def _modules() -> Iterator[None]:
    """Both sides put modules where imports find them; here that is one place, and it is ours."""
    before = {name: sys.modules.get(name) for name in (MODULE, "pytest")}
    yield
    for name, module in before.items():
        if module is None:
            sys.modules.pop(name, None)
        else:
            sys.modules[name] = module


def judged(submission: str, *cases: str, **changes: Any) -> tuple[int, list[dict[str, Any]]]:
    """The judge's exit code and reports."""
    ours, theirs = socket.socketpair()
    read, write = socket.socketpair()
    payload = {
        "cases": [{"name": f"case {number}", "source": source} for number, source in enumerate(cases)],
        "prelude": "",
        "remote": {},
        "module": MODULE,
        "is_fail_fast": False,
        "is_live": False,
        "is_closed": False,
        "collect": False,
        **changes,
    }
    with ours, theirs, read, write:
        answering = threading.Thread(
            target=candidate.main, args=(Channel(theirs.fileno()), {"module": MODULE, "submission": submission})
        )
        answering.start()
        try:
            code = judge.main(Channel(write.fileno()), Channel(ours.fileno()), payload)
        finally:
            ours.shutdown(socket.SHUT_RDWR)
            answering.join()
        write.close()
        data = b"".join(iter(lambda: read.recv(1 << 16), b""))
    reports = []
    while data:
        (length,) = struct.unpack_from(">I", data)
        reports.append(json.loads(data[4 : 4 + length]))
        data = data[4 + length :]
    assert reports[0] == {"ready": True}
    return code, reports[1:]


def statuses(reports: list[dict[str, Any]]) -> dict[str, str]:
    return {report["case"]: report["status"] for report in reports if "case" in report}


def test_a_function_of_python_itself_is_a_submission_like_any_other() -> None:
    _, reports = judged("from math import floor as f", "assert f(2.5) == 2", "assert f(2.5) == 3")
    assert statuses(reports) == {"case 0": "passed", "case 1": "failed"}


def test_a_right_answer_is_the_judges_last_word_and_its_exit() -> None:
    code, reports = judged("def f(x): return x + 1", "assert f(1) == 2", "assert f(2) == 3")
    assert code == 0
    assert reports[-1] == {"done": True}
    assert statuses(reports) == {"case 0": "passed", "case 1": "passed"}


def test_a_wrong_answer_is_told_with_the_call_that_showed_it() -> None:
    code, reports = judged("def f(x): return x", "assert f(1) == 2", "assert f(2, y=3)", is_fail_fast=False)
    assert code == 1
    assert statuses(reports) == {"case 0": "failed", "case 1": "error"}
    assert "assert f(1) == 2" in reports[0]["message"]
    assert "(1) -> 1" in reports[0]["message"]
    assert "TypeError" in reports[1]["message"]


def test_the_first_failure_ends_a_check_that_asks_for_it() -> None:
    _, reports = judged("def f(x): return x", "assert f(1) == 2", "assert f(2) == 2", is_fail_fast=True)
    assert statuses(reports) == {"case 0": "failed"}


def test_names_come_from_the_prelude_first_and_from_the_submission_where_the_check_says_so() -> None:
    _, reports = judged(
        "def helper(x): return 0\ndef sum(x): return 7\nvalue = 5",
        "assert helper(1) == 1\nassert candidate([1]) == 7\nassert value == 5",
        prelude="def helper(x): return x",
        remote={"candidate": "sum"},
    )
    assert statuses(reports) == {"case 0": "passed"}


OBJECTS = """
class EmptyError(ValueError): pass
class Stack:
    kind = "stack"
    def __init__(self, *items): self.items = list(items)
    def push(self, x): self.items.append(x); return self
    def pop(self):
        if not self.items: raise EmptyError("empty", 3)
        return self.items.pop()
    def __len__(self): return len(self.items)
    def __getitem__(self, i): return self.items[i]
    def __setitem__(self, i, v): self.items[i] = v
    def __delitem__(self, i): del self.items[i]
    def __contains__(self, x): return x in self.items
    def __iter__(self): return iter(self.items)
    def __eq__(self, o): return isinstance(o, Stack) and self.items == o.items
    def __hash__(self): return 1
    def __lt__(self, o): return len(self.items) < len(o.items)
    def __add__(self, o): return Stack(*self.items, *o.items) if isinstance(o, Stack) else Stack(*self.items, o)
    def __radd__(self, o): return Stack(o, *self.items)
    def __neg__(self): return Stack(*reversed(self.items))
    def __bool__(self): return bool(self.items)
    def __str__(self): return "Stack!"
    def __enter__(self): return self
    def __exit__(self, *a): return False
def each(function, values): return [function(v) for v in values]
def caught(function):
    try: return function()
    except ValueError as error: return str(error)
def sort(values): values.sort(); return None
def add(values, key): values[key] = {1}
def count(n):
    for i in range(n): yield i
def odd(): raise KeyError("k")
def wide(): return (x for x in [1])
"""


@pytest.mark.parametrize(
    "case",
    [
        "s = Stack(1); s.push(2); assert s.pop() == 2 and len(s) == 1 and s[0] == 1",
        "s = Stack(1, 2); s[0] = 5; del s[1]; assert list(s) == [5] and s.items == [5]",
        "s = Stack(); s.items = [9]; assert s.pop() == 9; del s.items",
        "assert Stack(1) == Stack(1) and Stack(1) != Stack(2) and hash(Stack(1)) is not None",
        "assert Stack(1) < Stack(1, 2) and (Stack(1) + Stack(2)).items == [1, 2] and (-Stack(1, 2)).items == [2, 1]",
        "assert str(Stack()) == 'Stack!' and 'object of the submission' in repr(Stack()) and not Stack()",
        "assert isinstance(Stack(), Stack) and not isinstance(3, Stack) and Stack.kind == 'stack'",
        "with Stack(1) as s: assert s.pop() == 1",
        "try: Stack().pop()\nexcept EmptyError as e: assert e.args == ('empty', 3)\nelse: assert False",
        "try: Stack().pop()\nexcept ValueError: pass\nelse: assert False",
        "try: odd()\nexcept KeyError as e: assert e.args == ('k',)\nelse: assert False",
        "assert each(lambda x: x * 2, [1, 2]) == [2, 4]",
        "def bad(): raise ValueError('of the tests')\nassert caught(bad) == 'of the tests'",
        "given = [3, 1]; assert sort(given) is None and given == [1, 3]",
        "given = {}; add(given, 'k'); assert given == {'k': {1}}",
        "assert list(count(3)) == [0, 1, 2] and next(wide()) == 1 and callable(sort)",
        f"from {MODULE} import Stack as S, sort\nassert S(4).pop() == 4",
        f"from {MODULE} import *\nassert Stack(4).pop() == 4",
        f"import {MODULE}\ntry: {MODULE}.missing\nexcept AttributeError: pass\nelse: assert False",
    ],
)
def test_objects_of_the_submission_are_used_from_afar(case: str) -> None:
    _, reports = judged(OBJECTS, case)
    assert statuses(reports) == {"case 0": "passed"}, reports


@pytest.mark.parametrize("case", ["assert 1 in Stack(1)", "assert Stack(1) == 1", "Stack(1) < 3", "Stack(1) + 1"])
def test_an_object_of_the_submission_does_not_judge_values_of_the_tests_unless_that_is_asked_for(case: str) -> None:
    _, reports = judged(OBJECTS, case)
    assert statuses(reports)["case 0"] in ("failed", "error")


def test_live_objects_answer_for_themselves() -> None:
    _, reports = judged(OBJECTS, "assert 1 in Stack(1) and (Stack(1) + 2).items == [1, 2]", is_live=True)
    assert statuses(reports) == {"case 0": "passed"}


def test_test_files_are_collected_as_pytest_would() -> None:
    tests = f"""
import unittest, pytest
from {MODULE} import Stack, each
class TestStack(unittest.TestCase):
    def setUp(self): self.stack = Stack(1)
    def test_pop(self): self.assertEqual(self.stack.pop(), 1)
    def test_wrong(self): self.assertEqual(len(self.stack), 7)
class TestPlain:
    def test_len(self): assert len(Stack(1, 2)) == 2
@pytest.mark.parametrize("given,wanted", [(1, 2), (3, 4)])
def test_each(given, wanted): assert each(lambda x: x + 1, [given]) == [wanted]
@pytest.mark.parametrize("one", [1])
@pytest.mark.slow
def test_marked(one): assert one == 1
@pytest.fixture()
def empty(): return Stack()
@pytest.fixture
def filled(empty):
    empty.push(1); yield empty
def test_filled(filled): assert filled.pop() == 1
def test_raises():
    with pytest.raises(ValueError, match="empty"): Stack().pop()
def test_does_not_raise():
    with pytest.raises(ValueError): Stack(1).pop()
def test_says_something_else():
    with pytest.raises(ValueError, match="full"): Stack().pop()
def test_near(): assert each(lambda x: x / 3, [1]) == pytest.approx([0.3333333333])
def test_near_mapping(): assert {{"a": (1.0, "x")}} == pytest.approx({{"a": (1.0, "x")}})
async def test_later(): assert Stack(1).pop() == 1
def test_no_fixture(nothing): pass
def test_failing(): pytest.fail("said so")
"""
    code, reports = judged(OBJECTS, tests, collect=True)
    found = statuses(reports)
    assert code == 1
    assert {name for name, status in found.items() if status == "failed"} == {
        "TestStack.test_wrong", "test_does_not_raise", "test_says_something_else", "test_failing"
    }  # fmt: skip
    assert {name for name, status in found.items() if status == "error"} == {"test_no_fixture"}
    assert {"TestStack.test_pop", "TestPlain.test_len", "test_each[0]", "test_each[1]", "test_marked[0]"} <= set(found)
    code, reports = judged(OBJECTS, "import math", collect=True)
    assert code == 4
    assert "no test" in reports[-1]["unjudgeable"]


def test_a_submission_that_does_not_load_fails_with_the_line() -> None:
    code, reports = judged("x = 1\n1 / 0", "assert x == 1")
    assert code == 1
    assert "ZeroDivisionError" in reports[-1]["load"]
    assert "line 2" in reports[-1]["load"]
    code, reports = judged("def f(:", "assert f(1)")
    assert "SyntaxError" in reports[-1]["load"]


def test_tests_that_cannot_be_run_or_cannot_cross_are_no_verdict() -> None:
    code, reports = judged("def f(x): return x", "assert f(1) ==")
    assert (code, "cannot be run" in reports[-1]["unjudgeable"]) == (4, True)
    code, reports = judged("def f(x): return x", "class Thing: pass\nassert f(Thing())")
    assert (code, "cannot cross" in reports[-1]["unjudgeable"]) == (4, True)


def test_errors_with_hostile_methods_cross_as_what_they_are() -> None:
    submission = """
class Odd(Exception):
    def __str__(self): raise RuntimeError("no")
class Wants(Exception):
    def __init__(self, a, b): super().__init__(a)
def f(): raise Odd("x")
def g(): raise Wants(1, 2)
def h(): return object.__new__(type("Thing", (), {"__reduce__": 1}))
"""
    _, reports = judged(submission, "f()", "g()", "assert h() != 3")
    assert statuses(reports) == {"case 0": "error", "case 1": "error", "case 2": "passed"}


@pytest.mark.parametrize(
    "answer",
    [
        b"not json",
        json.dumps([1]).encode(),
        json.dumps({"v": {"h": ["x", 1]}}).encode(),
        json.dumps({"cb": 99, "a": [], "k": {}}).encode(),
        json.dumps({"x": {"base": "NoSuchError"}}).encode(),
        json.dumps({"m": [[7, []]], "v": None}).encode(),
    ],
)
def test_an_answer_that_makes_no_sense_loses_the_submission(answer: bytes) -> None:
    ours, theirs = socket.socketpair()
    read, write = socket.socketpair()
    payload = {"cases": [{"name": "one", "source": "f(1)"}], "prelude": "", "remote": {}, "module": MODULE}
    payload |= {"is_fail_fast": False, "is_live": False, "is_closed": False, "collect": False}
    with ours, theirs, read, write:
        forger = Channel(theirs.fileno())
        forger.send(json.dumps({"v": None}).encode())
        forger.send(json.dumps({"v": {"f": {"h": [0, "c", "function"]}}}).encode())
        forger.send(answer)
        theirs.shutdown(socket.SHUT_WR)
        assert judge.main(Channel(write.fileno()), Channel(ours.fileno()), payload) == 3
        assert b'"lost"' in read.recv(1 << 16)


def test_frames_that_are_too_large_or_cut_off_are_refused() -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        theirs.sendall(struct.pack(">I", 1 << 31))
        with pytest.raises(FrameTooLargeError):
            Channel(ours.fileno()).receive()
        theirs.sendall(struct.pack(">I", 10) + b"four")
        theirs.shutdown(socket.SHUT_WR)
        with pytest.raises(ChannelClosedError):
            Channel(ours.fileno()).receive()
        theirs.close()
        with pytest.raises(ChannelClosedError):
            Channel(ours.fileno()).send(b"x" * (1 << 20))


def test_an_object_cannot_point_into_the_judges_memory() -> None:
    submission = "class A:\n    __array_interface__ = {'version': 3}\ndef f(x): return A()\n"
    code, reports = judged(submission, "assert not hasattr(f(1), '__array_interface__')")
    assert code == 0, reports
