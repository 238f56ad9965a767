"""Small real parts for engine tests: a model that follows a script, a journal in memory."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from msgspec.structs import replace

from proctor.domain.journal import Recorded, Written
from proctor.domain.message import Message, Prompt
from proctor.domain.model import ModelIdentity
from proctor.domain.response import Response
from proctor.domain.sample import Sample
from proctor.domain.score import Score
from proctor.domain.trial import Answer, Result, Trial

IDENTITY = ModelIdentity("scripted", "model", None, "1")


@dataclass
class ScriptedModel:
    """Answers by calling `act(prompt text, how often it was asked before)`; an exception it gives is raised."""

    act: Callable[[str, int], Response | Exception] = lambda text, _: Response(text)
    delay_seconds: float = 0.0
    asked: Counter[str] = field(default_factory=Counter)
    in_flight: int = 0
    most_in_flight: int = 0

    @property
    def identity(self) -> ModelIdentity:
        return IDENTITY

    async def respond(self, prompt: Prompt, options: Mapping[str, Any], *, timeout_seconds: float) -> Response:
        text = prompt.messages[-1].text
        before = self.asked[text]
        self.asked[text] += 1
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        try:
            await asyncio.sleep(self.delay_seconds)
        finally:
            self.in_flight -= 1
        outcome = self.act(text, before)
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    async def close(self) -> None:
        return


@dataclass
class MemoryJournal:
    """Keeps everything in lists; can be told to fail."""

    answers: list[Answer] = field(default_factory=list)
    results: list[Result] = field(default_factory=list)
    store: dict[str, Response] = field(default_factory=dict)
    failure: Exception | None = None
    writes: int = 0

    async def recorded(self, evaluation_id: int, trial_ids: Sequence[str]) -> Mapping[str, Recorded]:
        found: dict[str, Recorded] = {}
        scored = {result.answer.response_id for result in self.results}
        for row, answer in enumerate(self.answers):
            if answer.trial.evaluation_id == evaluation_id and answer.trial.id in trial_ids:
                is_failed = answer.response is None
                found[answer.trial.id] = Recorded(row, answer.trial.attempt, is_failed, row in scored)
        return found

    async def responses(self, response_ids: Sequence[int]) -> Mapping[int, Response]:
        return {row: response for row in response_ids if (response := self.answers[row].response) is not None}

    async def cached(self, keys: Sequence[str]) -> Mapping[str, Response]:
        return {key: self.store[key] for key in keys if key in self.store}

    async def write(self, answers: Sequence[Answer], results: Sequence[Result]) -> Written:
        await asyncio.sleep(0)
        if self.failure is not None:
            raise self.failure
        self.writes += 1
        start = len(self.answers)
        kept = [replace(answer, response_id=start + n) for n, answer in enumerate(answers)]
        self.answers.extend(kept)
        self.results.extend(results)
        return Written(tuple(kept), tuple(results))


@dataclass(frozen=True)
class EchoScorer:
    """1 when the response repeats the sample's input."""

    name: str = "echo"
    version: str = "1"

    async def score(self, sample: Sample, response: Response) -> Score:
        return Score(self.name, float(response.text == sample.input), answer=response.text)


def trials(count: int, evaluation_id: int = 1, prefix: str = "q") -> Iterator[Trial]:
    for number in range(count):
        text = f"{prefix}{number}"
        yield Trial(
            id=f"{evaluation_id}-{text}",
            evaluation_id=evaluation_id,
            sample=Sample(id=text, input=text),
            epoch=0,
            prompt=Prompt((Message("user", text),)),
            options={},
            cache_key=text,
        )


def watched(source: Iterable[Trial], seen: list[int]) -> Iterator[Trial]:
    """Counts how far the cursor was pulled."""
    for trial in source:
        seen[0] += 1
        yield trial
