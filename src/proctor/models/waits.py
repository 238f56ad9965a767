"""How long a provider asks to be left alone, in whichever of their ways it says so."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

DURATION = re.compile(r"(\d+(?:\.\d+)?)(ms|h|m|s)")
KINDS = ("requests", "tokens", "input-tokens", "output-tokens")
OPENAI = {kind: (f"x-ratelimit-remaining-{kind}", f"x-ratelimit-reset-{kind}") for kind in KINDS}
ANTHROPIC = {kind: (f"anthropic-ratelimit-{kind}-remaining", f"anthropic-ratelimit-{kind}-reset") for kind in KINDS}
UNITS = {"h": 3600.0, "m": 60.0, "s": 1.0, "ms": 0.001}


def retry_after(headers: Mapping[str, str], document: Any = None) -> float | None:
    """Seconds to wait, from whichever header or field says so; None when nothing does."""
    if (text := headers.get("retry-after-ms")) and (seconds := _float(text)) is not None:
        return seconds / 1000
    if text := headers.get("retry-after"):
        seconds = _float(text)
        return seconds if seconds is not None else _until(_http_date(text))
    if (seconds := exhausted_seconds(headers)) is not None:
        return seconds
    if (text := headers.get("x-ratelimit-reset")) and (at := _float(text)) is not None and at > 1e12:
        return _until(_moment(at / 1000))
    return _retry_info(document)


def exhausted_seconds(headers: Mapping[str, str]) -> float | None:
    """How long until an allowance that is used up comes back; None while there is room in all of them."""
    waits = [duration(headers.get(reset) or "") for left, reset in OPENAI.values() if headers.get(left) == "0"]
    dates = [headers.get(reset) or "" for left, reset in ANTHROPIC.values() if headers.get(left) == "0"]
    waits += [_until(_iso_date(date)) for date in dates]
    return max((wait for wait in waits if wait is not None), default=None) if waits else None


def _retry_info(document: Any) -> float | None:
    """Google says how long to wait inside the error's details."""
    for item in error_details(error_of(document)):
        if isinstance(item.get("retryDelay"), str):
            return duration(item["retryDelay"])
    return None


def error_of(document: Any) -> dict[str, Any]:
    """The error object of an answer, wherever providers put it; empty when there is none."""
    if isinstance(document, list) and document:
        document = document[0]
    error = document.get("error") if isinstance(document, dict) else None
    return error if isinstance(error, dict) else {}


def error_details(error: dict[str, Any]) -> list[dict[str, Any]]:
    details = error.get("details")
    return [item for item in details if isinstance(item, dict)] if isinstance(details, list) else []


def duration(text: str) -> float | None:
    """Seconds in '1m2.5s', '250ms' or '30'; None when it is none of these."""
    if (plain := _float(text)) is not None:
        return plain
    found = DURATION.findall(text)
    if not found or "".join(number + unit for number, unit in found) != text.strip():
        return None
    return sum(float(number) * UNITS[unit] for number, unit in found)


def _float(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if 0 <= value < float("inf") else None


def _http_date(text: str) -> datetime | None:
    from email.utils import parsedate_to_datetime  # few servers write one, and importing it takes 2 ms

    try:
        return parsedate_to_datetime(text)
    except ValueError:
        return None


def _moment(seconds: float) -> datetime | None:
    try:
        return datetime.fromtimestamp(seconds, UTC)
    except (OSError, OverflowError, ValueError):
        return None


def _until(moment: datetime | None) -> float | None:
    if moment is None:
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return max(0.0, (moment - datetime.now(UTC)).total_seconds())


def _iso_date(text: str) -> datetime | None:
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return None
