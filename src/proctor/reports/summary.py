"""The numbers of a run: every one with its n and interval, every one recomputable from stored results."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import orjson
from msgspec.structs import replace

from proctor.domain.estimate import Estimate, SampleScore
from proctor.domain.price import UNKNOWN, basis_source, joint_kind
from proctor.metrics.latency import Latencies
from proctor.metrics.metric import Metric, measure_all
from proctor.metrics.registry import create_metric
from proctor.reports.labels import WITH_COVERAGE, has_votes, metric_labels, metrics_of
from proctor.reports.repeats import measure_repeats
from proctor.stores.classes import class_scores
from proctor.stores.results import TOKENS, ResultStore

NO_LATENCY = {"p50": None, "p95": None}
"""Nothing was asked now: not measured, which is not the same as 0."""


def summarise_evaluation(results: ResultStore, row: dict[str, Any], *, has_ended: bool) -> dict[str, Any]:
    """The evaluation as `--json` shows it."""
    tally = results.tally(row["id"])
    trials = row["samples"] * row["epochs"]
    metrics, categories = _measure(results, row)
    missing = trials - tally.recorded
    return {
        "model": row["model"],
        "benchmark": row["benchmark"],
        "version": row["version"],
        "digest": row["digest"],
        "selection": _selection(row),
        "samples": row["samples"],
        "epochs": row["epochs"],
        "trials": trials,
        "scored": tally.scored,
        "invalid": tally.invalid,
        "failed": tally.failed,
        "stopped": missing if has_ended else 0,
        "pending": 0 if has_ended else missing,
        "cached": tally.cached,
        "metrics": metrics,
        "categories": categories,
        "usage": {name: getattr(tally, name) for name in TOKENS},
        "cost_usd": None if tally.cost_usd is None else float(tally.cost_usd),
        "answers_cost_usd": None if tally.answers_cost_usd is None else float(tally.answers_cost_usd),
        "cost_basis": UNKNOWN if tally.answers_cost_usd is None else joint_kind(tally.cost_bases),
        "price_sources": [source for basis in tally.cost_bases if (source := basis_source(basis))],
        "cost_per_correct_usd": _cost_per_correct(tally.answers_cost_usd, metrics, tally.scored + tally.invalid),
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


def _measure(results: ResultStore, row: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The first scorer's metrics go by their own names, further scorers' by `scorer.metric`."""
    metrics: dict[str, Any] = {}
    categories: dict[str, Any] = {}
    scorers = orjson.loads(row["scorers"])
    names = orjson.loads(row["metrics"])
    labels = iter(metric_labels(list(scorers), names))
    for scorer, version in scorers.items():
        covered = _covered(results, row["id"], scorer, version)
        for name in metrics_of(scorer, names):
            metric = create_metric(name)
            label = next(labels)
            total, parts = measure_all(metric, scores_for(metric, results, row["id"], scorer, version))
            metrics[label] = estimate_json(total) | covered.get(None, {})
            for category, estimate in parts.items():
                # The classes of each category would be a table of their own.
                found = estimate_json(replace(estimate, classes=None)) | covered.get(category, {})
                categories.setdefault(category, {})[label] = found
    if row["epochs"] > 1:
        scorer, version = next(iter(scorers.items()))
        repeated = measure_repeats(results.database, row["id"], scorer, version, row["epochs"])
        metrics |= {label: estimate_json(estimate) for label, estimate in repeated.items()}
    return metrics, categories


def _covered(results: ResultStore, evaluation_id: int, scorer: str, version: str) -> dict[str | None, dict[str, float]]:
    """How much of the weights the marks cover, on average, by category and of all; nothing where marks are whole."""
    shares: dict[str | None, list[float]] = {}
    if scorer in WITH_COVERAGE:
        for category, share in results.covered(evaluation_id, scorer, version):
            for key in {None, category}:
                shares.setdefault(key, []).append(share)
    return {key: {"covers": round(sum(found) / len(found), 6)} for key, found in shares.items()}


def scores_for(
    metric: Metric, results: ResultStore, evaluation_id: int, scorer: str, version: str
) -> Iterator[SampleScore]:
    """What this metric reads; nothing for one that reads answers where the scorer marks whole texts."""
    if not getattr(metric, "reads_answers", False):
        return results.sample_scores(evaluation_id, scorer, version)
    return class_scores(results.database, evaluation_id, scorer, version) if has_votes(scorer, version) else iter(())


def _cost_per_correct(cost_usd: Decimal | None, metrics: dict[str, Any], measured: int) -> float | None:
    """What one fully right answer cost, wrong ones paid for too; None when nothing was right or no price is known."""
    # An average over classes is no share of the answers, and another scorer's is not this one's.
    shares = (estimate for name, estimate in metrics.items() if not name.startswith("macro_") and "." not in name)
    share: float | None = next(shares, {"value": None})["value"]
    if cost_usd is None or not share or not measured:
        return None
    return float(cost_usd) / (share * measured)


def _selection(row: dict[str, Any]) -> dict[str, Any]:
    """What the plan said of the benchmark beside its name: which samples, which parameters."""
    spec = orjson.loads(row["benchmark_spec"])
    return {name: spec[name] for name in ("where", "limit", "shots", "parameters") if spec.get(name)}


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
