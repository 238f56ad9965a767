"""What a pattern finds in the response is the target.

Patterns come from benchmark files, so they are not trusted: the `regex` package's matcher is used because it stops by
itself when its time is over, in the middle of a match, which Python's own cannot. A pattern that is too slow is a
fault of the benchmark (ScorerError), never a wrong answer of the model.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from typing import Any, Literal

from proctor.domain.errors import BenchmarkError, ScorerError
from proctor.domain.message import Json
from proctor.domain.response import Response
from proctor.domain.sample import Sample
from proctor.domain.score import Score
from proctor.scorers.options import build, version_of
from proctor.scorers.reading import final_text

NAME = "regex"
REVISION = "2"
MAX_PATTERN_LENGTH = 2000
MAX_TEXT_LENGTH = 200_000
INLINE_SECONDS = 0.02
PATIENT_SECONDS = 1.0


def create(**options: Json) -> RegexMatch:
    scorer = build(RegexMatch, NAME, options)
    if scorer.pattern is None and (scorer.expect == "match" or scorer.group is not None):
        raise BenchmarkError("The scorer 'regex' needs the option 'pattern' for 'group' and for 'expect: match'.")
    if scorer.pattern is not None:
        _check_group(_compile(scorer.pattern, scorer.ignore_case), scorer.group)
    return scorer


@dataclass(frozen=True, slots=True)
class RegexMatch:
    """1 when what the pattern finds (its first group, if it has one) is a target.

    Without a pattern the targets themselves are patterns, and finding one is enough.
    """

    pattern: str | None = None
    group: int | str | None = None
    ignore_case: bool = False
    which: Literal["last", "first"] = "last"
    expect: Literal["target", "match"] = "target"
    """`match`: finding the pattern is enough, whatever the target."""

    @property
    def name(self) -> str:
        return NAME

    @property
    def version(self) -> str:
        return version_of(self, REVISION)

    async def score(self, sample: Sample, response: Response) -> Score:
        if sample.target is None and self.expect == "target":
            return Score.unscored(NAME, reason="the sample has no target")
        text = final_text(response.text)
        if not text:
            return Score.invalid(NAME, reason="the response is empty")
        text = text[-MAX_TEXT_LENGTH:]
        if self.pattern is None:
            return await self._find_targets(sample, text)
        answer = await self._extract(self.pattern, text)
        if answer is None:
            if self.expect == "match":
                return Score(NAME, 0.0, reason=f"{self.pattern!r} is not in the response")
            return Score.invalid(NAME, reason=f"{self.pattern!r} found nothing in the response")
        if self.expect == "match":
            return Score(NAME, 1.0, answer=answer, reason="the response matches the pattern")
        right = any(self._same(answer, target) for target in sample.targets)
        return Score(NAME, float(right), answer=answer, reason="is the target" if right else "is not the target")

    async def _find_targets(self, sample: Sample, text: str) -> Score:
        for target in sample.targets:
            answer = await self._extract(target, text)
            if answer is not None:
                return Score(NAME, 1.0, answer=answer, reason="the response matches the target's pattern")
        return Score(NAME, 0.0, reason="the response does not match the target's pattern")

    async def _extract(self, pattern: str, text: str) -> str | None:
        try:
            compiled = _compile(pattern, self.ignore_case)
        except BenchmarkError as error:
            raise ScorerError(str(error)) from error
        try:
            found = self._search(compiled, text, INLINE_SECONDS, concurrent=False)
        except TimeoutError:
            found = await self._search_patiently(compiled, text)
        if found is None:
            return None
        group = self.group if self.group is not None else min(1, compiled.groups)
        said: str | None = found.group(group)
        return (said or "").strip() or None  # an empty group has found nothing

    async def _search_patiently(self, compiled: Any, text: str) -> Any:
        """Once more in a thread, without holding up anything else."""
        try:
            return await asyncio.to_thread(self._search, compiled, text, PATIENT_SECONDS, concurrent=True)
        except TimeoutError as error:
            raise ScorerError(
                f"The pattern {compiled.pattern!r} took more than {PATIENT_SECONDS} s on {len(text)} characters. "
                "Write it without nested or overlapping repetitions."
            ) from error

    def _search(self, compiled: Any, text: str, seconds: float, *, concurrent: bool) -> Any:
        if self.which == "first":
            return compiled.search(text, timeout=seconds, concurrent=concurrent)
        last = None
        for found in compiled.finditer(text, timeout=seconds, concurrent=concurrent):
            last = found
        return last

    def _same(self, answer: str, target: str) -> bool:
        if self.ignore_case:
            return answer.casefold() == target.strip().casefold()
        return answer == target.strip()


@lru_cache(maxsize=1024)
def _compile(pattern: str, ignore_case: bool) -> Any:
    regex = import_module("regex")
    if len(pattern) > MAX_PATTERN_LENGTH:
        raise BenchmarkError(f"A pattern of {len(pattern)} characters is too long; {MAX_PATTERN_LENGTH} are allowed.")
    try:
        return regex.compile(pattern, regex.IGNORECASE if ignore_case else 0)
    except (regex.error, RecursionError, OverflowError) as error:
        raise BenchmarkError(f"{pattern!r} is not a regular expression: {error}.") from error


def _check_group(compiled: Any, group: int | str | None) -> None:
    known = group is None or (group in compiled.groupindex if isinstance(group, str) else 0 <= group <= compiled.groups)
    if not known:
        raise BenchmarkError(f"The pattern {compiled.pattern!r} has no group {group!r}.")
