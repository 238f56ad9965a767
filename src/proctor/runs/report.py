"""A run's report: its numbers, its models held against one another, and what went wrong."""

from __future__ import annotations

from itertools import islice
from typing import Any

import orjson

from proctor.domain.errors import UserError
from proctor.domain.trial import Outcome
from proctor.reports.calibration import calibration_json
from proctor.reports.comparison import comparison_document
from proctor.reports.pairs import Choice, Pair, choose_pairs
from proctor.reports.rows import result_json
from proctor.runs.reading import read_run
from proctor.stores.calibration import mark_pairs
from proctor.stores.comparing import EvaluationRow, evaluations_of
from proctor.stores.database import Database
from proctor.stores.results import ResultRow, ResultStore

SAMPLES = 200
COMPARED_AT_MOST = 1_000_000
"""So many sample comparisons are made for a report; a run that needs more is compared with 'proctor compare'."""


def read_report(database: Database, reference: str, *, samples: int = SAMPLES) -> dict[str, Any]:
    """The document behind every form of the report; `samples` bounds the trials that are shown in full."""
    document = read_run(database, reference)
    rows = evaluations_of(database, document["run_id"])
    summaries = document["evaluations"]
    return {
        **document,
        "kind": "report",
        "setup": [_setup(row) for row in rows],
        "comparison": _comparison(database, rows, summaries),
        "calibration": _calibration(database, rows, summaries),
        "samples": _samples(database, document, samples),
    }


def _setup(row: EvaluationRow) -> dict[str, Any]:
    return {
        "model": row.model,
        "benchmark": row.benchmark,
        "version": row.version,
        "digest": row.digest,
        "epochs": row.epochs,
        "options": dict(row.options),
        "scorers": dict(row.scorers),
        "tags": dict(row.tags),
    }


def _comparison(
    database: Database, rows: list[EvaluationRow], summaries: list[dict[str, Any]]
) -> dict[str, Any]:  # fmt: skip
    try:
        pairs, left = choose_pairs([rows], Choice())
    except UserError:
        return {"comparisons": [], "not_compared": []}  # one model a benchmark: nothing to hold it against
    kept: list[Pair] = []
    work = 0
    for pair in pairs:
        work += pair.a.samples
        if work <= COMPARED_AT_MOST or not kept:
            kept.append(pair)
    if len(kept) < len(pairs):
        left.append(f"{len(pairs) - len(kept):,} further pairs: 'proctor compare {rows[0].run_id}' compares them all.")
    by_id = {row.id: summary for row, summary in zip(rows, summaries, strict=True)}
    return comparison_document(database, kept, by_id, not_compared=left)


def _calibration(
    database: Database, rows: list[EvaluationRow], summaries: list[dict[str, Any]]
) -> list[dict[str, Any]]:  # fmt: skip
    """Each judge against each other scorer of the same evaluation; empty where there is not both."""
    found = []
    for row, summary in zip(rows, summaries, strict=True):
        judges = summary.get("judges", {})
        for judge in judges:
            for reference in (name for name in row.scorers if name not in judges):
                one = calibration_json(judge, reference, mark_pairs(database, row, judge, reference))
                if one is not None:
                    found.append({"model": row.model, "benchmark": row.benchmark, **one})
    return found


def _samples(database: Database, document: dict[str, Any], most: int) -> dict[str, Any]:
    """The failed trials, then the invalid ones, as many as there is room for."""
    store = ResultStore(database)
    totals = {name: sum(item[name] for item in document["evaluations"]) for name in ("failed", "invalid")}
    shown: list[dict[str, Any]] = []
    for outcome in (Outcome.FAILED, Outcome.INVALID):
        # Leave half the room for the other kind, where there is one.
        room = most - len(shown) - (min(totals["invalid"], most // 2) if outcome is Outcome.FAILED else 0)
        if room > 0 and totals[outcome.value]:
            shown += map(_sample, islice(store.results(document["run_id"], outcome=outcome), room))
    return {"totals": totals, "shown": shown}


def _sample(row: ResultRow) -> dict[str, Any]:
    return {**result_json(row, has_details=False), "prompt": orjson.loads(row.prompt)["messages"]}
