"""A run before it has ended: intervals that hold however often one looks, decided pairs, the newest results."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from itertools import combinations

from proctor.domain.documents.interim import (
    InterimEvaluation,
    InterimPair,
    InterimPoint,
    InterimResults,
    LatestResult,
    Mark,
    UnknownCode,
    UnknownReason,
)
from proctor.domain.plan import Plan
from proctor.domain.run import RunStatus
from proctor.domain.trial import Outcome
from proctor.metrics.sequences import ConfidenceSequence
from proctor.planning.selection import shuffle_key
from proctor.runs.chunks.stop_looking import whole_beginnings
from proctor.runs.read import measured, metric_of
from proctor.stopping.rule import ALPHA, MeasuredEvaluation, Watch, group_sizes_of
from proctor.stores.chunks import ChunkStore
from proctor.stores.comparing import EvaluationRow, evaluations_of
from proctor.stores.database import Database
from proctor.stores.latest_results import MarkedResult, latest_results
from proctor.stores.runs import GROUP_SIZES, RANDOM_ORDER, RunStore

MAX_TRIALS = 200_000
"""Of a run with more, the intervals are not worked out anew for whoever looks."""
MAX_SIDES = 12
"""So many models make so many pairs that they say little and take long."""
MAX_LATEST = 2_000
MIN_FOR_PACE, PACE_OF = 5, 200
POINTS = 24


def read_interim(database: Database, reference: str, now: float | None = None) -> InterimResults:
    """What is known of a run so far, its pace until `now`; of one that has ended, what was known when it did."""
    now = time.time() if now is None else now
    store = RunStore(database)
    run = store.get(reference)
    rows = list(evaluations_of(database, run.id))
    is_going = run.status in (RunStatus.QUEUED, RunStatus.RUNNING)
    latest = [latest_results(database, row, MAX_LATEST // max(1, len(rows))) for row in rows]
    reasons = _reasons(rows, store.last_event(run.id, RANDOM_ORDER))
    planned = store.last_event(run.id, GROUP_SIZES) or {}
    done = {} if all(reasons) else whole_beginnings(ChunkStore(database).of_run(run.id))
    found = [None if reason else measured(database, row) for row, reason in zip(rows, reasons, strict=True)]
    reasons = [reason or _reason_of_samples(run.plan, item) for reason, item in zip(reasons, found, strict=True)]
    known = [
        None if reason or item is None else _Beginning(item, run.plan.seed, done.get(row.id, 0), planned)
        for row, item, reason in zip(rows, found, reasons, strict=True)
    ]
    return InterimResults(
        run_id=run.id,
        confidence=1 - ALPHA,
        evaluations=[
            InterimEvaluation(
                model=row.model,
                benchmark=row.benchmark,
                side=row.side,
                points=[] if beginning is None else beginning.points(),
                unknown_because=None if reason is None else reason.sentence,
                unknown=reason,
                per_minute=_pace(newest, now) if is_going else None,
                latest=[LatestResult(str(one.id), one.sample_id, _mark(one)) for one in newest],
            )
            for row, beginning, reason, newest in zip(rows, known, reasons, latest, strict=True)
        ],
        pairs=_pairs(rows, known),
        cost_limit_usd=None if run.plan.limits.cost_usd is None else float(run.plan.limits.cost_usd),
    )


def _reasons(rows: Sequence[EvaluationRow], drawn: Mapping[str, Sequence[str]] | None) -> list[UnknownReason | None]:
    """Of each evaluation, why no interval of it would hold while the run goes on; None where one does."""
    trials = sum(row.samples * row.epochs for row in rows)
    benchmarks = None if drawn is None else drawn["benchmarks"]
    return [_reason(row, trials, benchmarks) for row in rows]


SENTENCES: Mapping[UnknownCode, str] = {
    "several-epochs": "Samples are asked several times, and an interval that holds at every look counts each once.",
    "too-many-trials": "The run has more than {trials:,} trials.",
    "no-mean": (
        "The metric that is shown first is no mean over samples: an interval that holds at every look is of one."
    ),
    "unknown-order": (
        "In which order the samples were asked is not written down: only runs that workers execute say it."
    ),
    "file-order": (
        "The samples are asked in the order of their file, so the first of them do not stand for the others. "
        "With a limit that leaves some out, or with 'until', the order is random."
    ),
    "weighted-samples": (
        "Some samples weigh more than others, and an interval that holds at every look counts each once."
    ),
    "open-groups": (
        "The samples belong to groups, of which nobody knows before the end which are whole. "
        "With 'until', the samples of a group are asked together."
    ),
}


def _unknown(code: UnknownCode, **values: int) -> UnknownReason:
    return UnknownReason(code=code, values=values, sentence=SENTENCES[code].format(**values))


def _reason(row: EvaluationRow, trials: int, drawn: Sequence[str] | None) -> UnknownReason | None:
    if row.epochs > 1:
        return _unknown("several-epochs")
    if trials > MAX_TRIALS:
        return _unknown("too-many-trials", trials=MAX_TRIALS)
    if metric_of(row) is None:
        return _unknown("no-mean")
    if drawn is None:
        return _unknown("unknown-order")
    return None if row.digest in drawn else _unknown("file-order")


def _reason_of_samples(plan: Plan, item: MeasuredEvaluation | None) -> UnknownReason | None:
    """The same as far as the samples themselves tell it.

    Only a stop rule keeps those of a group together, and writes down how many each has.
    """
    if item is not None and item.is_weighted:
        return _unknown("weighted-samples")
    if plan.until is not None or item is None or not any(group is not None for group in item.groups.values()):
        return None
    return _unknown("open-groups")


class _Beginning:
    """The values of an evaluation up to the first sample that is still being asked, in the order they were drawn."""

    def __init__(
        self, item: MeasuredEvaluation, seed: int, count: int, planned: Mapping[str, Mapping[str, int]]
    ) -> None:
        order = sorted(item.values, key=lambda name: shuffle_key(seed, name, item.groups[name]))
        self.item, self.samples = item, order[:count]
        self.sizes, counted = group_sizes_of(item, set(self.samples), planned.get(item.identity))
        self.samples = [name for name in self.samples if name in counted]

    def points(self) -> list[InterimPoint]:
        watch = Watch((self.item.label,), ConfidenceSequence(alpha=ALPHA), self.sizes)
        step, found = max(1, -(-len(self.samples) // POINTS)), []
        for count, name in enumerate(self.samples, 1):
            watch.add(0, name, self.item.groups[name], self.item.values[name])
            if count % step == 0 or count == len(self.samples):
                found.append(_point(watch))
        return found


def _point(watch: Watch) -> InterimPoint:
    """With unreadable verdicts counted in both ways, the interval that covers both."""
    intervals = [watch.sequence.interval()]
    if watch.if_unreadable_wrong is not None:
        intervals.append(watch.if_unreadable_wrong.interval())
    interval = min(low for low, _ in intervals), max(high for _, high in intervals)
    return InterimPoint(watch.samples, watch.sequence.mean, interval)


def _pairs(rows: Sequence[EvaluationRow], known: Sequence[_Beginning | None]) -> list[InterimPair]:
    """Every two models on the same samples; they share the chance of an error, as those of a stop rule do."""
    if len({row.side for row in rows}) > MAX_SIDES:
        return []
    together = [
        (a, b, first, second)
        for (a, first), (b, second) in combinations(zip(rows, known, strict=True), 2)
        if first is not None and second is not None and a.digest == b.digest
    ]
    return [_pair(a, b, first, second, ALPHA / len(together)) for a, b, first, second in together]


def _pair(a: EvaluationRow, b: EvaluationRow, first: _Beginning, second: _Beginning, alpha: float) -> InterimPair:
    watch = Watch((a.side, b.side), ConfidenceSequence.of_differences(alpha=alpha), first.sizes)
    theirs = set(second.samples)
    for name in first.samples:
        if name in theirs:
            for side, beginning in enumerate((first, second)):
                watch.add(side, name, first.item.groups[name], beginning.item.values[name])
    point = _point(watch)
    low, high = point.interval
    return InterimPair(
        benchmark=a.benchmark,
        a=a.side,
        b=b.side,
        n=point.n,
        value=point.value,
        interval=point.interval,
        is_decided=low > 0 or high < 0,
    )


def _pace(newest: Sequence[MarkedResult], now: float) -> float | None:
    """Answers a minute from the first of the newest until now: who stops answering becomes slower."""
    counted = newest[-PACE_OF:]
    if len(counted) < MIN_FOR_PACE:
        return None
    # Workers write these times by clocks of their own, so now is not before the last of them.
    seconds = max(now, counted[-1].created_at) - counted[0].created_at
    return None if seconds <= 0 else round(60 * (len(counted) - 1) / seconds, 3)


def _mark(result: MarkedResult) -> Mark:
    if result.outcome is Outcome.FAILED or result.value is None:
        return "failed"
    if result.outcome is Outcome.INVALID:
        return "invalid"
    return "right" if result.value >= 1 else "wrong" if result.value <= 0 else "partial"
