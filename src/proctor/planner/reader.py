"""Reads a query: its phrases, then slot by slot, the most particular first."""

from __future__ import annotations

import re
from typing import Literal

from msgspec.structs import replace

from proctor.planner.amounts import merge_ranges
from proctor.planner.catalogue import PlannerCatalogue
from proctor.planner.corrections import (
    apply_corrections,
    apply_scales,
    apply_suppositions,
    drop_plans,
    merge_refusals,
    refuse_negative,
)
from proctor.planner.phrases import Phrases, Understood
from proctor.planner.phrasing import complete_names, read_phrases, read_variants
from proctor.planner.reading import Reading, Unsupported
from proctor.planner.slots.addressed import drop_addressed
from proctor.planner.slots.codes import merge_codes
from proctor.planner.slots.every import read_every
from proctor.planner.slots.judges import read_judges
from proctor.planner.slots.languages import drop_own_languages, merge_language_groups
from proctor.planner.slots.left_out import merge_left_out
from proctor.planner.slots.lines import merge_demo
from proctor.planner.slots.lone_codes import merge_lone_codes
from proctor.planner.slots.minutes import read_minutes
from proctor.planner.slots.models import merge_versions, read_models
from proctor.planner.slots.money import read_money
from proctor.planner.slots.options import read_options
from proctor.planner.slots.others import drop_other_numbers
from proctor.planner.slots.rules import read_gates, read_stop_rule
from proctor.planner.slots.several import read_single, settle_sizes
from proctor.planner.slots.sizes import (
    read_bare_numbers,
    read_difference,
    read_each,
    read_efforts,
    read_points,
    read_sizes,
)
from proctor.planner.slots.topics import merge_categories, merge_fields, name_defaults, read_topics
from proctor.planner.slots.versions import merge_ranges_of_versions, merge_sizes
from proctor.planner.slots.wholes import merge_wholes, merge_written_fractions, read_whole
from proctor.planner.spelling import mend_spelling

_UNSUPPORTED = {
    "schedule": "a plan is run when it is started; let your scheduler call 'proctor run'",
    "notify": "a plan cannot send messages; 'proctor run' ends with an exit code that your scheduler can act on",
    "publish": "a plan publishes nothing; 'proctor report' and 'proctor export' write files",
    "device": "where a model computes is the business of the server that it is served by",
    "finetune": "models are measured here, not trained",
}
_SILENT = frozenset(
    {"filler", "stop", "modelword", "request", "counter", "allof", "only", "each", "total", "sample", "atmost",
     "atleast", "metric", "budget", "difference", "see", "example", "gatebelow", "correction", "age",
     "categoryword", "negative", "untilword", "decides", "timeword", "effortlevel",
     "effortword", "judgeverb", "bothways", "sizeword", "swap"}
)  # fmt: skip
"""Kinds that say nothing without a neighbour."""


def read_query(query: str, catalogue: PlannerCatalogue) -> Reading:
    """What a query says; a UserError where it contradicts itself or cannot be followed."""
    reading = Reading(read_phrases(query, catalogue))
    mend_spelling(reading, catalogue)
    apply_suppositions(reading.phrases)
    complete_names(reading.phrases, catalogue)
    read_variants(reading.phrases, catalogue)
    merge_demo(reading)
    merge_versions(reading.phrases, catalogue)
    merge_sizes(reading.phrases, catalogue)
    merge_ranges_of_versions(reading.phrases, catalogue)
    merge_sizes(reading.phrases, catalogue)
    name_defaults(reading.phrases)
    merge_categories(reading.phrases, catalogue)
    merge_fields(reading.phrases)
    merge_codes(reading.phrases, catalogue)
    merge_left_out(reading.phrases)
    merge_lone_codes(reading.phrases, catalogue)
    merge_language_groups(reading.phrases)
    drop_own_languages(reading.phrases)
    drop_addressed(reading.phrases, catalogue)
    drop_other_numbers(reading.phrases)
    refuse_negative(reading.phrases)
    merge_written_fractions(reading.phrases)
    reading.ranges = merge_ranges(reading.phrases)
    merge_wholes(reading.phrases)
    merge_refusals(reading.phrases)
    apply_corrections(reading.phrases)
    drop_plans(reading.phrases)
    reading.scale = apply_scales(reading.phrases)
    read_points(reading)
    read_stop_rule(reading)
    read_money(reading)
    read_minutes(reading)
    read_options(reading)
    read_gates(reading)
    read_judges(reading, catalogue)
    _read_absent(reading)
    read_models(reading, catalogue)
    read_every(reading)
    read_topics(reading, catalogue)
    read_difference(reading)
    read_sizes(reading)
    read_bare_numbers(reading)
    settle_sizes(reading)
    read_single(reading)
    read_efforts(reading)
    read_each(reading)
    reading.wants_all = any(
        item.kind == "allof" and not (reading.wants_every and at in reading.phrases.used)
        for at, item in enumerate(reading.phrases.items)
    )
    read_whole(reading)
    _read_intent(reading)
    _read_unsupported(reading)
    return reading


