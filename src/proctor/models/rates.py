"""What is left of an allowance, as a provider's headers tell it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime

from proctor.domain.response import RateState
from proctor.models.waits import ANTHROPIC, OPENAI, duration

_LEFT = frozenset(left for names in (OPENAI, ANTHROPIC) for left, _ in names.values())


def read_rate(headers: Mapping[str, str]) -> RateState | None:
    """The state of the allowance after an answer; None when its headers say nothing that can be understood."""
    if _LEFT.isdisjoint(headers):
        return None
    requests = _pair(headers, "requests")
    tokens = _pair(headers, "tokens")
    if requests is None and tokens is None:
        return None
    return RateState(*(requests or (None, None)), *(tokens or (None, None)))


def _pair(headers: Mapping[str, str], kind: str) -> tuple[int, float] | None:
    """How much is left and for how many seconds; one is of no use without the other."""
    left_name, reset_name = OPENAI[kind]
    left, reset = headers.get(left_name), headers.get(reset_name)
    if left is not None and reset is not None:
        seconds = duration(reset)
    else:
        left_name, reset_name = ANTHROPIC[kind]
        left, reset = headers.get(left_name), headers.get(reset_name)
        seconds = None if reset is None else _until(reset)
    if left is None or seconds is None or not left.strip().isdecimal():
        return None
    return int(left), seconds


def _until(text: str) -> float | None:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return max(0.0, (moment - datetime.now(UTC)).total_seconds())
