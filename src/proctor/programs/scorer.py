"""The scorers `program` and `program_mark`: one marking per program, whichever of them asks first."""

from __future__ import annotations

import asyncio
import copy
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import Self
from weakref import WeakKeyDictionary

from proctor.domain.artifacts import Artifacts
from proctor.domain.errors import SandboxError, ScorerError
from proctor.domain.identity import digest
from proctor.domain.message import Json
from proctor.domain.problem import Problem
from proctor.domain.response import Response
from proctor.domain.sample import Sample
from proctor.domain.score import Score
from proctor.domain.scorecard import Evidence, Scorecard
from proctor.domain.scorer import Control, FindProblem, traits
from proctor.domain.submission import Submission
from proctor.domain.workspace import Runner
from proctor.metrics.rounding import decimal_text
from proctor.programs.answers.reading import program_of
from proctor.programs.entry import candidates
from proctor.programs.evidence import scorecard_to_json
from proctor.programs.marking import mark
from proctor.programs.marks import scorecard_of
from proctor.programs.options import MarkOptions
from proctor.programs.toolbox import refuse_without_needed
from proctor.scorers.options import build, version_of

PASSED, MARK = "program", "program_mark"
REVISION = "3"
MIN_GOLD_MARK = 0.01
"""A gold solution that gets less was marked in a workspace that is broken."""
_KEPT = 64


@traits(has_votes=False)
def create_passed(**options: Json) -> ProgramPassed:
    refuse_without_needed()
    return build(ProgramPassed, PASSED, options)


@traits(has_votes=False, has_coverage=True)
def create_mark(**options: Json) -> ProgramMark:
    refuse_without_needed()
    return build(ProgramMark, MARK, options)


@dataclass(eq=False)
class _Pending:
    task: asyncio.Task[Evidence]
    waiting: int = 0
    is_ending: bool = False
    """Nobody waited for it any more: whoever asks now asks anew."""

    @property
    def has_failed(self) -> bool:
        if not self.task.done():
            return self.is_ending
        return self.task.cancelled() or self.task.exception() is not None


class Markings:
    """Evidence by program, while a runner lives: asking twice marks once, and a fault is asked again."""

    def __init__(self) -> None:
        self._pending: OrderedDict[str, _Pending] = OrderedDict()

    async def evidence(
        self,
        problem: Problem,
        files: Mapping[str, bytes],
        runner: Runner,
        options: MarkOptions,
        artifacts: Artifacts | None,
    ) -> Evidence:
        contents = [[path, blake2b(content).hexdigest()] for path, content in sorted(files.items())]
        key = digest([problem.digest, contents, repr(options)])
        pending = self._pending.get(key)
        if pending is None or pending.has_failed:
            made = asyncio.create_task(mark(problem, files, runner, options=options, artifacts=artifacts))
            pending = self._pending[key] = _Pending(made)
        self._pending.move_to_end(key)
        while len(self._pending) > _KEPT and next(iter(self._pending.values())).task.done():
            self._pending.popitem(last=False)
        return await self._awaited(pending)

    async def _awaited(self, pending: _Pending) -> Evidence:
        """A marking nobody waits for any more is ended, and its workspace closed, before anything else goes on."""
        pending.waiting += 1
        try:
            return await asyncio.shield(pending.task)
        except asyncio.CancelledError:
            if pending.waiting == 1 and not pending.task.done():
                pending.is_ending = True
                pending.task.cancel()
                await asyncio.wait([pending.task])
            raise
        finally:
            pending.waiting -= 1


_MARKINGS: WeakKeyDictionary[Runner, Markings] = WeakKeyDictionary()


