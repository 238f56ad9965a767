"""Models of many runs in order, with ranks that admit what is not known.

Only evaluations of the same thing stand in one table: the same benchmark, version, samples, prompts (and so shots) and
scorer. What differs in any of these is another table.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from typing import Literal

import orjson
from msgspec import UNSET, Struct, field

from proctor.domain.documents.evaluation import EvaluationFigures
from proctor.domain.documents.leaderboard import (
    Leaderboard,
    LeaderboardRow,
    LeaderboardTable,
    LeftOutEvaluations,
    Which,
)
from proctor.domain.estimate import Estimate
from proctor.domain.side import setting_text
from proctor.metrics.ranking import Rank, rank_paired, rank_unpaired
from proctor.plugins import BrokenPluginError, PluginNotFoundError
from proctor.reports.trust import uneven_notes
from proctor.runs.comparing.compared_metric import compared_metrics, find_metric, read_sides
from proctor.stores.comparing import EvaluationRow
from proctor.stores.database import Database

Ranks = Literal["auto", "paired", "separate"]

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


class LeaderboardEntry(Struct, frozen=True):
    """The one evaluation that stands for a model, and how many it was chosen from."""

    name: str
    row: EvaluationRow
    summary: EvaluationFigures
    chosen_from: int


def rank_evaluations(
    database: Database,
    rows: Sequence[EvaluationRow],
    summaries: Mapping[int, EvaluationFigures],
    left_out: LeftOutEvaluations,
    *,
    which: Which = "latest",
    ranks: Ranks = "auto",
    metric: str | None = None,
) -> Leaderboard:
    """One table for each set of comparable evaluations; `rows` come newest first."""
    tables: dict[tuple[str, ...], list[EvaluationRow]] = {}
    for row in rows:
        tables.setdefault(_what_is_compared(row), []).append(row)
    # What a table is ordered by is one metric: the one that was asked for, or its newest evaluation's first.
    metrics = {key: metric or next(iter(summaries[members[0].id].metrics), "") for key, members in tables.items()}
    chosen = {key: _entries(members, summaries, which, metrics[key]) for key, members in tables.items()}
    chosen = {key: entries for key, entries in chosen.items() if entries}
    work = sum(_comparisons(entries) for entries in chosen.values())
    is_paired = ranks == "paired" or (ranks == "auto" and work <= PAIRED_AT_MOST)
    ranked = [_table(database, chosen[key], metrics[key], is_paired) for key in sorted(chosen)]
    return Leaderboard("leaderboard", which, "paired" if is_paired else "separate", ranked, left_out)


def _what_is_compared(row: EvaluationRow) -> tuple[str, ...]:
    scorers = ",".join(f"{name}={version}" for name, version in row.scorers.items())
    return (row.benchmark, row.version, row.digest, scorers)


def _comparisons(entries: Sequence[LeaderboardEntry]) -> int:
    return len(entries) * (len(entries) - 1) // 2 * entries[0].row.samples


def _entries(
    rows: Iterable[EvaluationRow], summaries: Mapping[int, EvaluationFigures], which: Which, metric: str
) -> list[LeaderboardEntry]:
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
    name: str, members: Sequence[EvaluationRow], summaries: Mapping[int, EvaluationFigures], which: Which, metric: str
) -> LeaderboardEntry:
    def value(row: EvaluationRow) -> float:
        return _estimate(summaries[row.id], metric).value or 0.0

    # Of equals, max takes the first, which is the newest.
    row = members[0] if which == "latest" else max(members, key=value)
    return LeaderboardEntry(name, row, summaries[row.id], len(members))


def _estimate(summary: EvaluationFigures, metric: str) -> Estimate:
    found = summary.metrics.get(metric)
    return Estimate(None, 0) if found is None else found.estimate


def _table(database: Database, entries: Sequence[LeaderboardEntry], metric: str, is_paired: bool) -> LeaderboardTable:
    by_name = {entry.name: entry for entry in entries}
    first = entries[0]
    is_paired = is_paired and _is_paired(first.row, metric)
    ranked = _rank_paired(database, entries, metric) if is_paired else _rank_separately(entries, metric)
    notes = uneven_notes({name: (one.summary, one.summary.metrics[metric]) for name, one in by_name.items()})
    return LeaderboardTable(
        benchmark=first.row.benchmark,
        version=first.row.version,
        digest=first.row.digest,
        samples=first.row.samples,
        shots=first.row.shots,
        selection=first.summary.selection,
        scorers=first.row.scorers,
        tags=first.row.tags,
        metric=metric,
        ranks="paired" if is_paired else "separate",
        rows=[_row(rank, by_name[rank.name], metric, notes.get(rank.name)) for rank in ranked],
    )


def _is_paired(row: EvaluationRow, metric: str) -> bool:
    try:
        return compared_metrics(row)[metric].is_paired
    except (PluginNotFoundError, BrokenPluginError):
        return False  # the figures that were kept can be ranked without the plugin that made them


def _rank_separately(entries: Sequence[LeaderboardEntry], metric: str) -> list[Rank]:
    worst = {entry.name: entry.summary.metrics[metric].if_unreadable_wrong for entry in entries}
    known = {name: value for name, value in worst.items() if value is not None and value is not UNSET}
    return rank_unpaired({entry.name: _estimate(entry.summary, metric) for entry in entries}, known)


def _rank_paired(database: Database, entries: Sequence[LeaderboardEntry], metric: str) -> list[Rank]:
    """By tests of the metric that is shown, on the samples that both have it for."""
    values = {entry.name: _estimate(entry.summary, metric).value or 0.0 for entry in entries}
    sides = {
        entry.name: read_sides(database, entry.row, find_metric(entry.row, metric), entry.summary) for entry in entries
    }
    if _comparisons(entries) <= PAIRED_AT_MOST:
        for side in sides.values():
            side.hold()
    pairs = combinations(sides, 2)
    return rank_paired(values, (sides[a].compare(sides[b], names=(a, b))[0] for a, b in pairs))


def _row(rank: Rank, entry: LeaderboardEntry, metric: str, note: str | None) -> LeaderboardRow:
    row, summary = entry.row, entry.summary
    return LeaderboardRow(
        rank=str(rank),
        place=rank.place,
        best_rank=rank.best,
        worst_rank=rank.worst,
        model=entry.name,
        side=" · ".join((entry.name, *(setting_text(*one) for one in row.prompt_settings.items()))),
        settings={**row.prompt_settings, **row.options},
        estimate=summary.metrics[metric],
        trials=summary.trials,
        invalid=summary.invalid,
        failed=summary.failed,
        stopped=summary.stopped,
        pending=summary.pending,
        note=note,
        is_forgeable=summary.is_forgeable,
        epochs=row.epochs,
        cost_usd=summary.cost_usd,
        cost_basis=summary.cost_basis,
        price_sources=summary.price_sources,
        latency_seconds=summary.latency_seconds,
        run_id=row.run_id,
        created_at=row.created_at,
        options=row.options,
        chosen_from=entry.chosen_from,
    )
