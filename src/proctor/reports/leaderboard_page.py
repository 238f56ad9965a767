"""A leaderboard document as sections."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import UNSET
from msgspec.structs import asdict

from proctor.domain.documents.estimate import MetricEstimate
from proctor.domain.documents.leaderboard import Leaderboard, LeaderboardRow, LeaderboardTable
from proctor.domain.message import Json
from proctor.reports.charts import Chart, Mark, forest
from proctor.reports.figures import (
    cost_notes,
    cost_text,
    covers_notes,
    estimate_text,
    number_text,
    plural,
    seconds_text,
    share_text,
)
from proctor.reports.sections import Page, Section, Table
from proctor.reports.trust import FORGEABLE

WHICH = {"latest": "each model's latest run", "best": "each model's best run, which favours models with many runs"}
RANKS = {
    "paired": "Ranks come from paired tests of the metric shown on the samples both models have, corrected for the "
    "number of pairs",
    "separate": "Ranks come from each model's own interval; --paired separates more models, and takes longer",
}
NOT_PAIRED = (
    "is no mean over samples or classes, so it cannot be tested in pairs: ranks come from each model's interval"
)
NOTED = "†"
"""Beside a rank that a note belongs to."""


def leaderboard_page(document: Leaderboard) -> Page:
    """One section for each set of comparable evaluations."""
    return Page("Leaderboard", subtitle(document), tuple(_section(table, document) for table in document.tables))


def subtitle(document: Leaderboard) -> str:
    """How the rows were chosen and the ranks made, and what was left out."""
    text = f"Shown is {WHICH[document.which]}. {RANKS[document.ranks]}."
    reasons = {
        "not_completed": "of incomplete runs",
        "without_metric": "whose metric is not installed",
        "imported": "imported from elsewhere",
    }
    left = {reasons[name]: count for name, count in asdict(document.left_out).items() if count}
    return " ".join([text, *(f"{plural(count, 'evaluation')} {why} left out." for why, count in left.items())])


def _section(table: LeaderboardTable, document: Leaderboard) -> Section:
    notes = [f"{NOTED} {row.note}" for row in table.rows if row.note]
    if any(row.is_forgeable for row in table.rows):
        notes.append(f"Forgeable: {FORGEABLE}.")
    if table.ranks != document.ranks:
        notes.append(f"{_metric(table)} {NOT_PAIRED}.")
    notes += [*covers_notes(row.estimate for row in table.rows), *cost_notes(table.rows)]
    return Section(
        _title(table), (_about(table),), (rows_table(table, document.which),), (_chart(table),), tuple(notes)
    )


def _title(table: LeaderboardTable) -> str:
    return f"{table.benchmark}, version {table.version}"


def _metric(table: LeaderboardTable) -> str:
    return next((title for row in table.rows if (title := row.estimate.title)), table.metric)


def _about(table: LeaderboardTable) -> str:
    parts = [f"{table.samples:,} samples", _digests(table)]
    if table.shots is not None:
        parts.append(f"shots {table.shots}")
    parts += [f"{name} {_plain(value)}" for name, value in table.selection.document.items() if name != "shots"]
    parts += [f"scored by {', '.join(table.scorers)}"]
    parts += [f"{name} {value}" for name, value in table.tags.items()]
    return "; ".join(parts) + "."


def _plain(value: Json) -> str:
    """A filter, a list or a single value, as people write it: `category anatomy or astronomy`."""
    if isinstance(value, Mapping):
        value = {
            key: part["name"] if key == "prompt" and isinstance(part, Mapping) else part for key, part in value.items()
        }
        return ", ".join(f"{key} {_plain(part)}" for key, part in value.items())
    return " or ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


def _digests(table: LeaderboardTable) -> str:
    samples, prompts = _short_digests(table)
    several = _prompts_in(table)
    return f"digest of the samples {samples}, " + (f"{several} prompts" if several > 1 else f"of the prompts {prompts}")


def _short_digests(table: LeaderboardTable) -> tuple[str, str]:
    """Enough of both hashes to tell two tables of one benchmark apart."""
    samples, _, prompts = table.digest.rpartition("@")[2].partition("/")
    return samples[:8], prompts[:8]


def rows_table(table: LeaderboardTable, which: str) -> Table:
    has_worst = any(row.note and row.estimate.unmeasured for row in table.rows)
    headers = (
        "Rank", "Model", f"{_metric(table)} [95 % interval]", *(("failed counted as wrong",) if has_worst else ()),
        "failed", "p50", "cost", "Date", "Run",
    )  # fmt: skip
    rows = tuple(
        (
            f"{row.rank} {NOTED}" if row.note else row.rank,
            row_name(table, row),
            estimate_text(row.estimate) + (", forgeable" if row.is_forgeable else ""),
            *((number_text(_if_wrong(row.estimate)),) if has_worst else ()),
            share_text(row.failed, row.done),
            seconds_text(row.latency_seconds.p50),
            cost_text(row.cost_usd, row.cost_basis),
            f"{row.created_at:%Y-%m-%d}",
            row.run_id if row.chosen_from == 1 else f"{row.run_id} ({which} of {row.chosen_from:,})",
        )
        for row in table.rows
    )
    return Table(headers, rows, words=2)


def row_name(table: LeaderboardTable, row: LeaderboardRow) -> str:
    """The model; with what was varied of its prompts where the table has several."""
    return row.side if _prompts_in(table) > 1 else row.model


def _prompts_in(table: LeaderboardTable) -> int:
    return len({row.digest for row in table.rows})


def _if_wrong(estimate: MetricEstimate) -> float | None:
    return estimate.value if estimate.if_unmeasured_wrong is UNSET else estimate.if_unmeasured_wrong


def _chart(table: LeaderboardTable) -> Chart:
    marks = [
        mark
        for index, row in enumerate(table.rows)
        if (mark := Mark.of(row_name(table, row), row.estimate, estimate_text(row.estimate), index)) is not None
    ]
    name = f"leaderboard-{table.benchmark}-{'-'.join(_short_digests(table))}"
    return forest(name, f"{_title(table)}: {_metric(table)} with 95 % interval", marks)
