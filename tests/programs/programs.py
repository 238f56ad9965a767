"""Ways to check and mark in tests: real workspaces, real checkers."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace

from proctor.domain.artifacts import key_of
from proctor.domain.problem import Problem
from proctor.domain.scorecard import CheckResult, Evidence, Phase, Scorecard
from proctor.domain.workspace import Runner
from proctor.programs.checker import Order, run_checks, setup_of
from proctor.programs.marking import mark
from proctor.programs.marks import scorecard_of
from proctor.programs.options import MarkOptions
from proctor.programs.rounds import figures
from proctor.programs.subject import Subject
from proctor.programs.validating import entry

QUICK = MarkOptions(is_measuring=False, is_reading=False)
CHECKED = MarkOptions(rounds=1, most_rounds=3, is_reading=False)


def as_on_a_calm_machine(problem: Problem, card: Scorecard) -> Scorecard:
    """The marks that follow from the rounds as they are, also where the machine was too busy for them to count."""
    kept = phase(card, "load").evidence
    measures = {**card.evidence.measures, **figures(kept["program_rounds"])}
    gold = {**card.evidence.gold_measures, **figures(kept["gold_rounds"])}
    return scorecard_of(problem, replace(card.evidence, measures=measures, gold_measures=gold))


class Kept:
    """Artifacts in memory."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}

    def put(self, name: str, content: bytes) -> str:
        self.files[name] = content
        return key_of(content)


def text(**files: str) -> dict[str, bytes]:
    """Files by name, with a dot for the last underscore: `main_py` is `main.py`."""
    return {".".join(name.rsplit("_", 1)): content.encode() for name, content in files.items()}


def checked(
    problem: Problem,
    files: Mapping[str, bytes],
    runner: Runner,
    *,
    test_seconds: float = 60,
    wall_seconds: float = 120,
    call_seconds: float = 20,
) -> dict[str, CheckResult]:
    """What the checks alone say of a program."""

    async def run() -> dict[str, CheckResult]:
        subject = await Subject.open(problem, files, entry(problem, files), runner, MarkOptions())
        try:
            await subject.build()
            await subject.start()
            assert await subject.ready() == ""
            setup: dict[str, Any] = setup_of(problem, subject.entry.language, call_seconds, test_seconds)
            reach = subject.hosted.reach if subject.hosted else None
            if reach:
                setup |= {"host": reach.host, "port": reach.port}
            order = Order(setup, reach.prefix if reach else (), wall_seconds)
            return (await run_checks(problem, subject.answers(), order)).results
        finally:
            await subject.close()

    return asyncio.run(run())


def marked(
    problem: Problem,
    files: Mapping[str, bytes],
    runner: Runner,
    options: MarkOptions = QUICK,
    artifacts: Kept | None = None,
) -> Scorecard:
    return scorecard_of(problem, evidence(problem, files, runner, options, artifacts))


def evidence(
    problem: Problem,
    files: Mapping[str, bytes],
    runner: Runner,
    options: MarkOptions = QUICK,
    artifacts: Kept | None = None,
) -> Evidence:
    return asyncio.run(mark(problem, files, runner, options=options, artifacts=artifacts))


def phase(card: Scorecard, name: str) -> Phase:
    return next(one for one in card.evidence.phases if one.name == name)


def statuses(card: Scorecard) -> dict[str, str]:
    return {one.id: str(one.status) for one in card.requirements}
