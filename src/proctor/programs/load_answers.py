"""What a load generator saw: every answer of a round, and the figures that follow from the right ones."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

MAX_BODY_BYTES = 64 << 10
"""Of a longer answer only so much is read, and it is no right one."""
MAX_BYTES = 128 << 20
"""Of all answers of one round; no right ones come near it."""
FILES = "answers-*"


class LoadFailedError(Exception):
    """A program did not do what it was loaded with: its own doing, unless it is the gold solution."""


@dataclass(frozen=True, slots=True)
class LoadAnswer:
    """One answer, to the request at this place of the profile, counted from 1; 0: nobody had asked."""

    place: int
    status: int
    """0: there was no answer, or there was no room to keep it."""
    headers: Mapping[str, str]
    """Names in small letters."""
    body: bytes


@dataclass(frozen=True, slots=True)
class Round:
    """One round as the load generator counted it."""

    answered: int
    lost: int
    """Requests without a whole answer."""
    seconds: float
    latencies_ms: Mapping[str, float]
    answers: tuple[LoadAnswer, ...]

    def figures(self, wrong_share: float) -> dict[str, float]:
        """Throughput counts right answers only; a wrong one is an error like none at all."""
        asked = self.answered + self.lost
        right = self.answered * (1 - wrong_share)
        return {
            "throughput_rps": right / self.seconds if self.seconds else 0.0,
            "error_rate": 1 - right / asked if asked else 1.0,
            **self.latencies_ms,
        }


def read_answers(folder: Path) -> tuple[LoadAnswer, ...]:
    """What the generators' scripts wrote: a line `PLACE STATUS HEAD BODY` with two lengths, then these bytes."""
    return tuple(answer for path in sorted(folder.glob(FILES)) for answer in _records(path.read_bytes()))


def _records(data: bytes) -> Iterator[LoadAnswer]:
    at = 0
    while at < len(data):
        end = data.index(b"\n", at)
        place, status, head, body = map(int, data[at:end].split())
        middle, at = end + 1 + head, end + 1 + head + body
        lines = data[end + 1 : middle].decode("utf-8", "replace").splitlines()
        headers = {name: value.strip() for name, _, value in (line.partition(":") for line in lines)}
        yield LoadAnswer(place, status, headers, data[middle:at])
