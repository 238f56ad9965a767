"""Queries that are asked about, not guessed at: of which nothing is understood, or that name what is not here."""

from __future__ import annotations

import re

from proctor.domain.errors import UserError
from proctor.domain.text import shorten
from proctor.planner.catalogue import PlannerCatalogue
from proctor.planner.choice import DEFAULT, USUAL
from proctor.planner.reading import Reading, Unsupported

UNKNOWN_ENOUGH = 2
"""So many words that mean nothing here, and nothing that is measured: the sentence is about something else."""

READ_IN = "write it in English, German, Korean, Japanese, Chinese, Spanish or French"


def refuse_nothing(reading: Reading, catalogue: PlannerCatalogue) -> None:
    """A query of which nothing was understood is asked about, not guessed at."""
    _refuse_absent(reading, catalogue)
    _refuse_unknown(reading, catalogue)
    # `puzzles` is what is counted, and also a benchmark; within a sentence about something else it is neither.
    names_default = not _unknown_words(reading) and any(item.means("default") for item in reading.phrases.items)
    is_something = bool(reading.phrases.understood or reading.benchmarks or reading.sizes or names_default)
    is_elsewhere = any(item.kind == "elsewhere" for item in reading.phrases.items)
    topics = (reading.benchmarks, reading.subjects, reading.groups, reading.categories)
    if is_elsewhere and not any(topics):
        is_something = False
    said = (*topics, reading.models, reading.judge, reading.excluded_benchmarks)
    is_measured = any(said) or any(item.kind == "sample" for item in reading.phrases.items)
    if is_something and (is_measured or len(_unknown_words(reading)) < UNKNOWN_ENOUGH):
        return
    if other := foreign_script(reading):
        raise UserError(f"The query is written in a script that is not read here ({other}): {READ_IN}.")
    raise UserError(
        f"Nothing of {shorten(reading.phrases.text, 80)!r} names a model, a benchmark, a subject, a language, a size "
        "or a budget. Try: compare haiku and gpt-5-mini on German maths, 100 questions, under $2."
    )


def foreign_script(reading: Reading) -> str | None:
    """The words in letters of none of the languages that are read; None where there are none."""
    found = re.findall(r"[\u0370-\u1fff]+", reading.phrases.text)
    return shorten(" ".join(found), 40) if found else None


def _refuse_absent(reading: Reading, catalogue: PlannerCatalogue) -> None:
    """A UserError where all that is to be asked, or all that is asked, is known by name and is not here."""
    topics = (reading.benchmarks, reading.subjects, reading.groups, reading.categories, reading.languages)
    for text, subject in reading.absent:
        near = [item.name for item in catalogue.benchmarks if item.tags.get("subject") == subject]
        near.sort(key=lambda name: name not in (USUAL.get(subject), DEFAULT))
        told = f"there is no benchmark {text!r} here" + (f"; the nearest: {', '.join(near[:3])}" if near else "")
        if not any(topics):
            raise UserError(f"{told[0].upper()}{told[1:]}. Name one that 'proctor benchmarks' lists.")
        reading.missing.append((subject, told, tuple(near[:3])))
    for text in reading.absent_models:
        told = f"no list here has {text!r}: write it as provider/name, for example ollama/{_plain_name(text)}"
        if not reading.models:
            raise UserError(f"{told[0].upper()}{told[1:]}.")
        reading.unsupported.append(Unsupported(text, told))


_NAME = re.compile(r"[A-Za-z][A-Za-z0-9.+_-]{2,}")
_CALLED = re.compile(r"\s*[-„“\"'`]*\s*(?:benchmarks?|벤치마크|ベンチマーク|ベンチ|基准)", re.IGNORECASE)
_CALLING = re.compile(r"\b(?:benchmark|基准)\s+[„“\"'`]*$", re.IGNORECASE)
_DESCRIBING = frozenset(
    {"own", "usual", "standard", "same", "official", "internal", "public", "common", "popular", "favorite", "hardest",
     "easiest", "hard", "easy", "first", "second", "last", "right", "proper", "suitable", "general", "simple",
     "typical"}
)  # fmt: skip


def _refuse_unknown(reading: Reading, catalogue: PlannerCatalogue) -> None:
    """`haiku on the foobar benchmark`: a UserError where what stands as a benchmark's name is none, and no other is."""
    from difflib import get_close_matches  # only for an unknown word, and not free to import

    if reading.benchmarks or reading.subjects or reading.groups or reading.categories or reading.languages:
        return
    text = reading.phrases.text
    for at in _unknown_words(reading):
        item = reading.phrases.items[at]
        word = text[item.start : item.end]
        is_called = _CALLED.match(text, item.end) or _CALLING.search(text[: item.start])
        if not is_called or not _NAME.fullmatch(word) or word.lower() in _DESCRIBING:
            continue
        near = get_close_matches(word.lower(), [one.name for one in catalogue.benchmarks], 3, 0.5)
        told = f"; the nearest: {', '.join(near)}" if near else ""
        raise UserError(f"There is no benchmark {word!r} here{told}. Name one that 'proctor benchmarks' lists.")


def _plain_name(text: str) -> str:
    return re.sub(r"[^a-z0-9.]+", "-", text.lower()).strip("-.") or "name"


def _unknown_words(reading: Reading) -> list[int]:
    items = reading.phrases.items
    return [at for at, item in enumerate(items) if item.kind == "unknown" and at not in reading.phrases.used]