@dataclass(frozen=True, kw_only=True)
class Marked:
    """What both scorers share; they score nothing until they have been given a runner."""

    wheelhouse: str = ""
    """A folder with wheels of the packages a problem allows."""
    index_url: str = ""
    """A package index to download them from."""
    measures: bool = True
    """Load and profile the program; without, performance is not measured."""
    runner: Runner | None = field(default=None, init=False, compare=False, repr=False)
    find: FindProblem | None = field(default=None, init=False, compare=False, repr=False)
    artifacts: Artifacts | None = field(default=None, init=False, compare=False, repr=False)
    packages: Path | None = field(default=None, init=False, compare=False, repr=False)
    """Where fetched packages are kept."""

    @property
    def needs_runner(self) -> bool:
        return True

    def with_runner(self, runner: Runner, find: FindProblem, artifacts: Artifacts | None = None) -> Self:
        """The same scorer, marking there; `find` gives a problem by the id in a sample's metadata."""
        made = copy.copy(self)
        for name, value in (("runner", runner), ("find", find), ("artifacts", artifacts)):
            object.__setattr__(made, name, value)
        return made

    def with_packages(self, folder: Path | None) -> Self:
        """The same scorer, keeping fetched packages there for the next program; None keeps none."""
        made = copy.copy(self)
        object.__setattr__(made, "packages", folder)
        return made

    @property
    def version(self) -> str:
        return version_of(self, REVISION)

    @property
    def is_forgeable(self) -> bool:
        """Whether a program can have a hand in its own marks."""
        return self.runner is not None and not self.runner.is_isolated

    def control(self, sample: Sample) -> Control | None:
        """The problem's gold solution: what cannot be marked where that gets a mark is the program's own doing."""
        if self.find is None:
            return None
        gold = self._problem(sample, self.find).solution
        return Control(Response("", files=gold), "the gold solution", least=MIN_GOLD_MARK)

    async def card(self, sample: Sample, response: Response) -> tuple[Submission, Scorecard | None]:
        """The program in a response and its scorecard; None when there is no program in it."""
        if self.runner is None or self.find is None:
            raise ScorerError("This scorer marks programs and was given no runner.")
        problem = self._problem(sample, self.find)
        submission = program_of(response, list(candidates(problem.interface)))
        if not submission.files:
            return submission, None
        markings = _MARKINGS.setdefault(self.runner, Markings())
        try:
            evidence = await markings.evidence(problem, submission.files, self.runner, self.options, self.artifacts)
        except SandboxError as error:
            raise ScorerError(str(error)) from error
        return submission, scorecard_of(problem, evidence)

    def _problem(self, sample: Sample, find: FindProblem) -> Problem:
        name = sample.metadata.get("problem")
        if not isinstance(name, str):
            raise ScorerError(f"The sample {sample.id} names no problem in its metadata.")
        problem = find(name)
        expected = sample.metadata.get("digest")
        if expected is not None and expected != problem.digest:
            raise ScorerError(
                f"The problem {name} has changed since this sample was made; marks would not be comparable."
            )
        return problem

    @property
    def options(self) -> MarkOptions:
        return MarkOptions(
            wheelhouse=Path(self.wheelhouse) if self.wheelhouse else None,
            index_url=self.index_url or None,
            packages=self.packages,
            is_measuring=self.measures,
        )


def marking_details(submission: Submission, card: Scorecard, *, is_forgeable: bool) -> dict[str, Json]:
    """What is kept of a marking, whoever wrote the program."""
    return {
        "form": submission.form,
        "refused": dict(submission.refused),
        **scorecard_to_json(card),
        "is_forgeable": is_forgeable,
    }


def _nothing(name: str, submission: Submission, response: Response) -> Score:
    refused = [f"{path}: {why}" for path, why in submission.refused.items()]
    reasons = [*([response.note] if response.note else []), *submission.notes, *refused]
    return Score.invalid(name, "; ".join(reasons)[:600] or "no file was found in the answer")


@dataclass(frozen=True, kw_only=True)
class ProgramPassed(Marked):
    """1 when the program passes: every MUST verified, and the problem's pass mark reached."""

    @property
    def name(self) -> str:
        return PASSED

    async def score(self, sample: Sample, response: Response) -> Score:
        submission, card = await self.card(sample, response)
        if card is None:
            return _nothing(PASSED, submission, response)
        details = marking_details(submission, card, is_forgeable=self.is_forgeable)
        reason = card.reason or f"every MUST requirement is verified; the total is {card.total}"
        if response.note:
            details["note"], reason = response.note, f"{reason}; {response.note}"
        return Score(PASSED, float(card.passed), answer=submission.form, reason=reason, details=details)


@dataclass(frozen=True, kw_only=True)
class ProgramMark(Marked):
    """The total mark: of what was measured, never scaled up."""

    @property
    def name(self) -> str:
        return MARK

    async def score(self, sample: Sample, response: Response) -> Score:
        submission, card = await self.card(sample, response)
        if card is None:
            return _nothing(MARK, submission, response)
        if card.total is None:
            return Score.unscored(MARK, "nothing could be measured")
        marks = {one.name: one.value for one in card.dimensions}
        details: dict[str, Json] = {"covers": card.covers, "grade": card.grade, "dimensions": marks}
        details["is_forgeable"] = self.is_forgeable
        shown = ", ".join(
            f"{name} {'not measured' if value is None else decimal_text(value, 2)}" for name, value in marks.items()
        )
        return Score(MARK, card.total, reason=f"{shown}; covers {decimal_text(card.covers, 2)}", details=details)
