"""A library used from another process: what crosses, what fails, and what cannot be forged."""

from __future__ import annotations

import builtins
import operator
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from proctor.programs.checking.library import MAX_BYTES, Calls, Library, LibraryObject, ProgramLostError, RaisedError
from proctor.programs.checking.wording import text_of
from proctor.programs.hosting import free_port
from proctor.programs.inside.sent import command

SOURCE = """
import os, sys, threading, time
from decimal import Decimal
print("printed while imported")
os.write(1, b'\\x00\\x00\\x00\\x05["x"]')

LOADS = []
LOADS.append(1)

class Problem(ValueError):
    def __init__(self, line):
        super().__init__(f"wrong in line {line}")
        self.line = line

class Box:
    kind = "box"
    def __init__(self, *things, **named):
        self.things, self.named = list(things), named
    def __len__(self): return len(self.things)
    def __iter__(self): return iter(self.things)
    def __getitem__(self, at): return self.things[at]
    def __setitem__(self, at, thing): self.things[at] = thing
    def __delitem__(self, at): del self.things[at]
    def __contains__(self, thing): return thing in self.things
    def __eq__(self, other): return isinstance(other, Box) and self.things == other.things
    def __hash__(self): return len(self.things)
    def __lt__(self, other): return len(self) < len(other)
    def __add__(self, other): return Box(*self.things, *other.things)
    def __enter__(self): self.open = True; return self
    def __exit__(self, *_): self.open = False
    def __bool__(self): return bool(self.things)
    def __str__(self): return "a box"

class Yes:
    def __eq__(self, other): return True
    def __hash__(self): return 0
    def __lt__(self, other): return True
    def __sub__(self, other): return 0
    __add__ = __mul__ = __mod__ = __rsub__ = __radd__ = __and__ = __or__ = __xor__ = __sub__
    def __contains__(self, thing): return True

class Denied(PermissionError): pass
class Malformed(Denied): pass
class Anything(ValueError, KeyError, TypeError): pass
class Stopped(StopIteration): pass
def fail(name, *args): raise globals()[name](*args)
def long(): return 10 ** 5000

def parse(text):
    if not text: raise Problem(3)
    return {"text": text, "sum": Decimal("0.1")}

def count(n):
    for number in range(n):
        yield number

def twice(call, value): return call(call(value))
def apart(call):
    seen = []
    thread = threading.Thread(target=lambda: seen.append(call(1)))
    thread.start(); thread.join()
    return seen
def caught(call):
    try: return call()
    except KeyError as error: return ("key", str(error))
def leave(): os._exit(0)
def hang(): time.sleep(600)
def exit(): sys.exit(0)
def stop(): raise KeyboardInterrupt
def yes(): return Yes()
def meet(barrier=threading.Barrier(2)): return barrier.wait(20) >= 0
def huge(): return "x" * (40 << 20)
def large(): return "x" * (1 << 20)
"""


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Callable[..., Calls]]:
    """Connections to a library of this source, in a process of its own."""
    port = free_port()
    (tmp_path / "lib.py").write_text(SOURCE)
    process = subprocess.Popen(command("serving:main", str(port), str(tmp_path), "lib"), stdout=subprocess.DEVNULL)
    made: list[Calls] = []

    def connect(seconds: float = 30, most_bytes: int = MAX_BYTES) -> Calls:
        for _ in range(500):
            try:
                made.append(Calls("127.0.0.1", port, seconds, most_bytes))
            except ConnectionRefusedError:
                time.sleep(0.02)
                continue
            return made[-1]
        raise AssertionError("the library's process does not listen")

    yield connect
    for calls in made:
        calls.close()
    process.kill()
    process.wait()


@pytest.fixture
def lib(serve: Callable[..., Calls]) -> Any:
    return serve().module


def test_functions_take_and_give_plain_values_and_prints_disturb_nothing(lib: Any) -> None:
    assert lib.parse("a") == {"text": "a", "sum": Decimal("0.1")}


def test_objects_stay_there_and_are_used_here(lib: Any) -> None:
    box = lib.Box(1, "two", key=(3,))
    assert isinstance(box, LibraryObject)
    assert (len(box), list(box), box[1], 1 in box, 5 in box) == (2, [1, "two"], "two", True, False)
    assert (box.kind, box.named, str(box), bool(lib.Box())) == ("box", {"key": (3,)}, "a box", False)
    box[0] = b"x"
    del box[1]
    box.label = None
    assert (box.things, box.label) == ([b"x"], None)
    assert (box == lib.Box(b"x"), box != lib.Box(), lib.Box() < box, hash(box)) == (True, True, True, 1)
    assert list(box + lib.Box(7)) == [b"x", 7]
    with lib.Box() as opened:
        assert opened.open is True
    assert opened.open is False
    with pytest.raises(TypeError):
        lib.parse(object())


def test_generators_are_lazy_and_end(lib: Any) -> None:
    numbers = lib.count(10**12)
    assert [next(numbers), next(numbers)] == [0, 1]
    assert list(lib.count(3)) == [0, 1, 2]


