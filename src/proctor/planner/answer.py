"""What a model made of the words that the rules did not understand: its answer read strictly, and merged.

It may fill what was not said, never change what was; the words that it names must be words that the rules left over, so
that nothing in the query can talk it into more than the query says.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Callable, Mapping
from decimal import Decimal
from types import MappingProxyType
from typing import Any

from msgspec import Struct

from proctor.domain.taxonomy import SUBJECTS
from proctor.planner.catalogue import PlannerCatalogue
from proctor.planner.phrases import Understood
from proctor.planner.reader import not_understood
from proctor.planner.reading import Reading, Size

MAX_CHARACTERS = 20_000
MAX_FILLS = 20
FIELDS = ("models", "benchmarks", "subjects", "languages", "limit", "cost_usd", "minutes", "epochs", "shots",
          "temperature", "seed", "max_tokens", "none")  # fmt: skip
NUMERIC = ("limit", "cost_usd", "minutes", "epochs", "shots", "temperature", "seed", "max_tokens")
UNWRITTEN = {"limit": 1_000, "epochs": 10, "shots": 10, "max_tokens": 8_192}
"""The most that a model may make of words without a digit."""
SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "fills": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "text": {"type": "string"},
                    "field": {"type": "string", "enum": list(FIELDS)},
                    "value": {"type": "string"},
                },
                "required": ["text", "field", "value"],
                "additionalProperties": False,
            },
        }
    },
    "required": ["fills"],
    "additionalProperties": False,
}


class UnreadableAnswerError(ValueError):
    """A model's answer that holds no document of the form that was asked for; the message says what it holds."""


class Fill(Struct, frozen=True):
    """Words of the query, and what of a plan the model says they mean."""

    text: str
    field: str
    value: str


def read_answer(text: str) -> list[Fill]:
    """The fills of an answer, whatever stands around its JSON; UnreadableAnswerError where there is none."""
    if len(text) > MAX_CHARACTERS:
        raise UnreadableAnswerError(f"the answer has {len(text):,} characters")
    document = _document(text)
    fills = document.get("fills")
    if not isinstance(fills, list) or len(fills) > MAX_FILLS:
        raise UnreadableAnswerError("the answer has no list of at most 20 'fills'")
    return [_fill(item) for item in fills]


def _document(text: str) -> dict[str, Any]:
    """The first JSON object with `fills` in it; a comma too many before a bracket is forgiven."""
    for candidate in (text, re.sub(r",(\s*[}\]])", r"\1", text)):
        at = candidate.find("{")
        while at >= 0:
            try:
                found, _ = json.JSONDecoder().raw_decode(candidate, at)
            except (ValueError, RecursionError):
                found = None
            if isinstance(found, dict) and "fills" in found:
                return found
            at = candidate.find("{", at + 1)
    kind = "JSON that breaks off or is no object with 'fills'" if "{" in text else "no JSON"
    raise UnreadableAnswerError(f"the answer has {kind}")


def _fill(item: Any) -> Fill:
    if not isinstance(item, dict) or set(item) != {"text", "field", "value"}:
        raise UnreadableAnswerError("a fill is not of the form text, field, value")
    if not isinstance(item["text"], str) or item["field"] not in FIELDS:
        raise UnreadableAnswerError(f"a fill names the field {str(item['field'])[:40]!r}")
    value = item["value"]
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise UnreadableAnswerError("a fill has a value that is no text")
    return Fill(item["text"], item["field"], str(value).strip())


def merge_answer(
    reading: Reading,
    catalogue: PlannerCatalogue,
    fills: list[Fill],
    limits: Mapping[str, Any] = MappingProxyType({}),
) -> list[tuple[str, str]]:
    """Put what may be put into the reading; what may not, with the reason. `limits` of a plan are only lowered."""
    refused: list[tuple[str, str]] = []
    for fill in fills:
        if fill.field == "none":
            continue
        places = _places(reading, fill.text)
        if not places:
            refused.append((fill.text, "these are no words that the rules left over"))
            continue
        why = _raises(fill, limits) or _invents(fill) or _SETTERS[fill.field](reading, catalogue, fill.value, places[0])
        if why is None:
            reading.phrases.use(*places)
            name = {"limit": "benchmarks.limit", "cost_usd": "limits.cost_usd", "minutes": "limits.minutes"}
            reading.phrases.understood.append(Understood(fill.text, name.get(fill.field, fill.field), fill.value))
        else:
            refused.append((fill.text, why))
    return refused


def _raises(fill: Fill, limits: Mapping[str, Any]) -> str | None:
    """A limit is raised by the query's own words, never by what a model makes of others."""
    given = limits.get(fill.field)
    if given is None or not re.fullmatch(r"\d{1,6}(\.\d{1,4})?", fill.value):
        return None
    return "only the query itself raises a limit of the plan" if Decimal(fill.value) > Decimal(str(given)) else None


