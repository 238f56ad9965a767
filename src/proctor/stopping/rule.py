"""Stops asking once the answer is known, with intervals that stay true however often one looks.

Values are taken in the order in which the samples were drawn, not in the order in which answers came back: quick
answers are often the easy ones, and a run that looked at them first would stop too early and too sure. Samples that
share a group are one value, taken when the last of them is there: counted one by one they would look like more evidence
than they are. A value is what the metric that is shown first makes of a mark; a sample counts once, whatever it weighs.

Verdicts of a judge that could not be read are counted in two ways side by side, left out and as wrong, and a rule is
met only where both say so: a model gains nothing by breaking its judge on its bad answers.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from itertools import combinations
from typing import Literal

from msgspec import Struct

from proctor.domain.documents.run import StopInterval, StopOutcome
from proctor.domain.errors import PlanError
from proctor.domain.evaluation import Evaluation
from proctor.domain.event import Event, ResultsRecorded
from proctor.domain.plan import Plan
from proctor.domain.sample import Sample
from proctor.domain.score import Score
from proctor.domain.trial import Trial
from proctor.metrics.intervals import has_clusters
from proctor.metrics.metric import MeanOverSamples
from proctor.metrics.sequences import ConfidenceSequence
from proctor.metrics.until import Until, parse_until
from proctor.planning.selection import shuffle_key
from proctor.stopping.watched_metric import metric_to_watch

ALPHA = 0.05
UNREADABLE: Literal["unreadable"] = "unreadable"
Value = float | None | Literal["unreadable"]
"""A sample's mark; None for a fault, `UNREADABLE` where it could not be read."""


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
        self._drawn: list[tuple[str, str | None]] = []
        self._ready: dict[str, Value] = {}
        self._unreadable: set[str] = set()
        self._next = 0

    def draw(self, sample: Sample) -> None:
        self._drawn.append((sample.id, sample.group))

    def judge_again(self, sample_id: str) -> None:
        """Its verdict could not be read before; a judge that fails when it is asked again excuses nothing."""
        self._unreadable.add(sample_id)

    def finish(self, sample_id: str, value: Value) -> None:
        is_still_unreadable = value is None and sample_id in self._unreadable
        self._ready[sample_id] = UNREADABLE if is_still_unreadable else value

    def released(self) -> Iterator[tuple[str, str | None, Value]]:
        """Everything up to the first sample that is still being asked."""
        while self._next < len(self._drawn) and self._drawn[self._next][0] in self._ready:
            sample_id, group = self._drawn[self._next]
            self._next += 1
            yield sample_id, group, self._ready.pop(sample_id)


class _OpenGroup:
    """A group of which some samples are there."""

    __slots__ = ("n", "passed", "total")

    def __init__(self) -> None:
        self.n = self.passed = 0
        self.total = 0.0


class _Track:
    """One sequence with what it still waits for: the other model's mark, the rest of a group."""

    def __init__(self, is_of_pair: bool, sequence: ConfidenceSequence, sizes: Mapping[str, int]) -> None:
        self.sequence = sequence
        self.samples = 0
        self._is_of_pair = is_of_pair
        self._sizes = sizes
        self._groups: dict[str, _OpenGroup] = {}
        self._halves: dict[str, tuple[int, float | None]] = {}

    def add(self, side: int, sample_id: str, group: str | None, value: float | None) -> None:
        if not self._is_of_pair:
            self._enter(group, value)
            return
        other = self._halves.pop(sample_id, None)
        if other is None:
            self._halves[sample_id] = (side, value)
        elif value is None or other[1] is None:
            self._enter(group, None)
        else:
            self._enter(group, value - other[1] if side else other[1] - value)

    def _enter(self, group: str | None, value: float | None) -> None:
        size = None if group is None else self._sizes.get(group)
        if group is None or size is None:
            if value is not None:
                self.sequence.update(value)
                self.samples += 1
            return
        found = self._groups.setdefault(group, _OpenGroup())
        found.passed += 1
        if value is not None:
            found.n += 1
            found.total += value
        if found.passed == size:
            del self._groups[group]
            if found.n:
                self.sequence.update(min(1.0, max(-1.0, found.total / found.n)))
                self.samples += found.n


