"""A run's report: its numbers, its models compared, and the trials that failed, were invalid or wrong."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice

import orjson
from msgspec.structs import asdict

from proctor.domain.documents.comparison import Comparisons
from proctor.domain.documents.evaluation import EvaluationSummary
from proctor.domain.documents.report import (
    Calibration,
    EvaluationSetup,
    ReportSample,
    ReportSamples,
    RunReport,
    SampleKind,
)
from proctor.domain.documents.run import RunSummary
from proctor.domain.errors import UserError
from proctor.domain.trial import Outcome
from proctor.metrics.verdicts import TARGET
from proctor.runs.comparing.comparison import compare_pairs
from proctor.runs.comparing.pairs import Pair, PairSelection, choose_pairs
from proctor.runs.measuring.calibration import calibrate
from proctor.runs.read import read_run
from proctor.runs.results import count_worked_examples, trial_result
from proctor.stores.calibration import mark_pairs
from proctor.stores.comparing import EvaluationRow, evaluations_of
from proctor.stores.database import Database
from proctor.stores.result_rows import ResultRow
from proctor.stores.results import ResultStore

SAMPLES = 200
MAX_COMPARED_WORK = 1_000_000
"""So many sample comparisons are made for a report; a run that needs more is compared with 'proctor compare'."""


def read_report(database: Database, reference: str, *, samples: int = SAMPLES) -> RunReport:
    """The document behind every format of the report; `samples` bounds the trials that are shown in full."""
    run = read_run(database, reference)
    rows = evaluations_of(database, run.run_id)
    return RunReport(
        **asdict(run),
        kind="report",
        setup=[_setup(row) for row in rows],
        comparison=_comparison(database, rows, run.evaluations),
        calibration=_calibration(database, rows, run.evaluations),
        samples=_samples(database, run, samples),
    )


def _setup(row: EvaluationRow) -> EvaluationSetup:
    return EvaluationSetup(
        model=row.model,
        side=row.side,
        benchmark=row.benchmark,
        version=row.version,
        digest=row.digest,
        epochs=row.epochs,
        options=row.options,
        scorers=row.scorers,
        tags=row.tags,
    )


def _comparison(
    database: Database, rows: Sequence[EvaluationRow], summaries: Sequence[EvaluationSummary]
) -> Comparisons:
    try:
        pairs, left = choose_pairs([rows], PairSelection())
    except UserError:  # one model a benchmark: nothing to hold it against
        return Comparisons("comparison", (), (), TARGET)
    kept: list[Pair] = []
    work = 0
    for pair in pairs:
        work += pair.a.samples
        if work <= MAX_COMPARED_WORK or not kept:
            kept.append(pair)
    if len(kept) < len(pairs):
        left.append(f"{len(pairs) - len(kept):,} further pairs: 'proctor compare {rows[0].run_id}' compares them all.")
    by_id = {row.id: summary for row, summary in zip(rows, summaries, strict=True)}
    return compare_pairs(database, kept, by_id, not_compared=left)


def _calibration(
    database: Database, rows: Sequence[EvaluationRow], summaries: Sequence[EvaluationSummary]
) -> list[Calibration]:
    """Each judge against each other scorer of the same evaluation; empty where there is not both."""
    found = [
        calibrate(row.model, row.benchmark, judge, reference, mark_pairs(database, row, judge, reference))
        for row, summary in zip(rows, summaries, strict=True)
        for judge in summary.judges
        for reference in row.scorers
        if reference not in summary.judges
    ]
    return [one for one in found if one is not None]


def _samples(database: Database, run: RunSummary, most: int) -> ReportSamples:
    """The failed trials, then the invalid ones, then the wrong ones, as many as there is room for."""
    store = ResultStore(database)
    totals: dict[SampleKind, int] = {
        "failed": sum(item.failed for item in run.evaluations),
        "invalid": sum(item.invalid for item in run.evaluations),
        "wrong": store.count_wrong(run.run_id),
    }
    kinds: dict[SampleKind, Iterator[ResultRow]] = {
        "failed": store.results(run.run_id, outcome=Outcome.FAILED),
        "invalid": store.results(run.run_id, outcome=Outcome.INVALID),
        "wrong": store.results(run.run_id, outcome=Outcome.SCORED, is_wrong=True),
    }
    shares = share_room(totals, most)
    shown = [_sample(row, kind) for kind, rows in kinds.items() for row in islice(rows, shares[kind])]
    return ReportSamples(totals, shown)


def share_room(totals: Mapping[SampleKind, int], most: int) -> dict[SampleKind, int]:
    """How many of each kind are shown: an equal share each, and what one does not need goes to the others."""
    shares = dict.fromkeys(totals, 0)
    while (left := most - sum(shares.values())) > 0:
        waiting = [kind for kind, total in totals.items() if shares[kind] < total]
        if not waiting:
            break
        for kind in waiting[:left]:
            shares[kind] = min(totals[kind], shares[kind] + max(1, left // len(waiting)))
    return shares


def _sample(row: ResultRow, kind: SampleKind) -> ReportSample:
    fields = asdict(trial_result(row, has_details=False))
    fields["prompt"] = orjson.loads(row.prompt)["messages"]
    return ReportSample(**fields, worked_examples=count_worked_examples(row), kind=kind)
