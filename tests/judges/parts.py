"""Judges that are Python functions, and a case for them to judge."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from proctor.domain.benchmark import ScorerSpec
from proctor.domain.errors import ScorerError
from proctor.domain.message import Prompt
from proctor.domain.model import ModelIdentity
from proctor.domain.response import Response
from proctor.domain.sample import Sample
from proctor.domain.score import Score
from proctor.scorers.judging.judge import Opinion
from proctor.scorers.judging.panel import JudgeScorer
from proctor.scorers.registry import create_scorer

FORMAT = re.compile(r"^VERDICT ([0-9a-f]{16}): VALUE$", re.MULTILINE)
BLOCK = re.compile(r'<data-([0-9a-f]{32}) part="([^"]*)">\n(.*?)\n</data-\1>', re.DOTALL)


@dataclass(frozen=True)
class Request:
    """What a judge can read in its prompt."""

    system: str
    text: str

    @property
    def code(self) -> str:
        return FORMAT.findall(self.text)[-1]

    @property
    def parts(self) -> dict[str, str]:
        return {name: text for _, name, text in BLOCK.findall(self.text)}

    def verdict(self, value: object) -> str:
        return f"VERDICT {self.code}: {value}"


Reply = Callable[[Request], str | Response | ScorerError]


@dataclass
class FakeJudge:
    """Replies by calling a function; keeps the requests it saw."""

    reply: Reply
    label: str = "fake/judge"
    options: Mapping[str, Any] = field(default_factory=dict)
    seen: list[Request] = field(default_factory=list)
    is_cached: bool = False
    retries: int = 0
    """How often it is asked again for a verdict that can be read."""

    @property
    def identity(self) -> ModelIdentity:
        return ModelIdentity("fake", self.label, None, "1")

    async def ask(self, prompt: Prompt, is_readable: Callable[[Response], bool]) -> tuple[Opinion, ...]:
        opinions = []
        for _ in range(1 + self.retries):
            opinions.append(self._reply_to(prompt))
            if is_readable(opinions[-1].response):
                break
        return tuple(opinions)

    def _reply_to(self, prompt: Prompt) -> Opinion:
        request = Request(prompt.messages[0].text, prompt.messages[1].text)
        self.seen.append(request)
        said = self.reply(request)
        if isinstance(said, ScorerError):
            raise said
        return Opinion(said if isinstance(said, Response) else Response(said), is_cached=self.is_cached)


def says(value: object, reasons: str = "Because.") -> Reply:
    """A judge that always gives this verdict, in the form it was asked for."""
    return lambda request: f"{reasons}\n\n{request.verdict(value)}"


def scorer(kind: str, /, *judges: FakeJudge, **options: Any) -> JudgeScorer:
    made = create_scorer(ScorerSpec(kind, options))
    assert isinstance(made, JudgeScorer)
    return made.with_judges(judges)


def judged(made: JudgeScorer, text: str, sample: Sample | None = None) -> Score:
    return asyncio.run(made.score(sample or Sample("1", "What is the capital of France?", "Paris"), Response(text)))
