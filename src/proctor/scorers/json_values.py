"""JSON inside text: fenced, quoted, wrapped in tags or in a sentence."""

from __future__ import annotations

import json
import re
from typing import Any

import orjson

from proctor.scorers.contrast import is_ruled_out
from proctor.scorers.lazy_pattern import lazy_pattern
from proctor.scorers.markers import CORRECTION

MAX_LENGTH = 200_000
MAX_STARTS = 1_000
# Possessive repeats: a line of nothing but backticks must not be tried from each of its lengths.
_FENCE = lazy_pattern(
    r"^[ \t>]*+(?:`{3,}+|~{3,}+)[ \t]*+(\w*+)[^\n]*+\n(.*?)(?:^[ \t>]*+(?:`{3,}+|~{3,}+)[ \t]*+\r?$|\Z)",
    re.DOTALL | re.MULTILINE,
)
_START = lazy_pattern(r"[{\[]")
# What stands between a JSON value and a later one that replaces it, or that is the result of it.
_ANNOUNCED = lazy_pattern(
    rf"{CORRECTION.pattern}"
    r"""|\b(?:should\ (?:be|have)|corrected|fixed|updated|revised|instead|final|richtig|korrigiert\w*|correct[oa]
    |corregid[oa]|corrigée?|pardon|désolée?|entschuldigung|lo\ siento)\b
    |正しくは|修正|すみません|올바른|수정|죄송|应该是|應該是|修改|改为|抱歉
    |\b(?:output|result|answer|ausgabe|ergebnis|antwort|resultado|respuesta|salida|résultat|réponse
      |sortie)\b[^.{\[]{0,20}\Z
    |(?:出力|結果|答え|결과|출력|정답|输出|结果|答案)[^。{\[]{0,10}\Z""",
    re.VERBOSE | re.IGNORECASE,
)
_CLOSING = {"{": "}", "[": "]"}


def _refuse(word: str) -> None:
    raise ValueError(f"{word} is not JSON")


_DECODER = json.JSONDecoder(parse_constant=_refuse)


def json_in(text: str) -> str:
    """The JSON of a response, as it is written there; the text itself where there is none, or no telling which.

    The whole text, else the last fenced block that is JSON, else the only object or list in the text, or the last where
    the words before it make it the result or a correction; of an object and a list beside each other, the last. What is
    ruled out ('… and not {"a": 1}') does not count.
    """
    text = text.strip().removeprefix("\ufeff")
    if _is_json(text):
        return text
    fenced: list[str] = [body for found in _FENCE.finditer(text) if _is_json(body := found[2].strip())]
    if fenced:
        return fenced[-1]
    written = _places(text[:MAX_LENGTH])
    places = [place for place in written if not is_ruled_out(text, *place)]
    if not places or _is_taken_back(text, written[-1][1]):
        return text
    start, end = places[-1]
    same_kind = [place for place in places if text[place[0]] == text[start]]
    if len(same_kind) > 1 and not _ANNOUNCED.search(text, same_kind[-2][1], start):
        return text
    return text[start:end]


def json_values(text: str) -> list[str]:
    """The objects and lists written in a text, outermost only; what is cut off or malformed is passed over whole."""
    text = text[:MAX_LENGTH]
    return [text[start:end] for start, end in _places(text)]


def _is_taken_back(text: str, end: int) -> bool:
    """Whether a correction follows that is cut off."""
    return _START.search(text, end) is not None and _ANNOUNCED.search(text, end) is not None


def _places(text: str) -> list[tuple[int, int]]:
    found: list[tuple[int, int]] = []
    position = 0
    for _ in range(MAX_STARTS):
        start = _START.search(text, position)
        if start is None:
            break
        end = _value_end(text, start.start())
        if end is not None:
            found.append((start.start(), end))
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
