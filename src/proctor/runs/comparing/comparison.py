"""Pairs of evaluations compared: everything a reader may ask of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import UNSET, Struct
from msgspec.structs import asdict

from proctor.domain.documents.comparison import (
    ComparedSide,
    Comparison,
    Comparisons,
    FlippedAnswers,
    FlippedSample,
    FlippedSamples,
    Flips,
    LeftOutSamples,
    UnreadableCountedWrong,
    VerdictParts,
)
from proctor.domain.documents.estimate import MetricEstimate
from proctor.domain.documents.evaluation import EvaluationFigures
from proctor.metrics.compare import ANYTIME, PairedComparison, correct
from proctor.metrics.labels import scorer_traits
from proctor.metrics.rounding import figure_text
from proctor.metrics.verdicts import NOT_WITH_UNREADABLE, TARGET, say, verdict_parts
from proctor.reports.figures import difference_text, plural
from proctor.reports.judge_notes import undecided_notes
from proctor.reports.trust import FORGEABLE, uneven_notes
from proctor.runs.comparing.compared_metric import BothSides, MetricSide, read_sides
from proctor.runs.comparing.pairs import Pair
from proctor.runs.measuring.summary import with_coverage
from proctor.stores.comparing import (
    BEFORE_CONTENT,
    EvaluationMarks,
    EvaluationRow,
    SampleView,
    covered_samples,
    view_samples,
)
from proctor.stores.database import Database
from proctor.stores.measuring import Unmeasured

Summaries = Mapping[int, EvaluationFigures]
"""Each evaluation's own figures, by its id."""
Coverage = tuple[float | None, float | None]
"""How much of the weights the compared marks cover on average, A's and B's; None where marks are whole."""


class MeasuredPair(Struct, frozen=True):
    """A pair's comparison, and the one that it had to agree with: unreadable marks counted as wrong."""

    comparison: PairedComparison
    worst: PairedComparison | None


def measure_pair(
    database: Database,
    pair: Pair,
    summaries: Summaries,
    *,
    flips: int = 0,
    unmeasured_in_b: Unmeasured = Unmeasured.LEFT_OUT,
) -> MeasuredPair:
    """Compare one pair from its stored marks; the ids of the first `flips` flipped samples are kept, each way."""
    a, b = (
        read_sides(database, row, pair.metric, summaries[row.id], by_content=pair.is_overlap)
        for row in (pair.a, pair.b)
    )
    if unmeasured_in_b is not Unmeasured.LEFT_OUT:
        marks = MetricSide(database, pair.b, pair.metric, by_content=pair.is_overlap, unmeasured=unmeasured_in_b)
        b = BothSides(marks, None, stopped=b.stopped)
    return MeasuredPair(*a.compare(b, names=pair.names, keep=flips))


def compare_pairs(
    database: Database,
    pairs: Sequence[Pair],
    summaries: Summaries,
    *,
    not_compared: Sequence[str] = (),
    target: float = TARGET,
    flips: int = 0,
    unmeasured_in_b: Unmeasured = Unmeasured.LEFT_OUT,
) -> Comparisons:
    """Compare every pair, correct them as one family, and put everything a reader may ask for into one document.

    `flips` is how many flipped samples are shown each way.
    """
    measured = [measure_pair(database, pair, summaries, flips=flips, unmeasured_in_b=unmeasured_in_b) for pair in pairs]
    corrected = correct([one.comparison for one in measured])
    worst = correct([one.worst or one.comparison for one in measured])
    comparisons = [
        _comparison(database, pair, comparison, None if one.worst is None else counted, summaries, target)
        for pair, comparison, counted, one in zip(pairs, corrected, worst, measured, strict=True)
    ]
    return Comparisons("comparison", comparisons, not_compared, target)