class Watch:
    """One interval being narrowed: a model's score, or the difference of two models."""

    def __init__(self, names: tuple[str, ...], sequence: ConfidenceSequence, sizes: Mapping[str, int]) -> None:
        self.names = names
        self.is_met = False
        self.unreadable = 0
        """How many marks could not be read; of a difference, those of both models."""
        self._measured = _Track(len(names) > 1, sequence, sizes)
        self._worst: _Track | None = None
        """The same with unreadable marks counted as wrong; None before the first of them, while the two are one."""

    @property
    def sequence(self) -> ConfidenceSequence:
        """What was measured; unreadable marks are left out."""
        return self._measured.sequence

    @property
    def samples(self) -> int:
        """How many samples the sequence knows of; more than its values where these are of groups."""
        return self._measured.samples

    @property
    def if_unreadable_wrong(self) -> ConfidenceSequence | None:
        """The sequence with unreadable marks counted as wrong; None where there are none."""
        return None if self._worst is None else self._worst.sequence

    def add(self, side: int, sample_id: str, group: str | None, value: Value) -> None:
        if value == UNREADABLE:
            self.unreadable += 1
            self._worst = self._worst or deepcopy(self._measured)
        if self._worst is not None:
            self._worst.add(side, sample_id, group, 0.0 if value == UNREADABLE else value)
        self._measured.add(side, sample_id, group, None if value == UNREADABLE else value)

    def look(self, rule: Until) -> None:
        tracks = [self._measured] if self._worst is None else [self._measured, self._worst]
        self.is_met = self.is_met or rule.is_met(*(track.sequence.interval() for track in tracks))


def planned_group_sizes(evaluations: Sequence[Evaluation]) -> dict[str, dict[str, int]]:
    """How many samples of each group are planned, by benchmark; none where each sample stands for itself."""
    drawn = {item.benchmark_identity: item.samples for item in evaluations}
    return {name: _group_sizes(one.group for one in samples) for name, samples in drawn.items()}


def _group_sizes(groups: Iterable[str | None]) -> dict[str, int]:
    """How many samples each group has; nothing where each sample stands for itself."""
    counts = Counter(groups)
    alone = counts.pop(None, 0)
    sizes = {group: count for group, count in counts.items() if group is not None}
    return sizes if has_clusters(alone, sizes.values()) else {}


class StopRule:
    """An observer that knows, for each evaluation, whether more of it is wanted."""

    def __init__(self, rule: Until, evaluations: Sequence[Evaluation]) -> None:
        self.rule = rule
        # Trials are drawn in a worker thread, results arrive in the event loop's.
        self._lock = threading.Lock()
        self._metrics = {item.id: metric_to_watch(item) for item in evaluations}
        self._orders = {item.id: _Order() for item in evaluations}
        self._watches: dict[int, list[tuple[int, Watch]]] = {item.id: [] for item in evaluations}
        self.group_sizes = planned_group_sizes(evaluations)
        for together in _watched_together(rule, evaluations):
            names = tuple(item.label for item in together)
            watch = Watch(names, _sequence(rule, evaluations), self.group_sizes[together[0].benchmark_identity])
            for side, item in enumerate(together):
                self._watches[item.id].append((side, watch))

    def wants(self, evaluation_id: int) -> bool:
        return not all(watch.is_met for _, watch in self._watches[evaluation_id])

    def gate(self, trials: Iterator[Trial], recorded: Mapping[str, Value]) -> Iterator[Trial]:
        """The trials while they are wanted; `recorded` holds what an earlier execution has measured."""
        for trial in trials:
            with self._lock:
                order = self._orders[trial.evaluation_id]
                order.draw(trial.sample)
                known = recorded.get(trial.sample.id)
                if known == UNREADABLE:
                    order.judge_again(trial.sample.id)
                elif known is not None:
                    order.finish(trial.sample.id, self._metrics[trial.evaluation_id].sample_value(known))
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
                value = _value(result.scores, self._metrics[trial.evaluation_id])
                self._orders[trial.evaluation_id].finish(trial.sample.id, value)
                touched.add(trial.evaluation_id)
            for evaluation_id in touched:
                self._advance(evaluation_id)

    def _advance(self, evaluation_id: int) -> None:
        watches = self._watches[evaluation_id]
        for sample_id, group, value in self._orders[evaluation_id].released():
            for side, watch in watches:
                watch.add(side, sample_id, group, value)
        for _, watch in watches:
            watch.look(self.rule)


