"""How an evaluation is cut into chunks, which pool they need, and the trials of one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from proctor.domain.chunk import Pool, Slice
from proctor.domain.evaluation import Evaluation
from proctor.domain.model import Model, RunsLocally
from proctor.domain.plan import Plan
from proctor.domain.scorer import NeedsRunner, NeedsSandbox
from proctor.domain.trial import Trial
from proctor.judges.asking import judges_of
from proctor.planning.expand import trial_maker
from proctor.runs.asking import concurrency_of

MIN_TRIALS, MAX_TRIALS = 16, 256
"""Trials of a chunk that asks a model over the network: two rounds of the requests that are in flight together."""
OF_CODE = 16
OF_LOCAL_MODELS = 16
OF_PROGRAMS = 1
OF_STOP_RULES = 32
"""What is being asked when a rule is met is asked for nothing."""


def pool_of(evaluation: Evaluation) -> Pool:
    """Which workers can execute it, by what its model, its judges and its scorers declare."""
    judges = judges_of(evaluation.scorers)
    if _is_local(evaluation.model) or any(_is_local(judge.model) for judge in judges):
        return Pool.LOCAL
    needs_sandbox = any(isinstance(scorer, NeedsSandbox | NeedsRunner) for scorer in evaluation.scorers)
    return Pool.SANDBOX if needs_sandbox else Pool.DEFAULT


def _is_local(model: Model) -> bool:
    return isinstance(model, RunsLocally) and model.runs_locally


def slices_of(plan: Plan, evaluations: Sequence[Evaluation]) -> Iterator[Slice]:
    """Every trial in exactly one slice; evaluations are named by their place."""
    for place, item in enumerate(evaluations):
        pool, samples = pool_of(item), item.fingerprint.count
        pieces = -(-samples // _size(plan, item, pool))
        for epoch in range(item.epochs):
            for piece in range(pieces):
                start, end = piece * samples // pieces, (piece + 1) * samples // pieces
                yield Slice(place, epoch * samples + start, end - start, pool)


def _size(plan: Plan, item: Evaluation, pool: Pool) -> int:
    """So many trials that they take seconds rather than minutes."""
    if any(isinstance(scorer, NeedsRunner) for scorer in item.scorers):
        return OF_PROGRAMS
    if pool is Pool.LOCAL:
        return OF_LOCAL_MODELS
    if pool is Pool.SANDBOX:
        return OF_CODE
    if plan.until is not None:
        return OF_STOP_RULES
    return min(max(2 * concurrency_of(plan.limits, item.model), MIN_TRIALS), MAX_TRIALS)


def trials_of_slice(evaluation: Evaluation, position: int, count: int) -> Iterator[Trial]:
    """The trials of a slice, in their order; it lies within one epoch."""
    make = trial_maker(evaluation)
    epoch, start = divmod(position, evaluation.fingerprint.count)
    for sample in evaluation.samples.at(range(start, start + count)):
        yield make(sample, epoch)
