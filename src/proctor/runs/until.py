"""Stops asking once the answer is known, with intervals that stay true however often one looks.

Values are taken in the order in which the samples were drawn, not in the order in which answers came back: quick
answers are often the easy ones, and a run that looked at them first would stop too early and too sure.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any

from msgspec import Struct

from proctor.domain.errors import PlanError
from proctor.domain.evaluation import Evaluation
from proctor.domain.event import Event, ResultsRecorded
from proctor.domain.plan import Plan
from proctor.domain.trial import Trial
from proctor.metrics.sequences import ConfidenceSequence
from proctor.metrics.until import Until, parse_until
from proctor.planning.selection import rank

ALPHA = 0.05


def rule_of(plan: Plan) -> Until | None:
    """The plan's rule, None when it has none; PlanError for one that cannot be followed, before anything is written."""
    if plan.until is None:
        return None
    rule = parse_until(plan.until)
    if any((spec.epochs or plan.epochs) > 1 for spec in plan.benchmarks):
        raise PlanError("'until' counts samples, so it goes with epochs: 1 only.")
    if rule.is_about_difference and len(plan.models) < 2:
        raise PlanError("'until: decided' compares models: name at least two.")
    return rule


def stop_rule(plan: Plan, evaluations: Sequence[Evaluation]) -> StopRule | None:
    """The plan's rule, ready to watch; None when the plan has none."""
    rule = rule_of(plan)
    return None if rule is None else StopRule(rule, evaluations)


class _Order:
    """Hands on one evaluation's values in the order in which its samples were drawn."""

    def __init__(self) -> None:
        self._drawn: list[str] = []
        self._ready: dict[str, float | None] = {}
        self._next = 0

    def draw(self, sample_id: str) -> None:
        self._drawn.append(sample_id)

    def finish(self, sample_id: str, value: float | None) -> None:
        self._ready[sample_id] = value

    def released(self) -> Iterator[tuple[str, float | None]]:
        """Everything up to the first sample that is still being asked; None stands for a fault."""
        while self._next < len(self._drawn) and self._drawn[self._next] in self._ready:
            sample_id = self._drawn[self._next]
            self._next += 1
            yield sample_id, self._ready.pop(sample_id)


class Watch:
    """One interval being narrowed: a model's score, or the difference of two models."""

    def __init__(self, names: tuple[str, ...], sequence: ConfidenceSequence) -> None:
        self.names = names
        self.sequence = sequence
        self.is_met = False
        self._halves: dict[str, tuple[int, float | None]] = {}

    def add(self, side: int, sample_id: str, value: float | None) -> None:
        if len(self.names) == 1:
            if value is not None:
                self.sequence.update(value)
            return
        other = self._halves.pop(sample_id, None)
        if other is None:
            self._halves[sample_id] = (side, value)
        elif value is not None and other[1] is not None:
            self.sequence.update(value - other[1] if side else other[1] - value)

    def look(self, rule: Until) -> None:
        self.is_met = self.is_met or rule.is_met(self.sequence.interval())


class StopRule:
    """An observer that knows, for each evaluation, whether more of it is wanted."""

    def __init__(self, rule: Until, evaluations: Sequence[Evaluation]) -> None:
        self.rule = rule
        # Trials are drawn in a worker thread, results arrive in the event loop's.
        self._lock = threading.Lock()
        self._orders = {item.id: _Order() for item in evaluations}
        self._watches: dict[int, list[tuple[int, Watch]]] = {item.id: [] for item in evaluations}
        for group in _watched_together(rule, evaluations):
            names = tuple(item.label for item in group)
            watch = Watch(names, _sequence(rule, evaluations))
            for side, item in enumerate(group):
                self._watches[item.id].append((side, watch))

    def wants(self, evaluation_id: int) -> bool:
        return not all(watch.is_met for _, watch in self._watches[evaluation_id])

    def gate(self, trials: Iterator[Trial], recorded: Mapping[str, float]) -> Iterator[Trial]:
        """The trials while they are wanted; `recorded` holds what an earlier execution has measured."""
        for trial in trials:
            with self._lock:
                order = self._orders[trial.evaluation_id]
                order.draw(trial.sample.id)
                if trial.sample.id in recorded:
                    order.finish(trial.sample.id, recorded[trial.sample.id])
                    self._advance(trial.evaluation_id)
            if not self.wants(trial.evaluation_id):
                return
            yield trial

    def __call__(self, event: Event) -> None:
        if not isinstance(event, ResultsRecorded):
            return
        with self._lock:
            touched = set()
            for result in event.results:
                trial = result.answer.trial
                value = result.scores[0].value if result.scores else None
                self._orders[trial.evaluation_id].finish(trial.sample.id, value)
                touched.add(trial.evaluation_id)
            for evaluation_id in touched:
                self._advance(evaluation_id)

    def _advance(self, evaluation_id: int) -> None:
        watches = self._watches[evaluation_id]
        for sample_id, value in self._orders[evaluation_id].released():
            for side, watch in watches:
                watch.add(side, sample_id, value)
        for _, watch in watches:
            watch.look(self.rule)


def _watched_together(rule: Until, evaluations: Sequence[Evaluation]) -> Iterator[tuple[Evaluation, ...]]:
    if not rule.is_about_difference:
        yield from ((item,) for item in evaluations)
        return
    for first, second in combinations(evaluations, 2):
        if first.benchmark_identity == second.benchmark_identity and first.label != second.label:
            yield first, second


class Measured(Struct, frozen=True):
    """An evaluation's values as the store has them."""

    label: str
    identity: str
    values: Mapping[str, float]


def outcomes(plan: Plan, evaluations: Sequence[Measured]) -> list[dict[str, Any]]:
    """What the plan's rule came to, worked out from the stored values in the order in which they were drawn."""
    rule = parse_until(plan.until or "")
    groups: list[tuple[Measured, ...]] = [(item,) for item in evaluations]
    if rule.is_about_difference:
        pairs = combinations(evaluations, 2)
        groups = [(a, b) for a, b in pairs if a.identity == b.identity and a.label != b.label]
    found = []
    for group in groups:
        names = tuple(item.label for item in group)
        alpha = ALPHA / len(groups) if rule.is_about_difference else ALPHA
        sequence = ConfidenceSequence.of_differences(alpha=alpha) if len(group) > 1 else ConfidenceSequence(alpha=alpha)
        watch = Watch(names, sequence)
        shared = set.intersection(*(set(item.values) for item in group))
        for sample_id in sorted(shared, key=lambda name: rank(plan.seed, name)):
            for side, item in enumerate(group):
                watch.add(side, sample_id, item.values[sample_id])
        watch.look(rule)
        found.append({
            "rule": str(rule), "models": list(names), "met": watch.is_met, "n": watch.sequence.n,
            "value": watch.sequence.mean, "interval": list(watch.sequence.interval()), "method": "confidence sequence",
        })  # fmt: skip
    return found


def _sequence(rule: Until, evaluations: Sequence[Evaluation]) -> ConfidenceSequence:
    """Several pairs share the error between them, so that none is decided by luck more often than 1 in 20."""
    if not rule.is_about_difference:
        return ConfidenceSequence(alpha=ALPHA)
    pairs = sum(1 for _ in _watched_together(rule, evaluations))
    return ConfidenceSequence.of_differences(alpha=ALPHA / max(pairs, 1))
