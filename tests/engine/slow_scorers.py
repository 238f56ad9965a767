"""Scorers that work in another process, each in its own way."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from pathlib import Path

from msgspec.structs import replace

from proctor.domain.errors import ScorerError
from proctor.domain.response import Response
from proctor.domain.sample import Sample
from proctor.domain.score import Score
from proctor.scorers.f1 import TokenOverlap

TIMEOUT_SECONDS = 30.0


@dataclass(frozen=True)
class WaitingScorer:
    """Blocks its process until a file is there: 1 when it came while it waited."""

    file: Path
    is_slow: bool = True
    name: str = "waiting"
    version: str = "1"

    def is_slow_for(self, response: Response) -> bool:
        return self.is_slow

    async def score(self, sample: Sample, response: Response) -> Score:
        latest = time.monotonic() + TIMEOUT_SECONDS
        while not self.file.exists() and time.monotonic() < latest:
            time.sleep(0.01)
        return Score(self.name, float(time.monotonic() < latest))


@dataclass(frozen=True)
class ObedientScorer:
    """Does what the answer says: dies, raises, says where it is and what it can see."""

    name: str = "obedient"
    version: str = "1"

    def is_slow_for(self, response: Response) -> bool:
        return response.text != "quick"

    async def score(self, sample: Sample, response: Response) -> Score:
        match response.text:
            case "die":
                os._exit(9)
            case "raise":
                raise ScorerError("cannot be scored")
            case "break":
                raise ZeroDivisionError("divided")
            case "print":
                print("not an answer")
        return Score(self.name, 1.0, details={"pid": os.getpid(), "sees_key": "OPENAI_API_KEY" in os.environ})


class OverlapWithPid(TokenOverlap):
    """The words that are shared, and the process that counted them."""

    async def score(self, sample: Sample, response: Response) -> Score:
        return replace(await super().score(sample, response), details={"pid": os.getpid()})


@dataclass(frozen=True)
class PidScorer:
    """Writes down the process it is in, and never answers."""

    file: Path
    name: str = "pid"
    version: str = "1"

    async def score(self, sample: Sample, response: Response) -> Score:
        written = self.file.with_suffix(".new")
        written.write_text(str(os.getpid()))
        written.rename(self.file)
        time.sleep(10 * TIMEOUT_SECONDS)
        return Score(self.name, 0.0)
