"""ROUGE-1, ROUGE-2 and ROUGE-L: overlap of words, pairs of words and the longest common subsequence."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from proctor.domain.message import Json
from proctor.domain.response import Response
from proctor.domain.sample import Sample
from proctor.domain.score import Score
from proctor.domain.scorer import traits
from proctor.scorers.options import build, version_of
from proctor.scorers.reading import final_text
from proctor.scorers.words import rouge_words

NAME = "rouge"
REVISION = "1"
LONG = 5_000
MAX_WORDS = 4000  # words; the longest common subsequence takes the product of both lengths


@traits(has_votes=False)
def create(**options: Json) -> Rouge:
    return build(Rouge, NAME, options)


@dataclass(frozen=True, slots=True)
class Rouge:
    """The F-measure of the chosen kind against the best target, without stemming; `details` has all three kinds."""

    kind: Literal["rouge1", "rouge2", "rougeL"] = "rougeL"

    @property
    def name(self) -> str:
        return NAME

    @property
    def version(self) -> str:
        return version_of(self, REVISION)

    def is_slow_for(self, response: Response) -> bool:
        return len(response.text) > LONG

    async def score(self, sample: Sample, response: Response) -> Score:
        if sample.target is None:
            return Score.unscored(NAME, reason="the sample has no target")
        text = final_text(response.text)
        if not text:
            return Score.invalid(NAME, reason="the response is empty")
        marks = self._best(text, sample)
        return Score(
            NAME, marks[self.kind], answer=text, reason=f"{self.kind} against the closest target", details=marks
        )

    def _best(self, text: str, sample: Sample) -> dict[str, float]:
        return max((rouge(text, target) for target in sample.targets), key=lambda marks: marks[self.kind])


def rouge(said: str, wanted: str) -> dict[str, float]:
    """The three F-measures; only the first 4,000 words of each text are compared."""
    a, b = rouge_words(said)[:MAX_WORDS], rouge_words(wanted)[:MAX_WORDS]
    return {"rouge1": _ngrams(a, b, 1), "rouge2": _ngrams(a, b, 2), "rougeL": _f(_common(a, b), len(a), len(b))}


def _ngrams(a: Sequence[str], b: Sequence[str], n: int) -> float:
    first = Counter(zip(*(a[i:] for i in range(n)), strict=False))
    second = Counter(zip(*(b[i:] for i in range(n)), strict=False))
    return _f((first & second).total(), first.total(), second.total())


def _f(shared: int, a: int, b: int) -> float:
    return 2 * shared / (a + b) if shared else 0.0


def _common(a: Sequence[str], b: Sequence[str]) -> int:
    """Length of the longest common subsequence, by bit parallelism: each word of `b` has a bit."""
    places: dict[str, int] = {}
    for index, word in enumerate(b):
        places[word] = places.get(word, 0) | (1 << index)
    row = every = (1 << len(b)) - 1
    for word in a:
        matched = row & places.get(word, 0)
        row = ((row + matched) | (row - matched)) & every
    return len(b) - row.bit_count()