def _invents(fill: Fill) -> str | None:
    """A number stands in the words that it is read from; where these have none, it is a small one."""
    if fill.field not in NUMERIC or not re.fullmatch(r"\d+(\.\d+)?", fill.value):
        return None
    written = {Decimal(part) for part in re.findall(r"\d+(?:\.\d+)?", unicodedata.normalize("NFKC", fill.text))}
    if written:
        return None if Decimal(fill.value) in written else f"{fill.value} does not stand in these words"
    most = UNWRITTEN.get(fill.field)
    return f"{fill.value} is more than these words say" if most is not None and Decimal(fill.value) > most else None


def _places(reading: Reading, text: str) -> list[int]:
    """The phrases that were left over and that these words cover; none where the words are no such phrases."""
    wanted = " ".join(text.lower().split())
    left = [" ".join(words.lower().split()) for words in not_understood(reading)]
    if not wanted or not any(wanted in words for words in left):
        return []
    phrases, begin = reading.phrases, reading.phrases.text.lower().find(text.lower().strip())
    end = begin + len(text.strip())
    inside = [at for at, item in enumerate(phrases.items) if begin <= item.start and item.end <= end]
    return [] if begin < 0 else [at for at in inside if at not in phrases.used]


Setter = Callable[[Reading, PlannerCatalogue, str, int], str | None]
_TAKEN = "the query says this itself"


def _set_model(reading: Reading, catalogue: PlannerCatalogue, value: str, at: int) -> str | None:  # noqa: ARG001
    known = {item.name for item in catalogue.models} | {catalogue.local}
    if value not in known:
        return f"there is no model {value[:60]!r} in the lists here"
    if reading.models and not any(one.field == "models" for one in reading.phrases.understood):
        return _TAKEN
    reading.models.append(value)
    return None


def _set_benchmark(reading: Reading, catalogue: PlannerCatalogue, value: str, at: int) -> str | None:
    if catalogue.benchmark(value) is None:
        return f"there is no benchmark {value[:60]!r}"
    if any(reading.phrases.items[place].kind == "benchmark" for _, place in reading.benchmarks):
        return _TAKEN
    reading.benchmarks.append((value, at))
    return None


def _set_word(name: str, known: tuple[str, ...]) -> Setter:
    def put(reading: Reading, catalogue: PlannerCatalogue, value: str, at: int) -> str | None:  # noqa: ARG001
        words: list[str] = getattr(reading, name)
        if known and value not in known:
            return f"{value[:60]!r} is not in the vocabulary"
        if not known and not re.fullmatch(r"[a-z]{2}", value):
            return f"{value[:60]!r} is no code of a language"
        if words or reading.benchmarks:
            return _TAKEN
        words.append(value)
        return None

    return put


def _set_limit(reading: Reading, catalogue: PlannerCatalogue, value: str, at: int) -> str | None:  # noqa: ARG001
    if reading.sizes:
        return _TAKEN
    if not re.fullmatch(r"[1-9]\d{0,6}", value):
        return f"{value[:60]!r} is no number of samples"
    reading.sizes.append(Size("count", int(value), at))
    return None


def _set_amount(name: str) -> Setter:
    def put(reading: Reading, catalogue: PlannerCatalogue, value: str, at: int) -> str | None:  # noqa: ARG001
        if getattr(reading, name) is not None:
            return _TAKEN
        if not re.fullmatch(r"\d{1,6}(\.\d{1,4})?", value) or not float(value):
            return f"{value[:60]!r} is no amount"
        setattr(reading, name, Decimal(value) if name == "cost_usd" else float(value))
        return None

    return put


def _set_option(name: str, pattern: str) -> Setter:
    def put(reading: Reading, catalogue: PlannerCatalogue, value: str, at: int) -> str | None:  # noqa: ARG001
        if name in reading.options:
            return _TAKEN
        if not re.fullmatch(pattern, value):
            return f"{value[:60]!r} is no value of {name}"
        reading.options[name] = float(value) if "." in value else int(value)
        return None

    return put


_SETTERS: Mapping[str, Setter] = {
    "models": _set_model,
    "benchmarks": _set_benchmark,
    "subjects": _set_word("subjects", SUBJECTS),
    "languages": _set_word("languages", ()),
    "limit": _set_limit,
    "cost_usd": _set_amount("cost_usd"),
    "minutes": _set_amount("minutes"),
    "epochs": _set_option("epochs", r"[1-9]\d{0,2}"),
    "shots": _set_option("shots", r"\d{1,2}"),
    "temperature": _set_option("temperature", r"[01](\.\d+)?|2"),
    "seed": _set_option("seed", r"\d{1,9}"),
    "max_tokens": _set_option("max_tokens", r"[1-9]\d{0,5}"),
}
