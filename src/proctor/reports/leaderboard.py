"""Models of many runs in order, with ranks that admit what is not known.

Only evaluations of the same thing stand in one table: the same benchmark, version, samples, prompts (and so shots) and
scorer. What differs in any of these is another table.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from typing import Any, Literal

import orjson
from msgspec import Struct, field

from proctor.domain.estimate import Estimate
from proctor.metrics.compare import compare_marks
from proctor.metrics.pairing import Mark
from proctor.metrics.ranking import Rank, rank_paired, rank_unpaired
from proctor.stores.comparing import EvaluationRow, Marks
from proctor.stores.database import Database

Which = Literal["latest", "best"]
Ranks = Literal["auto", "paired", "separate"]
Summary = Mapping[str, Any]

TAGS = ("language", "subject", "task", "form")
PAIRED_AT_MOST = 100_000
"""So many sample comparisons are made unasked; beyond, ranks come from each model's own interval."""


class Filters(Struct, frozen=True):
    """What a leaderboard is about; an empty filter lets everything through."""

    benchmarks: tuple[str, ...] = ()
    versions: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    tags: Mapping[str, str] = field(default_factory=dict)

    def matches(self, row: EvaluationRow) -> bool:
        """Whether the tags fit; a tag may hold several values with commas between them."""
        return all(value in _values(row.tags.get(name)) for name, value in self.tags.items())


def _values(tag: str | None) -> list[str]:
    return [] if tag is None else [part.strip() for part in tag.split(",")]


class Entry(Struct, frozen=True):
    """The one evaluation that stands for a model, and how many it was chosen from."""

    name: str
    row: EvaluationRow
    summary: Summary
    chosen_from: int


def leaderboard_document(
    database: Database,
    rows: Sequence[EvaluationRow],
    summaries: Mapping[int, Summary],
    *,
    which: Which = "latest",
    ranks: Ranks = "auto",
    metric: str | None = None,
) -> dict[str, Any]:
    """One table for each set of comparable evaluations; `rows` come newest first."""
    tables: dict[tuple[str, ...], list[EvaluationRow]] = {}
    for row in rows:
        tables.setdefault(_what_is_compared(row), []).append(row)
    chosen = {key: _entries(members, summaries, which, metric) for key, members in tables.items()}
    chosen = {key: entries for key, entries in chosen.items() if entries}
    work = sum(_comparisons(entries) for entries in chosen.values())
    is_paired = ranks == "paired" or (ranks == "auto" and work <= PAIRED_AT_MOST)
    return {
        "kind": "leaderboard",
        "which": which,
        "ranks": "paired" if is_paired else "separate",
        "tables": [_table(database, chosen[key], metric, is_paired) for key in sorted(chosen)],
    }


def _what_is_compared(row: EvaluationRow) -> tuple[str, ...]:
    scorers = ",".join(f"{name}={version}" for name, version in row.scorers.items())
    return (row.benchmark, row.version, row.digest, scorers)


def _comparisons(entries: Sequence[Entry]) -> int:
    return len(entries) * (len(entries) - 1) // 2 * entries[0].row.samples


def _entries(
    rows: Iterable[EvaluationRow], summaries: Mapping[int, Summary], which: Which, metric: str | None
) -> list[Entry]:
    """One evaluation a model; models asked with other options are other models."""
    groups: dict[tuple[str, str, str], list[EvaluationRow]] = {}
    for row in rows:
        if _estimate(summaries[row.id], metric).value is not None:
            groups.setdefault(_model_key(row), []).append(row)
    labels = [key[0] for key in groups]
    return [
        _entry(_name(key, is_only=labels.count(key[0]) == 1), members, summaries, which, metric)
        for key, members in groups.items()
    ]


def _model_key(row: EvaluationRow) -> tuple[str, str, str]:
    options = orjson.dumps(row.options, option=orjson.OPT_SORT_KEYS).decode()
    settings = orjson.dumps(row.settings, option=orjson.OPT_SORT_KEYS).decode()
    return row.model, options, settings


