"""BLEU and chrF of one response, by sacrebleu; scaled to [0, 1]."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any, Literal

from proctor.domain.errors import BenchmarkError
from proctor.domain.message import Json
from proctor.domain.response import Response
from proctor.domain.sample import Sample
from proctor.domain.score import Score
from proctor.domain.scorer import traits
from proctor.scorers.options import build, version_of
from proctor.scorers.reading import final_text

REVISION = "1"
LONG = 5_000
MAX_LENGTH = 20_000


@traits(has_votes=False)
def create_bleu(**options: Json) -> Bleu:
    scorer = build(Bleu, "bleu", options)
    _bleu(scorer.tokenize)
    return scorer


@traits(has_votes=False)
def create_chrf(**options: Json) -> Chrf:
    scorer = build(Chrf, "chrf", options)
    if not 0 <= scorer.word_order <= 6:
        raise BenchmarkError(
            f"The option 'word_order' of the scorer 'chrf' is {scorer.word_order}; 0 to 6 are allowed."
        )
    _chrf(scorer.word_order)
    return scorer


@dataclass(frozen=True, slots=True)
class Bleu:
    """Sentence BLEU against all targets at once, with effective order and sacrebleu's smoothing."""

    tokenize: Literal["13a", "intl", "zh", "char", "none"] = "13a"

    @property
    def name(self) -> str:
        return "bleu"

    @property
    def version(self) -> str:
        return version_of(self, REVISION)

    def is_slow_for(self, response: Response) -> bool:
        return len(response.text) > LONG

    async def score(self, sample: Sample, response: Response) -> Score:
        return _score(self.name, _bleu(self.tokenize), sample, response)


@dataclass(frozen=True, slots=True)
class Chrf:
    """Sentence chrF (with `word_order: 2`, chrF++) against the best target."""

    word_order: int = 0

    @property
    def name(self) -> str:
        return "chrf"

    @property
    def version(self) -> str:
        return version_of(self, REVISION)

    def is_slow_for(self, response: Response) -> bool:
        return len(response.text) > LONG

    async def score(self, sample: Sample, response: Response) -> Score:
        return _score(self.name, _chrf(self.word_order), sample, response)


def _score(name: str, metric: Any, sample: Sample, response: Response) -> Score:
    if sample.target is None:
        return Score.unscored(name, reason="the sample has no target")
    text = final_text(response.text)
    if not text:
        return Score.invalid(name, reason="the response is empty")
    said = metric.sentence_score(text[:MAX_LENGTH], list(sample.targets))
    value = min(1.0, max(0.0, said.score / 100))
    return Score(name, value, answer=text, reason=f"sacrebleu {metric.get_signature()}")


@cache
def _bleu(tokenize: str) -> Any:
    return _sacrebleu("bleu").BLEU(tokenize=tokenize, effective_order=True)


@cache
def _chrf(word_order: int) -> Any:
    return _sacrebleu("chrf").CHRF(word_order=word_order)


def _sacrebleu(name: str) -> Any:
    try:
        return import_module("sacrebleu.metrics")
    except ImportError as error:
        raise BenchmarkError(
            f"The scorer '{name}' needs the package sacrebleu: pip install 'proctor[text]'."
        ) from error