def _value(scores: Sequence[Score], metric: MeanOverSamples) -> Value:
    """What the metric makes of the first scorer's mark."""
    if not scores:
        return None
    if scores[0].is_unreadable:
        return UNREADABLE
    return None if scores[0].value is None else metric.sample_value(scores[0].value)


def _watched_together(rule: Until, evaluations: Sequence[Evaluation]) -> Iterator[tuple[Evaluation, ...]]:
    if not rule.is_about_difference:
        yield from ((item,) for item in evaluations)
        return
    for first, second in combinations(evaluations, 2):
        if first.benchmark_identity == second.benchmark_identity and first.label != second.label:
            yield first, second


class MeasuredEvaluation(Struct, frozen=True):
    """An evaluation's values as the store has them."""

    label: str
    identity: str
    values: Mapping[str, Value]
    """Of every sample that was asked."""
    groups: Mapping[str, str | None]
    planned: int
    """How many samples were to be asked."""
    is_weighted: bool = False
    """Whether some samples weigh more than others; here each counts once."""


def outcomes(
    plan: Plan, evaluations: Sequence[MeasuredEvaluation], group_sizes: Mapping[str, Mapping[str, int]]
) -> list[StopOutcome]:
    """What the plan's rule came to, worked out from the stored values in the order in which they were drawn.

    `group_sizes` are those that were planned, by benchmark.
    """
    rule = parse_until(plan.until or "")
    together: list[tuple[MeasuredEvaluation, ...]] = [(item,) for item in evaluations]
    if rule.is_about_difference:
        pairs = combinations(evaluations, 2)
        together = [(a, b) for a, b in pairs if a.identity == b.identity and a.label != b.label]
    alpha = ALPHA / max(1, len(together)) if rule.is_about_difference else ALPHA
    return [_outcome(rule, items, alpha, plan.seed, group_sizes.get(items[0].identity)) for items in together]


def _outcome(
    rule: Until, items: tuple[MeasuredEvaluation, ...], alpha: float, seed: int, sizes: Mapping[str, int] | None
) -> StopOutcome:
    sequence = ConfidenceSequence.of_differences(alpha=alpha) if len(items) > 1 else ConfidenceSequence(alpha=alpha)
    groups = items[0].groups
    sizes, shared = group_sizes_of(items[0], set.intersection(*(set(item.values) for item in items)), sizes)
    watch = Watch(tuple(item.label for item in items), sequence, sizes)
    for sample_id in sorted(shared, key=lambda name: shuffle_key(seed, name, groups[name])):
        for side, item in enumerate(items):
            watch.add(side, sample_id, groups[sample_id], item.values[sample_id])
    watch.look(rule)
    worst = watch.if_unreadable_wrong
    return StopOutcome(
        rule=str(rule),
        models=list(watch.names),
        met=watch.is_met,
        n=watch.samples,
        groups=sequence.n if sizes else None,
        value=sequence.mean,
        interval=sequence.interval(),
        method="confidence sequence",
        unreadable=None if worst is None else watch.unreadable,
        if_unreadable_wrong=None if worst is None else StopInterval(worst.mean, worst.interval()),
    )


def group_sizes_of(
    item: MeasuredEvaluation, asked: set[str], planned: Mapping[str, int] | None
) -> tuple[Mapping[str, int], set[str]]:
    """The sizes of groups, and the samples to be counted; `planned` is None of a run that did not write them down.

    Where samples are missing then, nobody knows which groups are whole, so none counts.
    """
    if planned is not None:
        return planned, asked
    if len(asked) == item.planned:
        return _group_sizes(item.groups[name] for name in asked), asked
    return {}, {name for name in asked if item.groups[name] is None}


def _sequence(rule: Until, evaluations: Sequence[Evaluation]) -> ConfidenceSequence:
    """Several pairs share the error between them, so that none is decided by luck more often than 1 in 20."""
    if not rule.is_about_difference:
        return ConfidenceSequence(alpha=ALPHA)
    pairs = sum(1 for _ in _watched_together(rule, evaluations))
    return ConfidenceSequence.of_differences(alpha=ALPHA / max(pairs, 1))
