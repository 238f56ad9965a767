"""What repeated answers say: pass@k, pass^k, majority@k and consistency."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from proctor.domain.estimate import Estimate
from proctor.metrics.labels import (
    CONSISTENCY,
    CONSISTENCY_OF_WORDS,
    hand_sizes,
    has_votes,
    majority_label,
    pass_all_label,
    pass_label,
    scorer_traits,
)
from proctor.metrics.repeats import (
    SampleRepeats,
    agreement,
    estimate_repeats,
    majority_at_k,
    pass_all_k,
    pass_at_k,
    shared_words,
    similarity,
)
from proctor.runs.measuring.votes import Ballot
from proctor.stores.comparing import EvaluationRow
from proctor.stores.database import Database
from proctor.stores.measuring import Unmeasured
from proctor.stores.repeats import sample_repeats

Measure = Callable[[SampleRepeats], float | None]


def measure_repeats(
    database: Database,
    evaluation_id: int,
    scorer: str,
    version: str,
    epochs: int,
    unmeasured: Unmeasured = Unmeasured.LEFT_OUT,
) -> dict[str, Estimate]:
    """Estimates by name, in one pass; a sample with too few measured answers is left out of those that need more.

    Where it cannot be told which answers are the same, what counts them is left out.
    """
    ballot = Ballot(scorer_traits(scorer), is_valid=has_votes(scorer, version))
    counted = _by_votes(epochs)
    measures = {**_by_marks(epochs), **(counted if ballot.is_valid else {}), CONSISTENCY_OF_WORDS: _words}
    stored = sample_repeats(database, evaluation_id, scorer, version, unmeasured)
    found = estimate_repeats(ballot.cast(stored), measures)
    return {name: estimate for name, estimate in found.items() if ballot.is_valid or name not in counted}


def values_of_repeats(
    database: Database, evaluation: EvaluationRow, scorer: str, label: str, unmeasured: Unmeasured
) -> dict[str, float]:
    """Each sample's own value of one of these measures, by its id; samples it cannot measure are missing."""
    version, epochs = evaluation.scorers[scorer], evaluation.epochs
    ballot = Ballot(scorer_traits(scorer), is_valid=has_votes(scorer, version))
    measure = {**_by_marks(epochs), **_by_votes(epochs), CONSISTENCY_OF_WORDS: _words}[label]
    samples = ballot.cast(sample_repeats(database, evaluation.id, scorer, version, unmeasured))
    return {sample.sample_id: value for sample in samples if (value := measure(sample)) is not None}


def _by_marks(epochs: int) -> dict[str, Measure]:
    some = {pass_label(k): partial(_drawn, pass_at_k, k) for k in hand_sizes(epochs)}
    return {**some, **{pass_all_label(k): partial(_drawn, pass_all_k, k) for k in hand_sizes(epochs)}}


def _by_votes(epochs: int) -> dict[str, Measure]:
    return {
        majority_label(epochs): partial(_majority, epochs),
        CONSISTENCY: lambda sample: agreement(sample.answers),
    }


def _drawn(formula: Callable[[int, int, int], float], k: int, sample: SampleRepeats) -> float | None:
    n = len(sample.values)
    return formula(n, sample.right(), k) if n >= k else None


def _majority(k: int, sample: SampleRepeats) -> float | None:
    return majority_at_k(sample.answers, sample.values, k) if len(sample.values) >= k else None


def _words(sample: SampleRepeats) -> float | None:
    return similarity(sample.texts, shared_words)