def _comparison(
    database: Database,
    pair: Pair,
    found: PairedComparison,
    worst: PairedComparison | None,
    summaries: Summaries,
    target: float,
) -> Comparison:
    """`worst` is the comparison with unreadable marks counted as wrong, where there are more on one side."""
    covered = _covered(database, pair)
    a, b = (
        _side(row, name, summaries[row.id], pair.metric.label, with_coverage(estimate, share))
        for row, name, estimate, share in zip((pair.a, pair.b), found.names, (found.a, found.b), covered, strict=True)
    )
    parts = _verdict(found, worst, target)
    return Comparison(
        benchmark=pair.a.benchmark,
        scorer=pair.scorer,
        metric=pair.metric.label,
        a=a,
        b=b,
        n=found.n,
        left_out=LeftOutSamples(**asdict(found.left_out)),
        difference=MetricEstimate.of(found.difference),
        test=found.test,
        p_value=found.p_value,
        p_error=found.p_error,
        p_adjusted=found.p_adjusted,
        family=found.family,
        effects=found.effects,
        detectable_difference=found.detectable,
        better=found.better,
        warnings=[*pair.warnings, *_stopping(pair, found, summaries), *_uneven(covered), *_unlike(found)],
        notes=_notes(pair, found, worst, summaries),
        if_unreadable_wrong=None if worst is None else _counted_wrong(worst, target),
        verdict=say(parts),
        verdict_parts=parts,
        flips=_flips(database, pair, found),
    )


def _verdict(comparison: PairedComparison, worst: PairedComparison | None, target: float) -> VerdictParts:
    if worst is not None and not comparison.is_shown:
        return NOT_WITH_UNREADABLE
    return verdict_parts(comparison, target=target)


def _counted_wrong(worst: PairedComparison, target: float) -> UnreadableCountedWrong:
    parts = verdict_parts(worst, target=target)
    return UnreadableCountedWrong(MetricEstimate.of(worst.difference), worst.p_value, worst.better, say(parts), parts)


def _notes(pair: Pair, comparison: PairedComparison, worst: PairedComparison | None, summaries: Summaries) -> list[str]:
    """What the verdict must be told with: trials without a mark, marks that are unreadable, undecided or forgeable."""
    sides = {
        f"{name} ({letter})": (summary, summary.metrics.get(pair.metric.label))
        for letter, row, name in zip("AB", (pair.a, pair.b), comparison.names, strict=True)
        for summary in (summaries[row.id],)
    }
    notes = [*uneven_notes(sides).values()]
    if worst is not None:
        unreadable = {name: own.unreadable or 0 if own is not None else 0 for name, (_, own) in sides.items()}
        counts = ", ".join(f"{name} {count:,}" for name, count in unreadable.items())
        shown = difference_text(MetricEstimate.of(worst.difference))
        notes.append(
            f"Unreadable marks: {counts}. The interval and p hold both with them left out "
            f"and with them counted as wrong (then B - A is {shown})."
        )
    notes += [
        f"{name}: {note}" for name, (summary, _) in sides.items() for note in undecided_notes(summary, pair.scorer)
    ]
    return notes + [f"{name}: {FORGEABLE}." for name, (summary, _) in sides.items() if summary.is_forgeable]


def _covered(database: Database, pair: Pair) -> Coverage:
    if not scorer_traits(pair.scorer).has_coverage or not pair.metric.is_mean_of_marks:
        return None, None
    rows = (pair.a, pair.b)
    marks = [EvaluationMarks(database, row, pair.scorer, by_content=pair.is_overlap) for row in rows]
    shared = set.intersection(*({name for name, value, *_ in side if value is not None} for side in marks))
    found = [covered_samples(database, row, pair.scorer, by_content=pair.is_overlap) for row in rows]
    a, b = ([share for name, share in side.items() if name in shared] for side in found)
    return _mean(a), _mean(b)


def _mean(shares: Sequence[float]) -> float | None:
    return round(sum(shares) / len(shares), 6) if shares else None


def _uneven(covered: Coverage) -> list[str]:
    """What was not measured earned nothing: of two that were measured unlike, one could earn more."""
    a, b = covered
    if a is None or b is None or a == b:
        return []
    why = "what was not measured scores 0, so part of the difference comes from what was measured"
    return [f"A's marks cover {figure_text(a)} of the weights and B's {figure_text(b)}: {why}."]


