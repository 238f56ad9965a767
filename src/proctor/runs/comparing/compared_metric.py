"""The metric that two evaluations are compared on: what it is of each sample, and the test that belongs to it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from typing import cast

from msgspec import Struct

from proctor.domain.documents.evaluation import EvaluationFigures
from proctor.domain.errors import NotFoundError, did_you_mean
from proctor.domain.estimate import SampleScore
from proctor.metrics.class_pairs import compare_classes
from proctor.metrics.classification import MacroAverage
from proctor.metrics.compare import PairedComparison, StoppedEarly, compare_marks, either_stopped, rest_on_worse
from proctor.metrics.labels import has_votes, is_of_repeats, metric_labels, metrics_of, repeat_labels
from proctor.metrics.metric import MeanOverSamples, Metric, takes_scores_as_they_are
from proctor.metrics.pairing import Mark, PackedMarks, marks_in_turn
from proctor.metrics.registry import create_metric
from proctor.runs.measuring.repeats import values_of_repeats
from proctor.stores.classes import class_scores
from proctor.stores.comparing import BEFORE_CONTENT, EvaluationMarks, EvaluationRow
from proctor.stores.database import Database
from proctor.stores.measuring import Unmeasured
from proctor.stores.packed.marks import NONE, RIGHT, UNREADABLE, WRONG, SampleIds, read_marks
from proctor.stores.whole_groups import whole_groups


class ComparedMetric(Struct, frozen=True):
    """A metric by the name that `show` gives it, the scorer whose marks it reads, and how the benchmark writes it."""

    label: str
    scorer: str
    written: str

    @property
    def is_of_repeats(self) -> bool:
        return self.label == self.written and is_of_repeats(self.label)

    def create(self) -> Metric | None:
        """The metric behind the name; None for one that only several epochs have."""
        return None if self.is_of_repeats else create_metric(self.written)

    @property
    def is_mean_of_marks(self) -> bool:
        """Whether it is the mean of the marks as they are, not of what they reach or say together."""
        metric = self.create()
        return metric is not None and isinstance(metric, MeanOverSamples) and takes_scores_as_they_are(metric)

    def is_measurable(self, row: EvaluationRow) -> bool:
        """Whether the scorer's answers name classes, where the metric needs that."""
        return not isinstance(self.create(), MacroAverage) or has_votes(self.scorer, row.scorers[self.scorer])

    @property
    def is_paired(self) -> bool:
        """Whether two systems can be tested on it sample by sample: it is a mean over samples, or over classes."""
        metric = self.create()
        return metric is None or isinstance(metric, MacroAverage | MeanOverSamples)


def compared_metrics(row: EvaluationRow) -> dict[str, ComparedMetric]:
    """Everything that was measured, by the name that `show` gives it and in that order."""
    written = [(scorer, name) for scorer in row.scorers for name in metrics_of(scorer, row.metrics)]
    labels = metric_labels(list(row.scorers), row.metrics)
    found = {label: ComparedMetric(label, *one) for label, one in zip(labels, written, strict=True)}
    first, version = next(iter(row.scorers.items()))
    return found | {label: ComparedMetric(label, first, label) for label in repeat_labels(first, version, row.epochs)}


def find_metric(row: EvaluationRow, label: str | None, scorer: str | None = None) -> ComparedMetric:
    """The metric of this name; without one, the first that can be tested of the scorer, or of the first scorer.

    Where a scorer has none that can, it is the mean of its marks.
    """
    known = compared_metrics(row)
    if label is None:
        scorer = scorer or next(iter(row.scorers))
        mine = (metric for metric in known.values() if metric.scorer == scorer)
        first = next((metric for metric in mine if metric.is_paired and metric.is_measurable(row)), None)
        return first or ComparedMetric("mean", scorer, "mean")
    if label not in known:
        names = ", ".join(known)
        raise NotFoundError(
            f"{row.benchmark} in run {row.run_id} has no metric {label!r}, but {names}.{did_you_mean(label, known)}"
        )
    return known[label]


