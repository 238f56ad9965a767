"""A comparison as one document: the same numbers for the terminal, JSON, Markdown and HTML."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import asdict

from proctor.metrics.compare import ANYTIME, PairedComparison, correct
from proctor.metrics.rounding import figure_text
from proctor.metrics.verdicts import TARGET, verdict
from proctor.reports.compared_metric import read_sides
from proctor.reports.figures import difference_text, plural
from proctor.reports.labels import scorer_traits
from proctor.reports.pairs import Pair
from proctor.reports.summary import cut_at_covered, estimate_json
from proctor.reports.trust import FORGEABLE, uneven_notes
from proctor.stores.comparing import (
    BEFORE_CONTENT,
    EvaluationMarks,
    EvaluationRow,
    SampleView,
    covered_samples,
    view_samples,
)
from proctor.stores.database import Database

Summary = Mapping[str, Any]


class MeasuredPair(Struct, frozen=True):
    """A pair's comparison, and the one that it had to agree with: unreadable verdicts counted as wrong."""

    comparison: PairedComparison
    worst: PairedComparison | None


def measure_pair(database: Database, pair: Pair, summaries: Mapping[int, Summary], *, flips: int = 0) -> MeasuredPair:
    """Compare one pair from its stored marks; the ids of the first `flips` flipped samples are kept, each way."""
    a, b = (
        read_sides(database, row, pair.metric, summaries[row.id], by_content=pair.is_overlap)
        for row in (pair.a, pair.b)
    )
    return MeasuredPair(*a.compare(b, names=pair.names, keep=flips))


def comparison_document(
    database: Database,
    pairs: Sequence[Pair],
    summaries: Mapping[int, Summary],
    *,
    not_compared: Sequence[str] = (),
    target: float = TARGET,
    flips: int = 0,
) -> dict[str, Any]:
    """Compare every pair, correct them as one family, and put everything a reader may ask for into one document.

    `summaries` holds each evaluation's own numbers by its id; `flips` is how many flipped samples are shown each way.
    """
    measured = [measure_pair(database, pair, summaries, flips=flips) for pair in pairs]
    corrected = correct([one.comparison for one in measured])
    worst = correct([one.worst or one.comparison for one in measured])
    return {
        "kind": "comparison",
        "comparisons": [
            {
                **_numbers(pair, comparison, summaries, _covered(database, pair)),
                **_trust(pair, comparison, summaries, None if one.worst is None else counted, target),
                "verdict": _verdict(comparison, one.worst, target),
                "flips": _flips(database, pair, comparison),
            }
            for pair, comparison, counted, one in zip(pairs, corrected, worst, measured, strict=True)
        ],
        "not_compared": list(not_compared),
        "target": target,
    }


def _verdict(comparison: PairedComparison, worst: PairedComparison | None, target: float) -> str:
    if worst is not None and not comparison.is_shown:
        return "no difference could be shown that also holds with unreadable judge verdicts counted as wrong"
    return verdict(comparison, target=target)


def _trust(
    pair: Pair,
    comparison: PairedComparison,
    summaries: Mapping[int, Summary],
    worst: PairedComparison | None,
    target: float,
) -> dict[str, Any]:
    """What the verdict must be told with: trials without a mark, unreadable verdicts, marks that could be forged."""
    sides = {
        f"{name} ({letter})": (summary, summary["metrics"].get(pair.metric.label, {}))
        for letter, row, name in zip("AB", (pair.a, pair.b), comparison.names, strict=True)
        for summary in (summaries[row.id],)
    }
    notes = [*uneven_notes(sides).values()]
    if worst is not None:
        counts = ", ".join(f"{name} {estimate.get('unreadable', 0):,}" for name, (_, estimate) in sides.items())
        shown = difference_text(estimate_json(worst.difference))
        notes.append(
            f"Unreadable judge verdicts: {counts}. The interval and p hold both with them left out "
            f"and with them counted as wrong (then B - A is {shown})."
        )
    notes += [f"{name}: {FORGEABLE}." for name, (summary, _) in sides.items() if summary.get("is_forgeable")]
    counted = None
    if worst is not None:
        counted = {
            "difference": estimate_json(worst.difference), "p_value": worst.p_value, "better": worst.better,
            "verdict": verdict(worst, target=target),
        }  # fmt: skip
    return {"notes": notes, "if_unreadable_wrong": counted}


def _covered(database: Database, pair: Pair) -> list[dict[str, float]]:
    """How much of the weights the compared marks cover on average, A's and B's; nothing where marks are whole."""
    if not scorer_traits(pair.scorer).has_coverage or not pair.metric.is_mean_of_marks:
        return [{}, {}]
    rows = (pair.a, pair.b)
    marks = [EvaluationMarks(database, row, pair.scorer, by_content=pair.is_overlap) for row in rows]
    shared = set.intersection(*({name for name, value, *_ in side if value is not None} for side in marks))
    found = [covered_samples(database, row, pair.scorer, by_content=pair.is_overlap) for row in rows]
    known = [[share for name, share in side.items() if name in shared] for side in found]
    return [{"covers": round(sum(shares) / len(shares), 6)} if shares else {} for shares in known]


