"""Marks of Inspect's own scorers, for tasks that are run here as `inspect:…`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from proctor import inspect_tasks
from proctor.domain.errors import ScorerError
from proctor.domain.identity import digest
from proctor.domain.message import Json
from proctor.domain.response import Response
from proctor.domain.sample import Sample
from proctor.domain.score import Score
from proctor.domain.scorer import traits
from proctor.scorers.options import build

NAME = "inspect"
REVISION = "1"


@traits(needs_target=False, has_votes=False)
def create(**options: Json) -> InspectScorer:
    return build(InspectScorer, NAME, options)


@dataclass(frozen=True, slots=True)
class InspectScorer:
    """What a scorer of an Inspect task says; benchmarks `inspect:…` name it, nobody else needs to."""

    task: str = ""
    arguments: Mapping[str, Json] | None = None
    place: int = 0
    """Which of the task's scorers."""
    label: str = NAME
    folder: str = ""
    digest: str = ""
    """Of Inspect's version, the task's code and its arguments, which decide what a mark is."""

    @property
    def name(self) -> str:
        return self.label

    @property
    def version(self) -> str:
        given = [self.place, self.digest]  # the task, its arguments and its code; where the file lies changes no mark
        return f"{REVISION}+{digest(given)[:8]}" if self.task else REVISION

    def obstacle(self, sample: Sample) -> str | None:
        """A task that cannot be loaded is found before a model is asked."""
        if not self.task:
            return "the scorer 'inspect' belongs to benchmarks that are named inspect:…"
        return None if isinstance(sample.input, tuple) else "it is no sample of an Inspect task"

    async def score(self, sample: Sample, response: Response) -> Score:
        if not isinstance(sample.input, tuple):
            raise ScorerError("Only a sample of an Inspect task can be marked by its scorer.")
        task = inspect_tasks.load(self.task, dict(self.arguments or {}), Path(self.folder or "."))
        if self.digest and task.digest != self.digest:
            raise ScorerError(
                f"inspect:{self.task} or Inspect itself has changed since the run began: start a new run."
            )
        asked = [(message.role, message.text) for message in sample.input]
        mark = await task.mark(sample.id, self.place, response.text, asked)
        return Score(self.name, mark.value, answer=mark.answer, reason=mark.reason, is_invalid=mark.is_invalid)
