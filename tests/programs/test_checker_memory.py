"""A program that hands over more than fits fails by itself: not the machine, not the checker, not the marking."""

from __future__ import annotations

from collections.abc import Callable

from proctor.domain.problem import Problem
from proctor.domain.workspace import Runner
from programs.programs import CHECKED, checked, marked, phase

ENDLESS = b"""
def endless(self):
    while True:
        yield "x" * (1 << 20)

Shelf.__iter__ = endless
"""
LARGE = b"""
def total(numbers):
    return Decimal(5 << 30)
"""


def test_values_without_end_fail_the_check_that_takes_them(shelf: Problem, runner: Runner) -> None:
    results = checked(shelf, {"shelf.py": shelf.solution["shelf.py"] + ENDLESS}, runner)
    failed = {name: one for name, one in results.items() if str(one.status) != "passed"}
    assert set(failed) == {"keeps_things_in_order", "keeps_whatever_is_put"}
    assert all("handed over more than it may" in one.message for one in failed.values())


def test_a_check_that_needs_too_much_memory_fails_and_the_rest_goes_on(
    shelf: Problem, runner: Runner, changed: Callable[..., Problem]
) -> None:
    path = "tests/hidden/unit/test_limits.py"
    usual = 'program.module.total(["0.1", "0.2"]) == Decimal("0.3")'
    tests = (shelf.folder / path).read_text(encoding="utf-8")
    assert usual in tests
    problem = changed(shelf, {path: tests.replace(usual, "bytes(int(program.module.total([]))) is not None")})
    results = checked(problem, {"shelf.py": shelf.solution["shelf.py"] + LARGE}, runner)
    failed = {name: one for name, one in results.items() if str(one.status) != "passed"}
    assert set(failed) == {"adds_exactly"}
    assert str(failed["adds_exactly"].status) == "failed"
    assert "does not fit into the 2048 MiB of its checker" in failed["adds_exactly"].message


def test_work_that_needs_too_much_memory_is_the_programs_own_failure(
    shelf: Problem, runner: Runner, changed: Callable[..., Problem]
) -> None:
    taking = "def work(program):\n    assert bytes(int(program.module.total([]))) == b''\n"
    problem = changed(shelf, {"tests/load/work.py": taking})
    card = marked(problem, {"shelf.py": shelf.solution["shelf.py"] + LARGE}, runner, CHECKED)
    assert str(phase(card, "load").status) == "failed"
    assert "does not fit into the 2048 MiB of its checker" in phase(card, "load").log