def _name(key: tuple[str, str, str], *, is_only: bool) -> str:
    """The model with its sampling options, and with its settings too where they tell it from another."""
    label, options, settings = key
    values = {**({} if is_only else orjson.loads(settings)), **orjson.loads(options)}
    text = ", ".join(f"{name}={value}" for name, value in values.items()) or ("" if is_only else "no options")
    return f"{label} ({text})" if text else label


def _entry(
    name: str, members: Sequence[EvaluationRow], summaries: Mapping[int, Summary], which: Which, metric: str | None
) -> Entry:
    def value(row: EvaluationRow) -> float:
        return _estimate(summaries[row.id], metric).value or 0.0

    # Of equals, max takes the first, which is the newest.
    row = members[0] if which == "latest" else max(members, key=value)
    return Entry(name, row, summaries[row.id], len(members))


def _estimate(summary: Summary, metric: str | None) -> Estimate:
    metrics = summary["metrics"]
    name = metric or next(iter(metrics), None)
    if name not in metrics:
        return Estimate(None, 0)
    low, high = metrics[name]["ci95"] or (None, None)
    return Estimate(metrics[name]["value"], metrics[name]["n"], metrics[name]["stderr"], low, high)


def _table(database: Database, entries: Sequence[Entry], metric: str | None, is_paired: bool) -> dict[str, Any]:
    by_name = {entry.name: entry for entry in entries}
    ranked = _rank_paired(database, entries, metric) if is_paired else _rank_separately(entries, metric)
    first = entries[0]
    return {
        "benchmark": first.row.benchmark,
        "version": first.row.version,
        "digest": first.row.digest,
        "samples": first.row.samples,
        "shots": first.row.shots,
        "selection": first.summary.get("selection", {}),
        "scorers": dict(first.row.scorers),
        "tags": dict(first.row.tags),
        "metric": metric or next(iter(first.summary["metrics"])),
        "rows": [_row(rank, by_name[rank.name], metric) for rank in ranked],
    }


def _rank_separately(entries: Sequence[Entry], metric: str | None) -> list[Rank]:
    return rank_unpaired({entry.name: _estimate(entry.summary, metric) for entry in entries})


def _rank_paired(database: Database, entries: Sequence[Entry], metric: str | None) -> list[Rank]:
    values = {entry.name: _estimate(entry.summary, metric).value or 0.0 for entry in entries}
    marks: dict[str, Iterable[Mark]] = {
        entry.name: Marks(database, entry.row, _scorer(entry.row, metric)) for entry in entries
    }
    if _comparisons(entries) <= PAIRED_AT_MOST:
        # Few enough to be held: reading each model once for every other one would take longer.
        marks = {name: list(side) for name, side in marks.items()}
    pairs = combinations(marks, 2)
    return rank_paired(values, (compare_marks(marks[a], marks[b], names=(a, b)) for a, b in pairs))


def _scorer(row: EvaluationRow, metric: str | None) -> str:
    """The scorer behind a metric's name: `scorer.metric`, or the first scorer."""
    named = (metric or "").rpartition(".")[0]
    return named if named in row.scorers else next(iter(row.scorers))


def _row(rank: Rank, entry: Entry, metric: str | None) -> dict[str, Any]:
    row, summary = entry.row, entry.summary
    name = metric or next(iter(summary["metrics"]))
    return {
        "rank": str(rank),
        "place": rank.place,
        "best_rank": rank.best,
        "worst_rank": rank.worst,
        "model": entry.name,
        "estimate": summary["metrics"][name],
        **{key: summary[key] for key in ("trials", "invalid", "failed")},
        "epochs": row.epochs,
        "cost_usd": summary["cost_usd"],
        "cost_basis": summary.get("cost_basis", "unknown"),
        "price_sources": summary.get("price_sources", []),
        "latency_seconds": summary["latency_seconds"],
        "run_id": row.run_id,
        "created_at": row.created_at.isoformat(),
        "options": dict(row.options),
        "chosen_from": entry.chosen_from,
    }
