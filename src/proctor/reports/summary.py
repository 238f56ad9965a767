"""The numbers of a run: every one with its n and interval, every one recomputable from stored results."""

from __future__ import annotations

import operator
from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any

import orjson
from msgspec.structs import replace

from proctor import plugins
from proctor.domain.estimate import Estimate, SampleScore
from proctor.domain.price import UNKNOWN, basis_source, joint_kind
from proctor.metrics.latency import Latencies
from proctor.metrics.metric import Metric, ReadsAnswers, measure_all, takes_scores_as_they_are
from proctor.metrics.registry import create_metric, metric_name
from proctor.reports.labels import (
    has_votes,
    is_of_right_answers,
    metric_labels,
    metrics_of,
    scorer_traits,
    title_json,
)
from proctor.reports.repeats import measure_repeats
from proctor.stores.classes import class_scores
from proctor.stores.results import TOKENS, ResultStore, ScorerTally, Unmeasured

NO_LATENCY = {"p50": None, "p95": None}
"""Nothing was asked now: not measured, which is not the same as 0."""
IF_WRONG = {Unmeasured.WRONG: "if_unmeasured_wrong", Unmeasured.UNREADABLE_WRONG: "if_unreadable_wrong"}
"""What a metric's value would be if trials without a mark, or without a verdict that could be read, were wrong."""


def summarise_evaluation(results: ResultStore, row: dict[str, Any], *, has_ended: bool) -> dict[str, Any]:
    """The evaluation as `--json` shows it."""
    tally = results.tally(row["id"])
    marks = {
        scorer: results.tally_scorer(row["id"], scorer, version)
        for scorer, version in orjson.loads(row["scorers"]).items()
    }
    trials = row["samples"] * row["epochs"]
    metrics, categories = _measure(results, row, marks)
    missing = trials - tally.recorded
    return {
        "model": row["model"],
        "benchmark": row["benchmark"],
        "version": row["version"],
        "digest": row["digest"],
        "selection": _selection(row),
        "revisions": _revisions(row),
        "samples": row["samples"],
        "epochs": row["epochs"],
        "trials": trials,
        "scored": tally.scored,
        "invalid": tally.invalid,
        "failed": tally.failed,
        "stopped": missing if has_ended else 0,
        "pending": 0 if has_ended else missing,
        "cached": tally.cached,
        "is_forgeable": any(one.is_forgeable for one in marks.values()),
        "metrics": metrics,
        "categories": categories,
        "usage": {name: getattr(tally, name) for name in TOKENS},
        "cost_usd": None if tally.cost_usd is None else float(tally.cost_usd),
        "answers_cost_usd": None if tally.answers_cost_usd is None else float(tally.answers_cost_usd),
        "cost_basis": UNKNOWN if tally.answers_cost_usd is None else joint_kind(tally.cost_bases),
        "price_sources": [source for basis in tally.cost_bases if (source := basis_source(basis))],
        "cost_per_correct_usd": _cost_per_correct(tally.answers_cost_usd, next(iter(marks.values())).right),
        "latency_seconds": {**NO_LATENCY, **Latencies(results.latencies(row["id"])).summary()},
        **_streaming(results, row["id"]),
    }


def _streaming(results: ResultStore, evaluation_id: int) -> dict[str, Any]:
    """Time to the first token, and tokens a second from then on; not measured where nothing was streamed now."""
    first, speed = Latencies(), Latencies()
    for begun, whole, tokens in results.streamed(evaluation_id):
        first.add(begun)
        if tokens is not None and whole > begun:
            speed.add(tokens / (whole - begun))
    return {
        "first_token_seconds": {**NO_LATENCY, **first.summary()},
        "tokens_per_second": {**NO_LATENCY, **speed.summary()},
    }


