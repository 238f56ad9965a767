"""Models of many runs in order, with ranks that admit what is not known.

Only evaluations of the same thing stand in one table: the same benchmark, version, samples, prompts (and so shots) and
scorer. What differs in any of these is another table, but for prompts that one run has put side by side on the same
samples: these are sides of one table.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from typing import Literal

import orjson
from msgspec import UNSET, Struct, field
from msgspec.structs import asdict

from proctor.domain.documents.evaluation import EvaluationFigures, Selection
from proctor.domain.documents.leaderboard import (
    Leaderboard,
    LeaderboardRow,
    LeaderboardTable,
    LeftOutEvaluations,
    Which,
)
from proctor.domain.estimate import Estimate
from proctor.domain.side import EvaluationSide, setting_text, side_names
from proctor.metrics.ranking import Rank, rank_paired, rank_unpaired
from proctor.plugins import BrokenPluginError, PluginNotFoundError
from proctor.reports.judge_notes import undecided_notes
from proctor.reports.trust import uneven_notes
from proctor.runs.comparing.compared_metric import compared_metrics, find_metric, read_sides
from proctor.stores.comparing import EvaluationRow
from proctor.stores.database import Database

Ranks = Literal["auto", "paired", "separate"]

TAGS = ("language", "subject", "task", "form")
MAX_PAIRED_WORK = 100_000
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
    """The model, and what was varied of its prompts where its table has several: different in each row."""
    model: str
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
    tables = _tables(rows)
    # What a table is ordered by is one metric: the one that was asked for, or its newest evaluation's first.
    metrics = {key: metric or next(iter(summaries[members[0].id].metrics), "") for key, members in tables.items()}
    chosen = {key: _entries(members, summaries, which, metrics[key]) for key, members in tables.items()}
    chosen = {key: entries for key, entries in chosen.items() if entries}
    work = sum(_comparisons(entries) for entries in chosen.values())
    is_paired = ranks == "paired" or (ranks == "auto" and work <= MAX_PAIRED_WORK)
    ranked = [_table(database, chosen[key], metrics[key], is_paired) for key in sorted(chosen)]
    return Leaderboard("leaderboard", which, "paired" if is_paired else "separate", ranked, left_out)


def _tables(rows: Sequence[EvaluationRow]) -> dict[tuple[str, ...], list[EvaluationRow]]:
    """Rows of the same thing together, and with them what a run that varied its prompts asked beside it."""
    sides: dict[tuple[str, tuple[str, ...]], set[str]] = {}
    for row in rows:
        sides.setdefault((row.run_id, _what_is_compared(row)), set()).add(row.digest)
    joined: dict[tuple[str, ...], list[set[str]]] = {}
    for (_, what), digests in sides.items():
        groups = joined.setdefault(what, [])
        touching = [group for group in groups if group & digests]
        groups[:] = [group for group in groups if group not in touching] + [digests.union(*touching)]
    tables: dict[tuple[str, ...], list[EvaluationRow]] = {}
    for row in rows:
        what = _what_is_compared(row)
        group = next(group for group in joined[what] if row.digest in group)
        tables.setdefault((*what, min(group)), []).append(row)
    return tables


def _what_is_compared(row: EvaluationRow) -> tuple[str, ...]:
    """All but the prompts."""
    scorers = ",".join(f"{name}={version}" for name, version in row.scorers.items())
    return (row.benchmark, row.version, row.digest.rpartition("/")[0], scorers)


def _comparisons(entries: Sequence[LeaderboardEntry]) -> int:
    return len(entries) * (len(entries) - 1) // 2 * entries[0].row.samples


def _entries(
    rows: Iterable[EvaluationRow], summaries: Mapping[int, EvaluationFigures], which: Which, metric: str
) -> list[LeaderboardEntry]:
    """One evaluation a model and prompt; models asked with other options are other models."""
    groups: dict[tuple[tuple[str, str, str], str], list[EvaluationRow]] = {}
    for row in rows:
        if _estimate(summaries[row.id], metric).value is not None:
            groups.setdefault((_model_key(row), row.digest), []).append(row)
    labels = [label for label, *_ in {key for key, _ in groups}]
    models = [_name(key, is_only=labels.count(key[0]) == 1) for key, _ in groups]
    return [
        _entry(name, model, members, summaries, which, metric)
        for name, model, members in zip(
            _side_names(models, list(groups.values())), models, groups.values(), strict=True
        )
    ]


def _side_names(models: Sequence[str], groups: Sequence[Sequence[EvaluationRow]]) -> list[str]:
    """Models alone where all were asked alike; two prompts of one name have a part of their digest beside it."""
    if len({members[0].digest for members in groups}) < 2:
        return list(models)
    # A run that varied nothing may have asked as one of the sides does: the other run says what that is called.
    known = {row.digest: row.prompt_settings for members in groups for row in members if row.prompt_settings}
    settings = [known.get(members[0].digest, {}) for members in groups]
    sides = [EvaluationSide(model, groups[0][0].benchmark, one) for model, one in zip(models, settings, strict=True)]
    names = side_names(sides)
    return [
        name if names.count(name) == 1 else f"{name} · {members[0].digest.rpartition('/')[2][:8]}"
        for name, members in zip(names, groups, strict=True)
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
    name: str,
    model: str,
    members: Sequence[EvaluationRow],
    summaries: Mapping[int, EvaluationFigures],
    which: Which,
    metric: str,
) -> LeaderboardEntry:
    def value(row: EvaluationRow) -> float:
        return _estimate(summaries[row.id], metric).value or 0.0

    # Of equals, max takes the first, which is the newest.
    row = members[0] if which == "latest" else max(members, key=value)
    return LeaderboardEntry(name, model, row, summaries[row.id], len(members))


def _estimate(summary: EvaluationFigures, metric: str) -> Estimate:
    found = summary.metrics.get(metric)
    return Estimate(None, 0) if found is None else found.estimate


def _table(database: Database, entries: Sequence[LeaderboardEntry], metric: str, is_paired: bool) -> LeaderboardTable:
    by_name = {entry.name: entry for entry in entries}
    first = entries[0]
    is_paired = is_paired and _is_paired(first.row, metric)
    ranked = _rank_paired(database, entries, metric) if is_paired else _rank_separately(entries, metric)
    notes = _row_notes(by_name, metric)
    return LeaderboardTable(
        benchmark=first.row.benchmark,
        version=first.row.version,
        digest=first.row.digest,
        samples=first.row.samples,
        shots=first.row.shots if all(entry.row.shots == first.row.shots for entry in entries) else None,
        selection=_shared([entry.summary.selection for entry in entries]),
        scorers=first.row.scorers,
        tags=first.row.tags,
        metric=metric,
        ranks="paired" if is_paired else "separate",
        rows=[_row(rank, by_name[rank.name], metric, notes.get(rank.name)) for rank in ranked],
    )


def _row_notes(entries: Mapping[str, LeaderboardEntry], metric: str) -> dict[str, str]:
    """What a row's value may hide: trials without a mark that others have, and comparisons that no judge decided."""
    uneven = uneven_notes({name: (one.summary, one.summary.metrics[metric]) for name, one in entries.items()})
    notes: dict[str, str] = {}
    for name, one in entries.items():
        undecided = undecided_notes(one.summary, _scorer_of(one.row, metric))
        if said := [*filter(None, [uneven.get(name)]), *(f"{name}: {note}" for note in undecided)]:
            notes[name] = " ".join(said)
    return notes


