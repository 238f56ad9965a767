"""Filters and exact match as the Language Model Evaluation Harness defines them, for its imported tasks."""

from __future__ import annotations

import asyncio
import string
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from importlib import import_module
from typing import Any

from proctor.domain.errors import BenchmarkError, ScorerError
from proctor.domain.message import Json
from proctor.domain.response import Response
from proctor.domain.sample import Sample
from proctor.domain.score import Score
from proctor.scorers.options import build, version_of
from proctor.scorers.reading import final_text

NAME = "lm_eval"
REVISION = "1"
INVALID = "[invalid]"
DEFAULT_PATTERN = r"#### (\-?[0-9\.\,]+)"
SECONDS = 2.0
MAX_LENGTH = 200_000
_PUNCTUATION = str.maketrans("", "", string.punctuation)
_DIGITS = str.maketrans("", "", string.digits)


def create(**options: Json) -> HarnessMatch:
    scorer = build(HarnessMatch, NAME, options)
    patterns = [str(step.get("regex_pattern") or DEFAULT_PATTERN) for step in scorer.steps if _name(step) == "regex"]
    for pattern in [*patterns, *scorer.regexes_to_ignore]:
        _compile(pattern)
    return scorer


@dataclass(frozen=True, slots=True)
class HarnessMatch:
    """1 when the response, passed through the filters, is a target; outer white space is ignored."""

    label: str = "exact_match"
    filters: Mapping[str, Json] | None = None
    """{steps: [{function: regex, …}, …]}, run one after the other."""
    ignore_case: bool = False
    ignore_punctuation: bool = False
    ignore_numbers: bool = False
    regexes_to_ignore: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        return self.label

    @property
    def version(self) -> str:
        return version_of(self, REVISION)

    @property
    def steps(self) -> Sequence[Mapping[str, Json]]:
        found: Sequence[Mapping[str, Json]] = (self.filters or {}).get("steps", ())
        return found

    async def score(self, sample: Sample, response: Response) -> Score:
        if not sample.targets:
            return Score.unscored(self.name, reason="the sample has no target")
        text = final_text(response.text)[-MAX_LENGTH:]
        if not text:
            return Score.invalid(self.name, reason="the response is empty")
        answer = await asyncio.to_thread(self._filtered, text)
        if answer == INVALID:
            return Score.invalid(self.name, reason="the filters found no answer in the response")
        said = await asyncio.to_thread(self._normal, answer)
        for target in sample.targets:
            if said == self._normal(target):
                return Score(self.name, 1.0, answer=answer, reason="the same as the target")
        return Score(self.name, 0.0, answer=answer, reason="differs from the target")

    def _filtered(self, text: str) -> str:
        for step in self.steps:
            text = _FILTERS[_name(step)](text, step)
        return text

    def _normal(self, text: str) -> str:
        for pattern in self.regexes_to_ignore:
            text = _timed(partial(_compile(pattern).sub, "", text, timeout=SECONDS), pattern)
        text = text.lower() if self.ignore_case else text
        text = text.translate(_PUNCTUATION) if self.ignore_punctuation else text
        return (text.translate(_DIGITS) if self.ignore_numbers else text).strip()


def _name(step: Mapping[str, Json]) -> str:
    name = str(step.get("function"))
    if name not in _FILTERS:
        raise BenchmarkError(f"The scorer 'lm_eval' has no filter {name!r}. There are: {', '.join(_FILTERS)}.")
    return name


def _by_regex(text: str, step: Mapping[str, Json]) -> str:
    pattern = str(step.get("regex_pattern") or DEFAULT_PATTERN)
    fallback = str(step.get("fallback") or INVALID)
    found = _timed(partial(_compile(pattern).findall, text, timeout=SECONDS), pattern)
    place = int(step.get("group_select") or 0)
    if not -len(found) <= place < len(found):
        return fallback
    match = found[place]
    if isinstance(match, tuple):
        match = next((group for group in match if group), None)
    return fallback if match is None else str(match).strip()


def _by_map(text: str, step: Mapping[str, Json]) -> str:
    mapped = (step.get("mapping_dict") or {}).get(text, step.get("default_value"))
    return INVALID if mapped is None else str(mapped)


_FILTERS: dict[str, Callable[[str, Mapping[str, Json]], str]] = {
    "regex": _by_regex,
    "map": _by_map,
    "take_first": lambda text, _: text,
    "remove_whitespace": lambda text, _: text.removeprefix(" "),
    "lowercase": lambda text, _: text.lower(),
    "uppercase": lambda text, _: text.upper(),
}


def _timed(work: Any, pattern: str) -> Any:
    try:
        return work()
    except TimeoutError as slow:
        raise ScorerError(
            f"The pattern {pattern!r} took more than {SECONDS} s; write it without nested repeats."
        ) from slow


@lru_cache(maxsize=256)
def _compile(pattern: str) -> Any:
    regex = import_module("regex")
    try:
        return regex.compile(pattern)
    except (regex.error, RecursionError, OverflowError) as error:
        raise BenchmarkError(f"{pattern!r} is not a regular expression: {error}.") from error
