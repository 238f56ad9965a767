"""How many words response and target share, as SQuAD counts them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Literal

from proctor.domain.message import Json
from proctor.domain.response import Response
from proctor.domain.sample import Sample
from proctor.domain.score import Score
from proctor.domain.scorer import traits
from proctor.scorers.options import build, version_of
from proctor.scorers.reading import TextReader, final_text
from proctor.scorers.words import comparable_words

REVISION = "5"
Measure = Literal["f1", "precision", "recall"]


@traits(has_votes=False)
def create(**options: Json) -> TokenOverlap:
    return build(TokenOverlap, "f1", options)


@traits(has_votes=False)
def create_precision(**options: Json) -> TokenOverlap:
    return build(TokenOverlap, "precision", {"measure": "precision", **options})


@traits(has_votes=False)
def create_recall(**options: Json) -> TokenOverlap:
    return build(TokenOverlap, "recall", {"measure": "recall", **options})


@dataclass(frozen=True, slots=True)
class TokenOverlap(TextReader):
    """The best overlap with any target: F1, precision or recall of words."""

    measure: Measure = "f1"

    @property
    def name(self) -> str:
        return self.measure

    @property
    def version(self) -> str:
        return version_of(self, REVISION)

    async def score(self, sample: Sample, response: Response) -> Score:
        if sample.target is None:
            return Score.unscored(self.name, reason="the sample has no target")
        text = final_text(response.text)
        if not text:
            return Score.invalid(self.name, reason="the response is empty")
        language = sample.tags.get("language", "en")
        pairs = [comparable_words(text, target, language) for target in sample.targets]
        best = max((overlap(said, wanted) for said, wanted in pairs), key=lambda marks: marks[self.measure])
        reason = f"precision {best['precision']:.3f}, recall {best['recall']:.3f}"
        return Score(self.name, best[self.measure], answer=text, reason=reason, details=best)


def overlap(said: list[str], wanted: list[str]) -> dict[str, float]:
    """Precision, recall and F1 of words; two texts without any word are the same."""
    if not said or not wanted:
        same = float(said == wanted)
        return {"precision": same, "recall": same, "f1": same}
    shared = (Counter(said) & Counter(wanted)).total()
    precision, recall = shared / len(said), shared / len(wanted)
    f1 = 2 * precision * recall / (precision + recall) if shared else 0.0
    return {"precision": precision, "recall": recall, "f1": f1}