def _measure(
    results: ResultStore, row: dict[str, Any], marks: Mapping[str, ScorerTally]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The first scorer's metrics go by their own names, further scorers' by `scorer.metric`."""
    metrics: dict[str, Any] = {}
    categories: dict[str, Any] = {}
    scorers = orjson.loads(row["scorers"])
    names = orjson.loads(row["metrics"])
    labels = iter(metric_labels(list(scorers), names))
    for scorer, version in scorers.items():
        covered = _covered(results, row["id"], scorer, version)
        for name in metrics_of(scorer, names):
            label = next(labels)
            with plugins.guard("metrics", metric_name(name)):
                metric = create_metric(name)
                total, parts = measure_all(metric, scores_for(metric, results, row["id"], scorer, version))
            # A share of marks that reach a threshold is no mean of marks: it can be 1 whatever they cover.
            cut = cut_at_covered if takes_scores_as_they_are(metric) else operator.or_
            metrics[label] = cut(estimate_json(total), covered.get(None, {}))
            metrics[label] |= title_json(label, name, has_parts=marks[scorer].has_parts)
            for how, counted in _counted_wrong(marks[scorer]).items():
                worst = metric.measure(scores_for(metric, results, row["id"], scorer, version, how))
                metrics[label] |= counted | {IF_WRONG[how]: worst.value}
            for category, estimate in parts.items():
                # The classes of each category would be a table of their own.
                found = cut(estimate_json(replace(estimate, classes=None)), covered.get(category, {}))
                categories.setdefault(category, {})[label] = found
    if row["epochs"] > 1:
        scorer, version = next(iter(scorers.items()))
        metrics |= _measure_repeats(results, row, scorer, version, marks[scorer])
    return metrics, categories


def _measure_repeats(
    results: ResultStore, row: dict[str, Any], scorer: str, version: str, marks: ScorerTally
) -> dict[str, Any]:
    def measure(how: Unmeasured) -> dict[str, Estimate]:
        return measure_repeats(results.database, row["id"], scorer, version, row["epochs"], how)

    found = {label: estimate_json(estimate) for label, estimate in measure(Unmeasured.LEFT_OUT).items()}
    for how, counted in _counted_wrong(marks).items():
        for label, estimate in measure(how).items():
            if is_of_right_answers(label):
                found[label] |= counted | {IF_WRONG[how]: estimate.value}
    return found


def _covered(results: ResultStore, evaluation_id: int, scorer: str, version: str) -> dict[str | None, dict[str, float]]:
    """How much of the weights the marks cover, on average, by category and of all; nothing where marks are whole."""
    shares: dict[str | None, list[float]] = {}
    if scorer_traits(scorer).has_coverage:
        for category, share in results.covered(evaluation_id, scorer, version):
            for key in {None, category}:
                shares.setdefault(key, []).append(share)
    return {key: {"covers": round(sum(found) / len(found), 6)} for key, found in shares.items()}


def _counted_wrong(marks: ScorerTally) -> dict[Unmeasured, dict[str, int]]:
    """The ways in which trials without a mark count as wrong, where there are such trials, and how many they are."""
    found = {}
    if marks.unmeasured:
        found[Unmeasured.WRONG] = {"unmeasured": marks.unmeasured}
    if marks.unreadable:
        found[Unmeasured.UNREADABLE_WRONG] = {"unreadable": marks.unreadable}
    return found


def cut_at_covered(estimate: dict[str, Any], covered: Mapping[str, float]) -> dict[str, Any]:
    """An estimate of marks with how much of the weights they cover, which is the most that a mark can be."""
    share, interval = covered.get("covers"), estimate["ci95"]
    if share is None or interval is None:
        return {**estimate, **covered}
    most = max(share, estimate["value"])
    return {**estimate, "ci95": [min(end, most) for end in interval], **covered}


def scores_for(
    metric: Metric,
    results: ResultStore,
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
    return class_scores(results.database, evaluation_id, scorer, version, unmeasured)


def _cost_per_correct(cost_usd: Decimal | None, right: int) -> float | None:
    """What one fully right answer cost, wrong ones paid for too; None when nothing was right or no price is known."""
    return float(cost_usd) / right if cost_usd is not None and right else None


def _selection(row: dict[str, Any]) -> dict[str, Any]:
    """What the plan said of the benchmark beside its name: which samples, which parameters."""
    spec = orjson.loads(row["benchmark_spec"])
    return {name: spec[name] for name in ("where", "limit", "shots", "parameters") if spec.get(name)}


def _revisions(row: dict[str, Any]) -> dict[str, str]:
    """The commit of each source that came from a hub."""
    found: dict[str, str] = orjson.loads(row["benchmark_spec"]).get("revisions", {})
    return found


def estimate_json(estimate: Estimate) -> dict[str, Any]:
    interval = None if estimate.low is None or estimate.high is None else [estimate.low, estimate.high]
    return {
        "value": estimate.value,
        "stderr": estimate.stderr,
        "ci95": interval,
        "n": estimate.n,
        "method": estimate.method,
        **({} if estimate.classes is None else {"classes": estimate.classes}),
    }