def test_errors_come_with_the_names_of_their_classes_and_their_fields(serve: Callable[..., Calls]) -> None:
    calls = serve()
    program = Library.__new__(Library)
    for name in ("Problem", "ValueError", "Exception"):
        with program.raises(name, match="line 3") as seen:
            calls.module.parse("")
        assert seen.value is not None
        assert seen.value.line == 3
    with pytest.raises(ValueError, match="wrong in line 3"):
        calls.module.parse("")
    with pytest.raises(calls.module.Problem):
        calls.module.parse("")
    with pytest.raises(AssertionError, match="KeyError was expected, Problem was raised"), program.raises("KeyError"):
        calls.module.parse("")
    with pytest.raises(AssertionError, match="is not found"), program.raises("ValueError", match="line 4"):
        calls.module.parse("")
    with pytest.raises(AssertionError, match="was not raised"), program.raises("ValueError"):
        calls.module.parse("x")
    with program.raises("AttributeError"):
        _ = calls.module.nothing_of_this_name


def test_the_checks_own_functions_can_be_called_from_there(lib: Any) -> None:
    assert lib.twice(lambda value: [*value, len(value)], []) == [0, 1]
    assert lib.apart(lambda value: (value, threading.current_thread() is threading.main_thread())) == [(1, False)]

    def missing() -> None:
        raise KeyError("k")

    assert lib.caught(missing) == ("key", "'k'")


def test_threads_of_a_check_are_threads_there(lib: Any) -> None:
    seen: list[bool] = []
    threads = [threading.Thread(target=lambda: seen.append(lib.meet())) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert seen == [True, True]


def test_an_object_never_equals_a_value_of_the_check(lib: Any) -> None:
    assert lib.yes() != 5
    assert lib.yes() != [1]
    with pytest.raises(TypeError):
        _ = lib.yes() < 5


@pytest.mark.parametrize("operation", ["add", "sub", "mul", "mod", "and_", "or_", "xor", "contains"])
def test_an_object_does_not_answer_an_operation_with_a_value_of_the_check(lib: Any, operation: str) -> None:
    with pytest.raises(TypeError):
        getattr(operator, operation)(lib.yes(), 5)
    if operation != "contains":
        with pytest.raises(TypeError):
            getattr(operator, operation)(5, lib.yes())


def test_an_error_counts_as_its_own_class_and_as_the_built_in_one_it_is_made_from(serve: Callable[..., Calls]) -> None:
    lib, program = serve().module, Library.__new__(Library)
    for name in ("Malformed", "PermissionError", "OSError", "Exception"):
        with program.raises(name):
            lib.fail("Malformed")
    with pytest.raises(AssertionError, match="Denied was expected, Malformed was raised"), program.raises("Denied"):
        lib.fail("Malformed")
    with program.raises("Anything"):
        lib.fail("Anything")
    for name in ("ValueError", "KeyError", "TypeError", "LookupError", "Exception"):
        with pytest.raises(AssertionError, match=f"{name} was expected"), program.raises(name):
            lib.fail("Anything")


def test_a_loop_of_the_checks_own_is_not_ended_from_there(lib: Any) -> None:
    for name in ("Stopped", "StopIteration"):
        with pytest.raises(RaisedError):
            all(map(lib.fail, [name]))
    with pytest.raises(builtins.StopIteration):
        next(lib.count(0))


def test_what_an_error_says_can_always_be_told(lib: Any) -> None:
    for text in (10**5000, "\ud800 half"):
        with pytest.raises(RaisedError) as seen:
            lib.fail("Denied", text)
        text_of(seen.value).encode()
    assert "cannot be written" in text_of(KeyError(lib.long()))


def test_leaving_is_losing(lib: Any) -> None:
    with pytest.raises(ProgramLostError, match="process ended"):
        lib.leave()
    with pytest.raises(ProgramLostError):
        lib.parse("a")


def test_hanging_is_losing_and_the_next_check_has_a_process_of_its_own(serve: Callable[..., Calls]) -> None:
    calls = serve(5)  # a busy machine takes that long to import the module
    with pytest.raises(ProgramLostError, match=r"no answer within 5 s"):
        calls.module.hang()
    calls.close()
    assert serve().module.parse("b")["text"] == "b"


def test_ending_the_interpreter_is_an_error_like_others(lib: Any) -> None:
    for name in ("exit", "stop"):
        with pytest.raises(Exception) as seen:  # not SystemExit or KeyboardInterrupt, which would end the checker
            getattr(lib, name)()
        assert not isinstance(seen.value, AssertionError)
    assert lib.parse("c")["text"] == "c"


def test_an_answer_that_is_too_large_is_an_error(lib: Any) -> None:
    with pytest.raises(ProgramLostError):
        lib.huge()


def test_answers_that_are_too_much_together_are_an_error(serve: Callable[..., Calls]) -> None:
    lib = serve(most_bytes=4 << 20).module
    for _ in range(3):
        assert len(lib.large()) == 1 << 20
    with pytest.raises(ProgramLostError, match="handed over more than it may"):
        lib.large()
    with pytest.raises(ProgramLostError, match="handed over more than it may"):
        lib.parse("a")
    assert serve().module.parse("b")["text"] == "b"


def test_each_connection_imports_the_module_anew(serve: Callable[..., Calls]) -> None:
    first = serve()
    first.module.LOADS.append(2)  # a list crosses as a copy
    box = first.module.Box
    box.kind = "changed"
    assert first.module.Box.kind == "changed"
    first.close()
    assert serve().module.Box.kind == "box"
