"""The numbers of an evaluation: every one with its n and interval, every one recomputable from stored results."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from decimal import Decimal

import orjson
from msgspec.structs import replace

from proctor import plugins
from proctor.domain.documents.effort import Percentiles, TokenCounts
from proctor.domain.documents.estimate import MetricEstimate
from proctor.domain.documents.evaluation import EvaluationFigures, Selection
from proctor.domain.estimate import Estimate, SampleScore
from proctor.domain.price import UNKNOWN, basis_source, joint_kind
from proctor.metrics.labels import (
    has_votes,
    is_of_right_answers,
    metric_labels,
    metric_title,
    metrics_of,
    scorer_traits,
)
from proctor.metrics.latency import Latencies
from proctor.metrics.metric import Metric, ReadsAnswers, measure_all, takes_scores_as_they_are
from proctor.metrics.registry import create_metric, metric_name
from proctor.runs.columns import EvaluationColumns
from proctor.runs.measuring.judging import Judging
from proctor.stores.measuring import MeasuringStore, ScorerTally, Unmeasured


def summarise_evaluation(
    results: MeasuringStore, row: EvaluationColumns, judging: Judging, *, has_ended: bool
) -> EvaluationFigures:
    """The evaluation's own figures, computed from its results; `judging` is what judges did in it."""
    tally = results.tally(row["id"])
    marks = {
        scorer: results.tally_scorer(row["id"], scorer, version)
        for scorer, version in orjson.loads(row["scorers"]).items()
    }
    trials = row["samples"] * row["epochs"]
    metrics, categories = _measure(results, row, marks)
    missing = trials - tally.recorded
    first_token, speed = _streaming(results, row["id"])
    return EvaluationFigures(
        model=row["model"],
        benchmark=row["benchmark"],
        version=row["version"],
        digest=row["digest"],
        selection=_selection(row),
        revisions=orjson.loads(row["benchmark_spec"]).get("revisions", {}),
        samples=row["samples"],
        epochs=row["epochs"],
        trials=trials,
        scored=tally.scored,
        invalid=tally.invalid,
        failed=tally.failed,
        stopped=missing if has_ended else 0,
        pending=0 if has_ended else missing,
        cached=tally.cached,
        is_forgeable=any(one.is_forgeable for one in marks.values()),
        metrics=metrics,
        categories=categories,
        usage=TokenCounts(tally.input_tokens, tally.output_tokens, tally.reasoning_tokens, tally.cached_tokens),
        cost_usd=None if tally.cost_usd is None else float(tally.cost_usd),
        answers_cost_usd=None if tally.answers_cost_usd is None else float(tally.answers_cost_usd),
        cost_basis=UNKNOWN if tally.answers_cost_usd is None else joint_kind(tally.cost_bases),
        price_sources=[source for basis in tally.cost_bases if (source := basis_source(basis))],
        cost_per_correct_usd=_cost_per_correct(tally.answers_cost_usd, next(iter(marks.values())).right),
        latency_seconds=_percentiles(Latencies(results.latencies(row["id"]))),
        first_token_seconds=first_token,
        tokens_per_second=speed,
        unreadable_verdicts=judging.unreadable,
        judges=judging.judges,
        agreement=judging.agreement,
    )


def _percentiles(measured: Latencies) -> Percentiles:
    found = measured.summary()
    return Percentiles(found.get("p50"), found.get("p95"), found.get("p90"), found.get("p99"))


def _streaming(results: MeasuringStore, evaluation_id: int) -> tuple[Percentiles, Percentiles]:
    """Time to the first token, and tokens a second from then on; not measured where nothing was streamed now."""
    first, speed = Latencies(), Latencies()
    for begun, whole, tokens in results.streamed(evaluation_id):
        first.add(begun)
        if tokens is not None and whole > begun:
            speed.add(tokens / (whole - begun))
    return _percentiles(first), _percentiles(speed)