def _numbers(
    pair: Pair, comparison: PairedComparison, summaries: Mapping[int, Summary], covered: Sequence[Mapping[str, float]]
) -> dict[str, Any]:
    estimates = (comparison.a, comparison.b)
    sides = [
        {
            **_side(row, name, summaries[row.id], pair.metric.label),
            "score": cut_at_covered(estimate_json(estimate), share),
        }
        for row, name, estimate, share in zip((pair.a, pair.b), comparison.names, estimates, covered, strict=True)
    ]
    return {
        "benchmark": pair.a.benchmark,
        "scorer": pair.scorer,
        "metric": pair.metric.label,
        "a": sides[0],
        "b": sides[1],
        "n": comparison.n,
        "left_out": asdict(comparison.left_out),
        "difference": estimate_json(comparison.difference),
        "test": comparison.test,
        "p_value": comparison.p_value,
        "p_error": comparison.p_error,
        "p_adjusted": comparison.p_adjusted,
        "family": comparison.family,
        "effects": dict(comparison.effects),
        "detectable_difference": comparison.detectable,
        "better": comparison.better,
        "warnings": [*pair.warnings, *_stopping(pair, comparison, summaries), *_uneven(covered), *_unlike(comparison)],
    }


def _uneven(covered: Sequence[Mapping[str, float]]) -> list[str]:
    """What was not measured earned nothing: of two that were measured unlike, one could earn more."""
    a, b = (one.get("covers") for one in covered)
    if a is None or b is None or a == b:
        return []
    why = "what was not measured scores 0, so part of the difference comes from what was measured"
    return [f"A's marks cover {figure_text(a)} of the weights and B's {figure_text(b)}: {why}."]


def _unlike(comparison: PairedComparison) -> list[str]:
    if not comparison.unlike_weights:
        return []
    count = plural(comparison.unlike_weights, "sample")
    return [f"The weights of {count} differ between A and B: this comparison uses the larger one for both."]


def _stopping(pair: Pair, comparison: PairedComparison, summaries: Mapping[int, Summary]) -> list[str]:
    """What a rule that stops early does to the numbers, said for each run in which it left something out."""
    rows = [row for row in (pair.a, pair.b) if row.until is not None and _is_cut_short(summaries[row.id])]
    if not rows or not comparison.n:
        return []
    runs = " and ".join(dict.fromkeys(f"run {row.run_id} ('{row.until}')" for row in rows))
    start = f"A stop rule chose the number of samples by looking at the results, in {runs}: "
    if comparison.test == ANYTIME:
        end = "the intervals of A's and B's own scores assume a fixed number of samples and do not."
        return [f"{start}the difference, its interval and p are anytime-valid and hold; {end}"]
    return [f"{start}intervals and p assume a fixed number of samples, so they are too narrow and too small."]


def _is_cut_short(summary: Summary) -> bool:
    return bool(summary["stopped"] or summary["pending"])


def _side(row: EvaluationRow, name: str, summary: Summary, label: str) -> dict[str, Any]:
    own = summary["metrics"].get(label, {})
    return {
        "name": name,
        "run_id": row.run_id,
        "model": row.model,
        "side": row.side,
        "settings": {**row.prompt_settings, **row.options},
        "version": row.version,
        "digest": row.digest,
        "options": dict(row.options),
        **{key: summary[key] for key in ("trials", "scored", "invalid", "failed", "stopped", "pending", "cached")},
        **{key: own[key] for key in ("unmeasured", "if_unmeasured_wrong") if key in own},
        "is_forgeable": summary.get("is_forgeable", False),
        "usage": summary["usage"],
        "cost_usd": summary["cost_usd"],
        "cost_usd_per_answer": cost_per_answer(summary),
        "cost_basis": summary.get("cost_basis", "unknown"),
        "price_sources": summary.get("price_sources", []),
        "latency_seconds": summary["latency_seconds"],
    }


def cost_per_answer(summary: Summary) -> float | None:
    """What an answer cost when it was asked for; taking it from the cache later does not make it cheaper."""
    cost = summary.get("answers_cost_usd", summary["cost_usd"])
    answered = summary["scored"] + summary["invalid"]
    return cost / answered if cost is not None and answered else None


def _flips(database: Database, pair: Pair, comparison: PairedComparison) -> dict[str, Any]:
    """The samples that only one of the two got right: all counted, the first few shown."""
    gained, lost = (
        [name.partition(BEFORE_CONTENT)[0] if pair.is_overlap else name for name in names]
        for names in (comparison.gained_ids, comparison.lost_ids)
    )
    ways = {"gained": (comparison.gained, gained), "lost": (comparison.lost, lost)}
    shown = [*gained, *lost]
    views = [view_samples(database, row, pair.scorer, shown) if shown else {} for row in (pair.a, pair.b)]
    return {
        way: {"count": count, "samples": [_flip(name, *views) for name in names]}
        for way, (count, names) in ways.items()
    }


def _flip(name: str, in_a: Mapping[str, SampleView], in_b: Mapping[str, SampleView]) -> dict[str, Any]:
    a, b = in_a[name], in_b[name]
    return {
        "sample_id": name,
        "category": a.category,
        "input": a.input,
        "target": a.target,
        **{
            side: {"values": view.values, "answers": view.answers, "responses": view.responses}
            for side, view in (("a", a), ("b", b))
        },
    }
