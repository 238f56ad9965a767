"""An evaluation becomes trials, one at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from proctor.domain.evaluation import Evaluation
from proctor.domain.identity import CacheKeys, TrialIds
from proctor.domain.sample import Sample
from proctor.domain.trial import Trial


def trials_of(evaluation: Evaluation) -> Iterator[Trial]:
    """Every trial of the evaluation, epoch by epoch, so that a stopped run has seen as many samples as possible."""
    make = trial_maker(evaluation)
    for epoch in range(evaluation.epochs):
        for sample in evaluation.samples:
            yield make(sample, epoch)


def trial_maker(evaluation: Evaluation) -> Callable[[Sample, int], Trial]:
    """Makes single trials of an evaluation: what they have in common is hashed once."""
    ids = TrialIds(evaluation.model.identity, evaluation.benchmark_identity, evaluation.options)
    keys = CacheKeys(evaluation.model.identity, evaluation.options)
    render = evaluation.benchmark.renderer.render

    def make(sample: Sample, epoch: int) -> Trial:
        prompt = render(sample)
        return Trial(
            id=ids.of(sample.id, epoch),
            evaluation_id=evaluation.id,
            sample=sample,
            epoch=epoch,
            prompt=prompt,
            options=evaluation.options,
            cache_key=keys.of(prompt, sample.follow_ups, epoch) if evaluation.use_cache else None,
        )

    return make
