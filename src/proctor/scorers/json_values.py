"""JSON inside text: fenced, quoted, wrapped in tags or in a sentence."""

from __future__ import annotations

import json
import re
from typing import Any

import orjson

LONGEST = 200_000
MOST_STARTS = 1_000
_FENCE = re.compile(
    r"^[ \t>]*(?:```+|~~~+)[ \t]*(\w*)[^\n]*\n(.*?)(?:^[ \t>]*(?:```+|~~~+)[ \t]*\r?$|\Z)", re.DOTALL | re.MULTILINE
)
_START = re.compile(r"[{\[]")
_CLOSING = {"{": "}", "[": "]"}


def _refuse(word: str) -> None:
    raise ValueError(f"{word} is not JSON")


_DECODER = json.JSONDecoder(parse_constant=_refuse)


def json_in(text: str) -> str:
    """The JSON of a response, as it is written there; the text itself where there is none, or no telling which.

    The whole text, else the last fenced block that is JSON, else the only object or list in the text; of an object and
    a list beside each other, the last.
    """
    text = text.strip().removeprefix("\ufeff")
    if _is_json(text):
        return text
    fenced: list[str] = [body for found in _FENCE.finditer(text) if _is_json(body := found[2].strip())]
    if fenced:
        return fenced[-1]
    found = json_values(text) or [text]
    same_kind = [value for value in found if value[0] == found[-1][0]]
    return found[-1] if len(same_kind) == 1 else text


def json_values(text: str) -> list[str]:
    """The objects and lists written in a text, outermost only; what is cut off or malformed is passed over whole."""
    text = text[:LONGEST]
    found: list[str] = []
    position = 0
    for _ in range(MOST_STARTS):
        start = _START.search(text, position)
        if start is None:
            break
        end = _value_end(text, start.start())
        if end is not None:
            found.append(text[start.start() : end])
        position = end or _bracket_end(text, start.start())
    return found


def _value_end(text: str, start: int) -> int | None:
    try:
        return _DECODER.raw_decode(text, start)[1]
    except (ValueError, RecursionError):
        return None


def _bracket_end(text: str, start: int) -> int:
    """Just behind the bracket that closes the one here; the end of the text where none does."""
    opening, depth = text[start], 0
    for found in re.finditer(re.escape(opening) + "|" + re.escape(_CLOSING[opening]), text[start:]):
        depth += 1 if found[0] == opening else -1
        if depth == 0:
            return start + found.end()
    return len(text)


def _is_json(text: str) -> bool:
    return loaded(text) is not NOTHING


NOTHING: Any = object()


def loaded(text: str) -> Any:
    """The value of a JSON text; NOTHING when it is none."""
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        return NOTHING
