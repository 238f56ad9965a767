"""A scorer as one text: on the command line, and in the library."""

from __future__ import annotations

from typing import Any

import orjson

from proctor.domain.benchmark import ScorerSpec
from proctor.domain.errors import PlanError

CUSTOM = "python://"


def read_scorer(text: str) -> ScorerSpec:
    """A scorer as written on the command line: NAME, NAME:key=value,key=value or NAME:{JSON}."""
    if text.startswith(CUSTOM):
        module, _, rest = text.removeprefix(CUSTOM).partition(":")
        function, _, options = rest.partition(":")
        name = f"{CUSTOM}{module}:{function}"
    else:
        name, _, options = text.partition(":")
    if not name:
        raise PlanError(f"{text!r} names no scorer: write NAME, NAME:key=value or NAME:{{JSON}}.")
    return ScorerSpec(name, _options(options.strip(), text) if options.strip() else {})


def _options(text: str, whole: str) -> dict[str, Any]:
    if text.startswith("{"):
        try:
            found: dict[str, Any] = orjson.loads(text)
        except orjson.JSONDecodeError as error:
            raise PlanError(f"The options in {whole!r} are not valid JSON: {error}.") from None
        return found
    pairs = [part.partition("=") for part in text.split(",")]
    if any(not key.strip() or not equals for key, equals, _ in pairs):
        raise PlanError(f'The options in {whole!r} are written key=value,key=value, or as JSON: {{"key": value}}.')
    return {key.strip(): _value(value) for key, _, value in pairs}


def _value(text: str) -> Any:
    """A number, true, false or null as JSON has them; anything else is text."""
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        return text
