"""A run's report: its numbers, its models compared, and the trials that failed, were invalid or wrong."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

import orjson

from proctor.domain.errors import UserError
from proctor.domain.trial import Outcome
from proctor.reports.calibration import calibration_json
from proctor.reports.comparison import comparison_document
from proctor.reports.pairs import Choice, Pair, choose_pairs
from proctor.reports.rows import count_worked_examples, result_json
from proctor.runs.read import read_run
from proctor.stores.calibration import mark_pairs
from proctor.stores.comparing import EvaluationRow, evaluations_of
from proctor.stores.database import Database
from proctor.stores.results import ResultRow, ResultStore

SAMPLES = 200
COMPARED_AT_MOST = 1_000_000
"""So many sample comparisons are made for a report; a run that needs more is compared with 'proctor compare'."""


def read_report(database: Database, reference: str, *, samples: int = SAMPLES) -> dict[str, Any]:
    """The document behind every format of the report; `samples` bounds the trials that are shown in full."""
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
        "side": row.side,
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
    """The failed trials, then the invalid ones, then the wrong ones, as many as there is room for."""
    store, run_id = ResultStore(database), document["run_id"]
    totals = {name: sum(item[name] for item in document["evaluations"]) for name in ("failed", "invalid")}
    totals["wrong"] = store.count_wrong(run_id)
    kinds: dict[str, Iterator[ResultRow]] = {
        "failed": store.results(run_id, outcome=Outcome.FAILED),
        "invalid": store.results(run_id, outcome=Outcome.INVALID),
        "wrong": store.results(run_id, outcome=Outcome.SCORED, is_wrong=True),
    }
    shown: list[dict[str, Any]] = []
    for kind, room in share_room(totals, most).items():
        shown += [{**_sample(row), "kind": kind} for row in islice(kinds[kind], room)]
    return {"totals": totals, "shown": shown}


def share_room(totals: Mapping[str, int], most: int) -> dict[str, int]:
    """How many of each kind are shown: an equal share each, and what one does not need goes to the others."""
    shares = dict.fromkeys(totals, 0)
    while (left := most - sum(shares.values())) > 0:
        waiting = [kind for kind, total in totals.items() if shares[kind] < total]
        if not waiting:
            break
        for kind in waiting[:left]:
            shares[kind] = min(totals[kind], shares[kind] + max(1, left // len(waiting)))
    return shares


def _sample(row: ResultRow) -> dict[str, Any]:
    return {
        **result_json(row, has_details=False),
        "prompt": orjson.loads(row.prompt)["messages"],
        "worked_examples": count_worked_examples(row),
    }
