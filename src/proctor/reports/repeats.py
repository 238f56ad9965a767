"""What repeated answers say: pass@k, pass^k, majority@k and consistency."""

from __future__ import annotations

from functools import partial

from proctor.domain.estimate import Estimate
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
from proctor.stores.database import Database
from proctor.stores.repeats import sample_repeats


def measure_repeats(
    database: Database, evaluation_id: int, scorer: str, version: str, epochs: int
) -> dict[str, Estimate]:
    """Estimates by name; a sample with fewer than `epochs` measured answers is left out of those that need them all."""

    def measure(name: str, sample: SampleRepeats) -> float | None:
        n = len(sample.values)
        if name == "consistency":
            return agreement(sample.answers)
        if n < epochs:
            return None
        if name == "majority":
            return majority_at_k(sample.answers, sample.values, epochs)
        return (pass_at_k if name == "any" else pass_all_k)(n, sample.right(), epochs)

    names = {
        f"pass@{epochs}": "any",
        f"pass^{epochs}": "all",
        f"majority@{epochs}": "majority",
        "consistency": "consistency",
    }
    found = {
        label: estimate_repeats(sample_repeats(database, evaluation_id, scorer, version), partial(measure, name))
        for label, name in names.items()
    }
    texts = sample_repeats(database, evaluation_id, scorer, version, texts=True)
    found["consistency_of_words"] = estimate_repeats(texts, lambda sample: similarity(sample.answers, shared_words))
    return found
