"""Precision, recall and F1 of answers that name a class."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import fsum

from proctor.domain.estimate import Estimate
from proctor.metrics.intervals import estimate_rate


@dataclass(frozen=True, slots=True)
class ClassScore:
    """None where a class was never answered (precision), never expected (recall), or neither (F1)."""

    precision: float | None
    recall: float | None
    f1: float | None
    support: int
    """How many samples expected it."""


@dataclass(frozen=True, slots=True)
class Classification:
    n: int
    accuracy: Estimate
    micro: ClassScore
    macro: ClassScore
    """The plain mean over classes, in which an undefined value counts 0, as is usual."""
    classes: Mapping[str, ClassScore]


def _score(hits: int, answered: int, expected: int) -> ClassScore:
    return ClassScore(
        hits / answered if answered else None,
        hits / expected if expected else None,
        2 * hits / (answered + expected) if answered + expected else None,
        expected,
    )


def classify(pairs: Iterable[tuple[str, str | None]], *, labels: Sequence[str] | None = None) -> Classification:
    """From (expected, answered) pairs, in one pass; None is an answer that named no class.

    Classes are all that were expected or answered, or exactly `labels`.
    """
    expected: Counter[str] = Counter()
    answered: Counter[str] = Counter()
    hits: Counter[str] = Counter()
    for target, answer in pairs:
        expected[target] += 1
        if answer is not None:
            answered[answer] += 1
        if answer == target:
            hits[target] += 1
    names = sorted({*expected, *answered}) if labels is None else list(labels)
    classes = {name: _score(hits[name], answered[name], expected[name]) for name in names}
    sums = (sum(counter[name] for name in names) for counter in (hits, answered, expected))
    n = expected.total()
    return Classification(n, estimate_rate(hits.total(), n), _score(*sums), _average(classes), classes)


def _average(classes: Mapping[str, ClassScore]) -> ClassScore:
    def mean(values: Iterable[float | None]) -> float | None:
        return fsum(value or 0.0 for value in values) / len(classes) if classes else None

    scores = classes.values()
    return ClassScore(
        mean(score.precision for score in scores),
        mean(score.recall for score in scores),
        mean(score.f1 for score in scores),
        sum(score.support for score in scores),
    )