class MetricSide:
    """One evaluation's values of a metric, sample by sample, read when they are asked for."""

    def __init__(
        self,
        database: Database,
        row: EvaluationRow,
        metric: ComparedMetric,
        *,
        by_content: bool = False,
        unmeasured: Unmeasured = Unmeasured.LEFT_OUT,
    ) -> None:
        self._database, self._row, self._metric = database, row, metric
        self._unmeasured, self._by_content = unmeasured, by_content
        self._marks: Iterable[Mark] = EvaluationMarks(
            database, row, metric.scorer, by_content=by_content, unmeasured=unmeasured
        )
        self._held: list[Mark] | None = None

    def hold(self) -> None:
        """Keep the values: reading them once for every other model would take longer."""
        if self.classes is None and self._packed is None:
            self._held = list(self._read())

    def __iter__(self) -> Iterator[Mark]:
        """Each sample that was asked, in the order of the ids."""
        return self._read() if self._held is None else iter(self._held)

    def _read(self) -> Iterator[Mark]:
        if self._packed is not None:
            yield from marks_in_turn(self._packed)
            return
        metric = self._metric.create()
        if metric is None:
            values = values_of_repeats(
                self._database, self._row, self._metric.scorer, self._metric.label, self._unmeasured
            )
            for name, _, group, _ in self._marks:
                yield name, values.get(_sample_id(name)), group, 1
            return
        of_sample = cast("MeanOverSamples", metric).sample_value  # `is_paired` was asked
        for name, value, group, weight in self._marks:
            yield name, None if value is None else of_sample(value), group, weight

    def packed_marks(self) -> PackedMarks | None:
        """The same values at once, where all of them are right or wrong and are packed."""
        return self._packed

    @cached_property
    def _packed(self) -> PackedMarks | None:
        metric = self._metric.create()
        if self._by_content or metric is None or isinstance(metric, MacroAverage):
            return None
        of_sample = cast("MeanOverSamples", metric).sample_value  # `is_paired` was asked
        wrong, right = of_sample(0.0), of_sample(1.0)
        none = wrong if self._unmeasured is Unmeasured.WRONG else None
        unreadable = none if self._unmeasured is Unmeasured.LEFT_OUT else wrong
        of_code: dict[int, float | None] = {WRONG: wrong, RIGHT: right, NONE: none, UNREADABLE: unreadable}
        if not {*of_code.values()} <= {0.0, 1.0, None}:
            return None
        scorer, database = self._metric.scorer, self._database
        found = read_marks(database, self._row.id, scorer, self._row.scorers[scorer])
        if found is None:
            return None
        samples, codes = found
        table = bytes(2 if (value := of_code.get(code)) is None else int(value) for code in range(256))
        return PackedMarks(samples, codes.translate(table), SampleIds(database, self._row.id).at)

    @cached_property
    def classes(self) -> Mapping[str, SampleScore | None] | None:
        """Each sample that was asked with its class and answers; None where the metric is no mean over classes."""
        if not isinstance(self._metric.create(), MacroAverage):
            return None
        scorer, version = self._metric.scorer, self._row.scorers[self._metric.scorer]
        if not has_votes(scorer, version):
            return {}
        found = class_scores(self._database, self._row.id, scorer, version, self._unmeasured)
        known = {score.sample_id: score for score in found}
        return {name: known.get(_sample_id(name)) for name, *_ in self._marks}

    def compare(
        self, other: MetricSide, *, names: tuple[str, str], keep: int = 0, stopped: StoppedEarly | None = None
    ) -> PairedComparison:
        """This side as A with another as B, by the test that belongs to the metric."""
        metric = self._metric.create()
        if isinstance(metric, MacroAverage):
            return compare_classes(metric.of, self.classes or {}, other.classes or {}, names=names, keep=keep)
        return compare_marks(self, other, names=names, keep=keep, stopped=stopped)


def _sample_id(name: str) -> str:
    """Without the content, where that is part of the name."""
    return name.rpartition(BEFORE_CONTENT)[0] or name


class BothSides(Struct, frozen=True):
    """What is known of one evaluation: as measured, and with unreadable marks counted as wrong."""

    measured: MetricSide
    worst: MetricSide | None
    """None where every mark could be read."""
    unreadable_share: float = 0.0
    stopped: StoppedEarly | None = None
    """How it ended where answers could decide how many there are."""

    def hold(self) -> None:
        """Keep the values of both."""
        for side in (self.measured, self.worst):
            if side is not None:
                side.hold()

    def compare(
        self, other: BothSides, *, names: tuple[str, str], keep: int = 0
    ) -> tuple[PairedComparison, PairedComparison | None]:
        """The comparison, and the one it had to agree with where one side has more unreadable marks.

        An answer must gain nothing by breaking what marks it: what is shown must hold also if each of these was wrong.
        """
        stopped = either_stopped(self.stopped, other.stopped)
        measured = self.measured.compare(other.measured, names=names, keep=keep, stopped=stopped)
        if self.unreadable_share == other.unreadable_share:
            return measured, None
        a, b = (side.worst or side.measured for side in (self, other))
        worst = a.compare(b, names=names, stopped=stopped)
        return rest_on_worse(measured, worst), worst


def read_sides(
    database: Database,
    row: EvaluationRow,
    metric: ComparedMetric,
    summary: EvaluationFigures,
    *,
    by_content: bool = False,
) -> BothSides:
    """One evaluation's values of a metric, ready to be compared with another's; `summary` holds its own numbers."""
    measured = MetricSide(database, row, metric, by_content=by_content)
    own = summary.metrics.get(metric.label)
    unreadable = 0 if own is None else own.unreadable or 0
    stopped = None if row.until is None else StoppedEarly(whole_groups(database, row))
    if not unreadable:
        return BothSides(measured, None, stopped=stopped)
    worst = MetricSide(database, row, metric, by_content=by_content, unmeasured=Unmeasured.UNREADABLE_WRONG)
    return BothSides(measured, worst, unreadable / summary.done, stopped)
