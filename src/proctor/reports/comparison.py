"""A comparison as one document: the same numbers for the terminal, JSON, Markdown and HTML."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from proctor.domain.estimate import SampleScore
from proctor.metrics.compare import Comparison, compare, correct
from proctor.metrics.verdicts import TARGET, verdict
from proctor.reports.pairs import Pair
from proctor.reports.summary import estimate_json
from proctor.stores.comparing import EvaluationRow, Marks, SampleView, view_samples
from proctor.stores.database import Database

Summary = Mapping[str, Any]


@dataclass(slots=True)
class LeftOut:
    """Samples that only one of the two has a score for, by what happened to the other."""

    only_a_failed_in_b: int = 0
    only_a_not_asked_in_b: int = 0
    only_b_failed_in_a: int = 0
    only_b_not_asked_in_a: int = 0
    failed_in_both: int = 0

    @property
    def total(self) -> int:
        return (
            self.only_a_failed_in_b
            + self.only_a_not_asked_in_b
            + self.only_b_failed_in_a
            + self.only_b_not_asked_in_a
            + self.failed_in_both
        )


@dataclass(slots=True)
class _Reading:
    """Passes scores on to the comparison and remembers which samples had one."""

    marks: Marks
    seen: set[str] = field(default_factory=set)

    def __iter__(self) -> Iterator[SampleScore]:
        for score in self.marks:
            self.seen.add(score.sample_id)
            yield score


def measure_pair(database: Database, pair: Pair) -> tuple[Comparison, LeftOut]:
    """Compare one pair from its stored marks."""
    a, b = (_Reading(Marks(database, row, pair.scorer)) for row in (pair.a, pair.b))
    comparison = compare(a, b, names=pair.names)
    failed_a, failed_b = a.marks.unmeasured, b.marks.unmeasured
    in_b, in_a = len(a.seen & failed_b), len(b.seen & failed_a)
    left_out = LeftOut(
        in_b, comparison.only_a - in_b, in_a, comparison.only_b - in_a, len(failed_a & failed_b)
    )  # fmt: skip
    return comparison, left_out


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
    measured = [measure_pair(database, pair) for pair in pairs]
    corrected = correct([comparison for comparison, _ in measured])
    return {
        "kind": "comparison",
        "comparisons": [
            {
                **_numbers(pair, comparison, left_out, summaries),
                "verdict": verdict(comparison, target=target),
                "flips": _flips(database, pair, comparison, flips),
            }
            for pair, comparison, (_, left_out) in zip(pairs, corrected, measured, strict=True)
        ],
        "not_compared": list(not_compared),
        "target": target,
    }


def _numbers(pair: Pair, comparison: Comparison, left_out: LeftOut, summaries: Mapping[int, Summary]) -> dict[str, Any]:
    estimates = (comparison.a, comparison.b)
    sides = [
        {**_side(row, name, summaries[row.id]), "score": estimate_json(estimate)}
        for row, name, estimate in zip((pair.a, pair.b), comparison.names, estimates, strict=True)
    ]
    return {
        "benchmark": pair.a.benchmark,
        "scorer": pair.scorer,
        "a": sides[0],
        "b": sides[1],
        "n": comparison.n,
        "left_out": {name: getattr(left_out, name) for name in LeftOut.__slots__},
        "difference": estimate_json(comparison.difference),
        "test": comparison.test,
        "p_value": comparison.p_value,
        "p_error": comparison.p_error,
        "p_adjusted": comparison.p_adjusted,
        "family": comparison.family,
        "effects": dict(comparison.effects),
        "detectable_difference": comparison.detectable,
        "better": comparison.better,
        "warnings": list(pair.warnings),
    }


def _side(row: EvaluationRow, name: str, summary: Summary) -> dict[str, Any]:
    return {
        "name": name,
        "run_id": row.run_id,
        "model": row.model,
        "version": row.version,
        "digest": row.digest,
        "options": dict(row.options),
        **{key: summary[key] for key in ("trials", "scored", "invalid", "failed", "stopped", "pending", "cached")},
        "usage": summary["usage"],
        "cost_usd": summary["cost_usd"],
        "cost_usd_per_answer": cost_per_answer(summary),
        "latency_seconds": summary["latency_seconds"],
    }


def cost_per_answer(summary: Summary) -> float | None:
    """What an answer cost when it was asked for; taking it from the cache later does not make it cheaper."""
    cost = summary.get("answers_cost_usd", summary["cost_usd"])
    answered = summary["scored"] + summary["invalid"]
    return cost / answered if cost is not None and answered else None


def _flips(database: Database, pair: Pair, comparison: Comparison, most: int) -> dict[str, Any]:
    """The samples that only one of the two got right: all counted, the first few shown."""
    ways = {"gained": sorted(comparison.gained), "lost": sorted(comparison.lost)}
    shown = [name for names in ways.values() for name in names[:most]]
    views = [view_samples(database, row, pair.scorer, shown) if shown else {} for row in (pair.a, pair.b)]
    return {
        way: {"count": len(names), "samples": [_flip(name, *views) for name in names[:most]]}
        for way, names in ways.items()
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
