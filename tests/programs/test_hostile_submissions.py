"""Submissions that want marks without earning them: they get none, leave nothing behind, and disturb nobody."""

from __future__ import annotations

import asyncio
import json

import pytest
from msgspec.structs import replace

from proctor.domain.problem import Problem
from proctor.domain.scorecard import Scorecard
from proctor.domain.workspace import Runner
from proctor.programs.evidence import evidence_to_json
from proctor.programs.marking import mark
from proctor.programs.marks import scorecard_of
from proctor.programs.options import MarkOptions
from programs.hostile import COMMANDS, LIBRARIES, SECRET, SERVICES
from programs.programs import marked
from sandboxes.workspaces.conftest import nothing_left

__all__ = ["nothing_left"]
pytestmark = [pytest.mark.usefixtures("nothing_left"), pytest.mark.timeout(600)]
# Little time for each check, so that those which do nothing but wait are done with soon.
SHORT = MarkOptions(is_measuring=False, is_reading=False, test_seconds=3, check_seconds=300)


def files(texts: dict[str, str]) -> dict[str, bytes]:
    return {path: text.encode() for path, text in texts.items()}


ALL_PRINTED = ("logs without end",)
"""It ends by a limit of bytes: on a busy machine the checks take long to read them all, and time must not decide."""


def impatient(problem: Problem, seconds: float = 1.0) -> Problem:
    return replace(problem, limits={**problem.limits, "seconds": seconds})


def assert_nothing_earned(card: Scorecard) -> None:
    assert not card.passed
    assert card.total in (None, 0.0), card.dimensions
    assert [check.name for check in card.evidence.checks if check.status == "passed" and not check.is_generated] == []


@pytest.mark.parametrize("name", COMMANDS)
def test_a_hostile_command_earns_nothing(
    name: str, tally: Problem, runner: Runner, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(SECRET, SECRET)
    seconds = 10.0 if name in ALL_PRINTED else 1.0
    card = marked(impatient(tally, seconds), files(COMMANDS[name]), runner, SHORT)
    assert_nothing_earned(card)
    told = json.dumps(evidence_to_json(card.evidence))
    assert len(told) < 1_000_000, "what it printed was kept without bounds"
    for sign in (SECRET, "FOUND ", "CONNECTED", "root:"):
        assert sign not in told


@pytest.mark.parametrize("name", LIBRARIES)
def test_a_hostile_library_earns_nothing(name: str, shelf: Problem, runner: Runner) -> None:
    assert_nothing_earned(marked(impatient(shelf), files(LIBRARIES[name]), runner, SHORT))


@pytest.mark.parametrize("name", SERVICES)
def test_a_hostile_service_earns_nothing(name: str, notes: Problem, runner: Runner) -> None:
    short = replace(notes, interface=replace(notes.interface, ready_seconds=2.0))
    assert_nothing_earned(marked(impatient(short), files(SERVICES[name]), runner, SHORT))


@pytest.mark.parametrize("path", ["../main.py", "/etc/main.py", "a/../../main.py", "main.py/\0", "x" * 5000 + ".py"])
def test_a_path_that_leads_out_is_refused_before_anything_runs(path: str, tally: Problem, runner: Runner) -> None:
    card = marked(tally, {**tally.solution, path: b"pass"}, runner, SHORT)
    assert_nothing_earned(card)
    assert card.evidence.phases[0].status == "failed"


def test_hostile_neighbours_do_not_change_an_honest_mark(tally: Problem, runner: Runner) -> None:
    """The gold solution is marked while the machine is under attack from several workspaces beside it."""
    names = ("forks without end", "takes memory in many processes", "fills the disk", "kills whatever it can")

    async def all_at_once() -> list[Scorecard]:
        attacks = [mark(impatient(tally), files(COMMANDS[name]), runner, options=SHORT) for name in names]
        patient = replace(SHORT, test_seconds=60)
        found = await asyncio.gather(mark(tally, tally.solution, runner, options=patient), *attacks)
        return [scorecard_of(tally, evidence) for evidence in found]

    honest, *attackers = asyncio.run(all_at_once())
    assert all(check.status == "passed" for check in honest.evidence.checks), honest.evidence.checks
    for card in attackers:
        assert_nothing_earned(card)


def test_there_are_at_least_thirty() -> None:
    assert len(COMMANDS) + len(LIBRARIES) + len(SERVICES) >= 30
