"""A service under its problem's load: set up, asked by many at once, its answers read, and asked again afterwards."""

from __future__ import annotations

import asyncio
import secrets
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from proctor.domain.errors import ScorerError
from proctor.domain.workspace import Reach
from proctor.programs import load_tools
from proctor.programs.expectations import filled, judge, members_of, mistake
from proctor.programs.load_answers import LoadAnswer, LoadFailedError
from proctor.programs.sending import send
from proctor.programs.tools.running import ToolError

FOLLOWED = 5
"""How many of a request's answers are asked about after the load."""


class ServiceLoad:
    """The problem's profile for one service, which knows what that service answered to the setup."""

    def __init__(self, load: Mapping[str, Any], reach: Reach) -> None:
        self._load = load
        self._reach = reach
        self._answers: tuple[LoadAnswer, ...] = ()
        self.requests: list[dict[str, Any]] = []
        self.statuses: dict[str, int] = {}
        """How many requests of the setup were answered with which status."""

    async def prepare(self) -> None:
        """Send the setup; a later request may be made with the members of its answers."""
        members: dict[str, Any] = {}
        seen: Counter[str] = Counter()
        for one in self._load.get("setup") or ():
            request = filled(one, members)
            for answer in await send(self._reach, [request] * int(one.get("weight", 1))):
                _expect(request, answer)
                seen[str(answer.status)] += 1
                members |= members_of(answer)
        self.statuses = dict(seen)
        self.requests = [filled(one, members) for one in self._load["requests"]]

    async def round(self, seconds: int) -> dict[str, float]:
        """So many seconds of load; wrong answers are errors, and more than a few of them a failure."""
        tool = load_tools.chosen()
        if tool is None:
            raise ScorerError("Neither wrk nor Locust is on this machine.")
        try:
            done = await tool.measure(self._reach, {**self._load, "requests": self.requests}, seconds)
        except ToolError as error:
            raise LoadFailedError(f"{tool.name} could not bear its answers: {error}") from error
        if not done.answered:
            raise LoadFailedError("not one request was answered under load")
        judged = await asyncio.to_thread(judge, self.requests, done.answers)
        if judged.failure:
            raise LoadFailedError(judged.failure)
        self._answers = done.answers
        return done.figures(judged.wrong_share)

    async def follow(self) -> None:
        """Ask about some of the answers of the last round: what was confirmed under load must be there."""
        for place, request in enumerate(self.requests, 1):
            if request.get("then") is not None:
                found = [answer for answer in self._answers if answer.place == place]
                await self._ask_about(request["then"], found)

    async def _ask_about(self, then: Mapping[str, Any], answers: Sequence[LoadAnswer]) -> None:
        chosen = secrets.SystemRandom().sample(answers, min(FOLLOWED, len(answers)))
        questions = [filled(then, members_of(answer)) for answer in chosen]
        for question, answer in zip(questions, await send(self._reach, questions), strict=True):
            _expect(question, answer)


def _expect(request: Mapping[str, Any], answer: LoadAnswer) -> None:
    found = mistake(request.get("expect"), answer)
    if found:
        raise LoadFailedError(f"{request['method']} {request['path']}, before or after the load: {found}")
