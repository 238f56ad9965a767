"""What every log comes to: evaluations with their trials, before anything is stored."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

import orjson
from msgspec import Struct, field

from proctor.domain.errors import UserError
from proctor.domain.message import Json, Prompt
from proctor.domain.response import Response
from proctor.domain.sample import Sample
from proctor.domain.score import Score


class LogError(UserError):
    """A log that cannot be imported; what is wrong with it, and where."""


MAX_INTEGER = 2**63 - 1
"""What a database keeps as a whole number."""


class LogTrial(Struct, frozen=True):
    sample: Sample
    epoch: int
    """From 0."""
    prompt: Prompt
    response: Response | None
    error: str | None
    scores: tuple[Score, ...]


class LogEvaluation(Struct, frozen=True):
    """One model on one task."""

    model: str
    benchmark: str
    version: str
    scorers: tuple[str, ...]
    """The first is the one that figures are made of."""
    trials: tuple[LogTrial, ...]
    options: Mapping[str, Json] = field(default_factory=dict)
    seconds: float = 0.0


class Log(Struct, frozen=True):
    tool: str
    """`inspect`, `lm-eval` or `promptfoo`."""
    tool_version: str
    made_at: datetime | None
    evaluations: tuple[LogEvaluation, ...]


def score_of(name: str, value: object, reason: str = "", **more: Any) -> Score:
    """The mark as the tool gave it; one that is no number from 0 to 1 is kept in the details, and measures nothing."""
    details: dict[str, Json] = {"imported": plain(value)}
    number = float(value) if isinstance(value, bool | int | float) else None
    if number is None or not math.isfinite(number) or not 0.0 <= number <= 1.0:
        shown = "none" if value is None else f"{value!r}"
        return Score(
            name, None, reason=reason or f"the tool gave {shown}, no mark from 0 to 1", details=details, **more
        )
    return Score(name, number, reason=reason, details=details, **more)


def read_json(text: bytes, where: str) -> Any:
    """The document; these tools write NaN, which is no JSON. Raises LogError for what nothing can be made of."""
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        pass
    try:
        return _encodable(json.loads(text))
    except (ValueError, RecursionError) as error:
        raise LogError(f"{where} is no JSON: {error}.") from None


def _encodable(value: Any) -> Any:
    """Without halves of characters, which Python's reader lets through and nothing can keep."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, list):
        return [_encodable(one) for one in value]
    return {_encodable(key): _encodable(one) for key, one in value.items()} if isinstance(value, dict) else value


def plain(value: object) -> Json:
    """As JSON: numbers that JSON does not know become texts."""
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) > MAX_INTEGER:
        return str(value)
    if isinstance(value, Mapping):
        return {str(key): plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [plain(one) for one in value]
    return value if value is None or isinstance(value, str | bool | int | float) else str(value)


class LogFields:
    """A mapping of a log, whose fields are read with a check: logs come from other people's programs."""

    def __init__(self, value: object, where: str) -> None:
        if not isinstance(value, Mapping):
            raise LogError(f"{where} is not a mapping, as it is in a log of this tool.")
        self.value: Mapping[str, Any] = value
        self.where = where

    def text(self, name: str) -> str:
        found = self.value.get(name)
        if not isinstance(found, str) or not found:
            raise LogError(f"{self.where} has no {name!r}, as a log of this tool has.")
        return found

    def maybe_text(self, name: str) -> str | None:
        found = self.value.get(name)
        return found if isinstance(found, str) and found else None

    def number(self, name: str) -> float | None:
        found = self.value.get(name)
        if isinstance(found, bool) or not isinstance(found, int | float) or not math.isfinite(found):
            return None
        return float(found)

    def count(self, name: str) -> int | None:
        found = self.value.get(name)
        return found if isinstance(found, int) and not isinstance(found, bool) and 0 <= found <= MAX_INTEGER else None

    def items(self, name: str) -> list[Any]:
        found = self.value.get(name) or []
        if not isinstance(found, list):
            raise LogError(f"{self.where}: {name} is not a list, as it is in a log of this tool.")
        return found

    def part(self, name: str) -> LogFields:
        return LogFields(self.value.get(name) or {}, f"{self.where}: {name}")

    def parts(self, name: str) -> Iterator[LogFields]:
        for number, one in enumerate(self.items(name)):
            yield LogFields(one, f"{self.where}: {name}[{number}]")


def moment(text: str | None) -> datetime | None:
    try:
        return None if text is None else datetime.fromisoformat(text)
    except ValueError:
        return None