def _unlike(comparison: PairedComparison) -> list[str]:
    if not comparison.unlike_weights:
        return []
    count = plural(comparison.unlike_weights, "sample")
    return [f"The weights of {count} differ between A and B: this comparison uses the larger one for both."]


def _stopping(pair: Pair, comparison: PairedComparison, summaries: Summaries) -> list[str]:
    """What a rule that stops early does to the numbers, said for each run in which it left something out."""
    cut = [row for row in (pair.a, pair.b) if _is_cut_short(summaries[row.id])]
    if not cut or not comparison.n:
        return []
    rows = [row for row in cut if row.until is not None]
    if not rows:
        return _stopped_by_hand(cut)
    runs = " and ".join(dict.fromkeys(f"run {row.run_id} ('{row.until}')" for row in rows))
    start = f"A stop rule chose the number of samples by looking at the results, in {runs}: "
    if comparison.test == ANYTIME:
        end = "the intervals of A's and B's own scores assume a fixed number of samples and do not."
        what = "the difference, its interval and p are anytime-valid and hold"
        if comparison.is_weighted:
            what = "interval and p are anytime-valid, and count each sample once, whatever it weighs"
        return [f"{start}{what}; {end}"]
    return [f"{start}intervals and p assume a fixed number of samples, so they are too narrow and too small."]


def _stopped_by_hand(cut: Sequence[EvaluationRow]) -> list[str]:
    """Of runs that somebody ended, and no limit: nobody knows whether because of what they showed."""
    stopped = dict.fromkeys(row.run_id for row in cut if row.is_stopped_by_hand)
    if not stopped:
        return []
    runs = " and ".join(f"run {run}" for run in stopped)
    why = "intervals and p assume a fixed number of samples, so they are too narrow and too small"
    return [f"Somebody stopped {runs} before the end. If that was because of what it showed, {why}."]


def _is_cut_short(summary: EvaluationFigures) -> bool:
    return bool(summary.stopped or summary.pending)


def _side(row: EvaluationRow, name: str, summary: EvaluationFigures, label: str, score: MetricEstimate) -> ComparedSide:
    own = summary.metrics.get(label)
    return ComparedSide(
        name=name,
        run_id=row.run_id,
        model=row.model,
        side=row.side,
        settings={**row.prompt_settings, **row.options},
        version=row.version,
        digest=row.digest,
        options=row.options,
        trials=summary.trials,
        scored=summary.scored,
        invalid=summary.invalid,
        failed=summary.failed,
        stopped=summary.stopped,
        pending=summary.pending,
        cached=summary.cached,
        unmeasured=None if own is None else own.unmeasured,
        if_unmeasured_wrong=UNSET if own is None else own.if_unmeasured_wrong,
        is_forgeable=summary.is_forgeable,
        usage=summary.usage,
        cost_usd=summary.cost_usd,
        cost_usd_per_answer=summary.cost_per_answer_usd,
        cost_basis=summary.cost_basis,
        price_sources=summary.price_sources,
        latency_seconds=summary.latency_seconds,
        score=score,
    )


def _flips(database: Database, pair: Pair, comparison: PairedComparison) -> Flips:
    """The samples that only one of the two got right: all counted, the first few shown."""
    gained, lost = (
        [name.partition(BEFORE_CONTENT)[0] if pair.is_overlap else name for name in names]
        for names in (comparison.gained_ids, comparison.lost_ids)
    )
    shown = [*gained, *lost]
    in_a, in_b = (view_samples(database, row, pair.scorer, shown) if shown else {} for row in (pair.a, pair.b))
    return Flips(
        FlippedSamples(comparison.gained, [_flip(name, in_a[name], in_b[name]) for name in gained]),
        FlippedSamples(comparison.lost, [_flip(name, in_a[name], in_b[name]) for name in lost]),
    )


def _flip(name: str, a: SampleView, b: SampleView) -> FlippedSample:
    answers = (FlippedAnswers(view.values, view.answers, view.responses) for view in (a, b))
    return FlippedSample(name, a.category, a.input, a.target, *answers)