def _read_absent(reading: Reading) -> None:
    """Names of the field that nothing here answers to: told with what is nearest, never passed over."""
    phrases = reading.phrases
    is_korean = any(item.means("language") == "ko" for item in phrases.items)
    for at in list(phrases.free("absent")):
        if is_korean and phrases.items[at].value.startswith("reading comprehension/"):
            phrases.items[at] = replace(phrases.items[at], meanings=(("bench", "kobest-boolq"),))
            continue
        reading.absent.append((phrases.words(at), phrases.items[at].value.partition("/")[2]))
        phrases.use(at)
    for at in list(phrases.free("absentmodel")):
        last = at
        while last + 1 < len(phrases.items) and _belongs_to_name(phrases, last + 1):
            last += 1
        written = phrases.text[phrases.items[at].start : phrases.items[last].end]
        server = re.search(r"\b(ollama|vllm)\b", phrases.text.lower())
        if server is not None:  # `llama3.2 from ollama`
            name = f"{server[1]}/{re.sub('[^a-z0-9.:]+', '-', written.lower())}"
            phrases.items[at] = replace(phrases.items[at], meanings=(("model", name), ("unlisted", name)))
            phrases.use(*range(at + 1, last + 1), *_naming(phrases, server[1]))
            continue
        reading.absent_models.append(written)
        phrases.use(*range(at, last + 1))


def _naming(phrases: Phrases, server: str) -> list[int]:
    """Where a server of models is named."""
    return [at for at, item in enumerate(phrases.items) if phrases.words(at).lower().split()[-1:] == [server]]


def _belongs_to_name(phrases: Phrases, at: int) -> bool:
    """A version or a size behind a model's name: `llama 3.1 8b instruct`."""
    item = phrases.items[at]
    written = phrases.text[item.start : item.end].lower()
    gap = phrases.text[phrases.items[at - 1].end : item.start]
    follows = phrases.items[at + 1].kind if at + 1 < len(phrases.items) else ""
    behind = phrases.items[at + 1] if at + 1 < len(phrases.items) else None
    if written == ":":  # `qwen2.5:7b`
        return not gap and behind is not None and behind.start == item.end and behind.number is not None
    is_number = item.number is not None and follows not in ("sample", "currency", "minutes", "percent", "shot")
    is_word = written in ("b", "instruct", "chat", "large", "small", "medium", "coder", "turbo", "v", "r", ".")
    return gap in ("", " ", "-", ":") and (is_number or is_word) and (is_number or item.kind != "stop" or not gap)


def _read_intent(reading: Reading) -> None:
    phrases = reading.phrases
    wishes: tuple[tuple[str, Literal["compare", "rank"]], ...] = (("compare", "compare"), ("rank", "rank"))
    for kind, wish in wishes:
        meant = [at for at, item in enumerate(phrases.items) if at not in phrases.used and item.means(kind) is not None]
        places = [at for at in meant if phrases.words(at).lower() not in _BETWEEN_MODELS or _is_between(phrases, at)]
        if kind == "compare" and not places:
            places = _either_or(phrases)
        if places:
            phrases.take("then", wish, places[0])
            phrases.use(*places)
            reading.then = wish
    if reading.until == "decided" and reading.then is None:  # between which is to be decided
        said = next(one.text for one in phrases.understood if one.field == "until")
        phrases.understood.append(Understood(said, "then", "compare"))
        reading.then = "compare"


_BETWEEN_MODELS = frozenset({"or", "对"})
"""Words that compare only where a model stands on both sides, and otherwise say nothing."""


def _is_between(phrases: Phrases, at: int) -> bool:
    """`haiku对sonnet`: whether there are models right before and behind; `or` asks which only in a question."""
    if phrases.words(at).lower() == "or":
        return False
    sides = phrases.items[max(0, at - 2) : at], phrases.items[at + 1 : at + 3]
    return all(any(item.kind in ("model", "family", "models", "provider") for item in side) for side in sides)


def _either_or(phrases: Phrases) -> list[int]:
    """`haiku or sonnet?`: a question that names two models asks which."""
    words = ("or", "oder", "o", "ou", "u", "아니면", "또는", "か", "それとも", "还是")
    named = ("model", "family")
    for at in range(1, len(phrases.items) - 1):
        beside = phrases.items[at - 1].kind in named and phrases.items[at + 1].kind in named
        if beside and phrases.words(at).lower() in words and re.search("[?\uff1f]", phrases.text):
            return [at]
    return []


def _read_unsupported(reading: Reading) -> None:
    phrases = reading.phrases
    for at in list(phrases.free("unsupported")):
        reading.unsupported.append(Unsupported(phrases.words(at), _UNSUPPORTED[phrases.items[at].value]))
        phrases.use(at)
    for at in list(phrases.free("address")):
        why = f"a server is part of a model's name: openai/NAME?base_url={phrases.items[at].value}"
        reading.unsupported.append(Unsupported(phrases.words(at), why))
        phrases.use(at)


def not_understood(reading: Reading) -> list[str]:
    """The words of the query that changed nothing; articles, particles and polite words are not counted."""
    phrases = reading.phrases
    free = [(at, item) for at, item in enumerate(phrases.items) if at not in phrases.used]
    places = [at for at, item in free if item.kind not in _SILENT or item.means("told") is not None]
    weak = [at for at in places if phrases.items[at].kind == "compare" and phrases.words(at).lower() in _BETWEEN_MODELS]
    places = [at for at in places if at not in weak]
    groups: list[list[int]] = []
    for at in places:
        if groups and at == groups[-1][-1] + 1:
            groups[-1].append(at)
        else:
            groups.append([at])
    return [phrases.words(*group) for group in groups]