def _scorer_of(row: EvaluationRow, metric: str) -> str:
    try:
        return find_metric(row, metric).scorer
    except (PluginNotFoundError, BrokenPluginError):
        return next(iter(row.scorers))


def _shared(selections: Sequence[Selection]) -> Selection:
    """What all of them say; in what they differ, the rows' names do."""
    first, *others = selections
    return Selection(**{
        name: value for name, value in asdict(first).items() if all(getattr(one, name) == value for one in others)
    })  # fmt: skip


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
    if _comparisons(entries) <= MAX_PAIRED_WORK:
        for side in sides.values():
            side.hold()
    pairs = combinations(sides, 2)
    return rank_paired(values, (sides[a].compare(sides[b], names=(a, b))[0] for a, b in pairs))


def _side(entry: LeaderboardEntry) -> str:
    if entry.name != entry.model:
        return entry.name
    return " · ".join((entry.model, *(setting_text(*one) for one in entry.row.prompt_settings.items())))


def _row(rank: Rank, entry: LeaderboardEntry, metric: str, note: str | None) -> LeaderboardRow:
    row, summary = entry.row, entry.summary
    return LeaderboardRow(
        rank=str(rank),
        place=rank.place,
        best_rank=rank.best,
        worst_rank=rank.worst,
        model=entry.model,
        side=_side(entry),
        digest=row.digest,
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