def _measure(
    results: MeasuringStore, row: EvaluationColumns, marks: Mapping[str, ScorerTally]
) -> tuple[dict[str, MetricEstimate], dict[str, dict[str, MetricEstimate]]]:
    """The first scorer's metrics go by their own names, further scorers' by `scorer.metric`."""
    metrics: dict[str, MetricEstimate] = {}
    categories: dict[str, dict[str, MetricEstimate]] = {}
    scorers = orjson.loads(row["scorers"])
    names = orjson.loads(row["metrics"])
    labels = iter(metric_labels(list(scorers), names))
    for scorer, version in scorers.items():
        covered = _covered(results, row["id"], scorer, version)
        for name in metrics_of(scorer, names):
            label = next(labels)
            with plugins.attribute_faults("metrics", metric_name(name)):
                metric = create_metric(name)
                total, parts = measure_all(metric, scores_for(metric, results, row["id"], scorer, version))
            # A share of marks that reach a threshold is no mean of marks: it can be 1 whatever they cover.
            is_cut = takes_scores_as_they_are(metric)
            found = with_coverage(total, covered.get(None), is_cut=is_cut)
            found = replace(found, title=metric_title(label, name, has_parts=marks[scorer].has_parts))
            for how in _ways_to_count_wrong(marks[scorer]):
                worst = metric.measure(scores_for(metric, results, row["id"], scorer, version, how))
                found = _with_worst(found, how, marks[scorer], worst)
            metrics[label] = found
            for category, estimate in parts.items():
                # The classes of each category would be a table of their own.
                part = with_coverage(replace(estimate, classes=None), covered.get(category), is_cut=is_cut)
                categories.setdefault(category, {})[label] = part
    if row["epochs"] > 1:
        scorer, version = next(iter(scorers.items()))
        metrics |= _measure_repeats(results, row, scorer, version, marks[scorer])
    return metrics, categories


def _measure_repeats(
    results: MeasuringStore, row: EvaluationColumns, scorer: str, version: str, marks: ScorerTally
) -> dict[str, MetricEstimate]:
    from proctor.runs.measuring.repeats import (
        measure_repeats,
    )  # most runs have one epoch, and SQLAlchemy is slow to load

    def measure(how: Unmeasured) -> dict[str, Estimate]:
        return measure_repeats(results.database, row["id"], scorer, version, row["epochs"], how)

    found = {label: MetricEstimate.of(estimate) for label, estimate in measure(Unmeasured.LEFT_OUT).items()}
    for how in _ways_to_count_wrong(marks):
        for label, estimate in measure(how).items():
            if is_of_right_answers(label):
                found[label] = _with_worst(found[label], how, marks, estimate)
    return found


def _covered(results: MeasuringStore, evaluation_id: int, scorer: str, version: str) -> dict[str | None, float]:
    """How much of the weights the marks cover, on average, by category and of all; nothing where marks are whole."""
    shares: dict[str | None, list[float]] = {}
    if scorer_traits(scorer).has_coverage:
        for category, share in results.covered(evaluation_id, scorer, version):
            for key in {None, category}:
                shares.setdefault(key, []).append(share)
    return {key: round(sum(found) / len(found), 6) for key, found in shares.items()}


def _ways_to_count_wrong(marks: ScorerTally) -> list[Unmeasured]:
    """The ways in which trials without a mark count as wrong, where there are such trials."""
    ways = {Unmeasured.WRONG: marks.unmeasured, Unmeasured.UNREADABLE_WRONG: marks.unreadable}
    return [how for how, count in ways.items() if count]


def _with_worst(found: MetricEstimate, how: Unmeasured, marks: ScorerTally, worst: Estimate) -> MetricEstimate:
    """With how many trials have no mark, and what the value would be if they were wrong."""
    if how is Unmeasured.WRONG:
        return replace(found, unmeasured=marks.unmeasured, if_unmeasured_wrong=worst.value)
    return replace(found, unreadable=marks.unreadable, if_unreadable_wrong=worst.value)


def with_coverage(estimate: Estimate, share: float | None, *, is_cut: bool = True) -> MetricEstimate:
    """An estimate of marks with how much of the weights they cover, where they do not cover all.

    That is the most that a mark can be, so the interval of a mean of marks is cut there.
    """
    found = replace(MetricEstimate.of(estimate), covers=share)
    if share is None or not is_cut or found.ci95 is None or found.value is None:
        return found
    most, (low, high) = max(share, found.value), found.ci95
    return replace(found, ci95=(min(low, most), min(high, most)))


def scores_for(
    metric: Metric,
    results: MeasuringStore,
    evaluation_id: int,
    scorer: str,
    version: str,
    unmeasured: Unmeasured = Unmeasured.LEFT_OUT,
) -> Iterator[SampleScore]:
    """What this metric reads; nothing for one that reads answers where the scorer marks whole texts."""
    if not (isinstance(metric, ReadsAnswers) and metric.reads_answers):
        return results.sample_scores(evaluation_id, scorer, version, unmeasured)
    if not has_votes(scorer, version):
        return iter(())
    from proctor.stores.classes import class_scores  # few metrics need it, and SQLAlchemy is slow to load

    return class_scores(results.database, evaluation_id, scorer, version, unmeasured)


def _cost_per_correct(cost_usd: Decimal | None, right: int) -> float | None:
    """What one fully right answer cost, wrong ones paid for too; None when nothing was right or no price is known."""
    return float(cost_usd) / right if cost_usd is not None and right else None


def _selection(row: EvaluationColumns) -> Selection:
    spec = orjson.loads(row["benchmark_spec"])
    names = ("where", "limit", "shots", "parameters")
    return Selection(**{name: spec[name] for name in names if spec.get(name)})
