"""Runs held against one another, sample by sample."""

from __future__ import annotations

from collections.abc import Sequence

from proctor.domain.documents.comparison import Comparisons
from proctor.metrics.verdicts import TARGET
from proctor.runs.comparing.comparison import compare_pairs
from proctor.runs.comparing.pairs import PairSelection, choose_pairs
from proctor.runs.read import read_run
from proctor.stores.comparing import evaluations_of
from proctor.stores.database import Database
from proctor.stores.measuring import Unmeasured
from proctor.stores.runs import RunStore


def compare_runs(
    database: Database,
    references: Sequence[str],
    choice: PairSelection = PairSelection(),  # noqa: B008 - frozen
    *,
    target: float = TARGET,
    flips: int = 0,
) -> Comparisons:
    """The models of one run with one another, or the first run with each other one; differences are B minus A."""
    store = RunStore(database)
    ids = list(dict.fromkeys(store.get(reference).id for reference in references))
    rows = {run_id: evaluations_of(database, run_id) for run_id in ids}
    pairs, not_compared = choose_pairs([rows[run_id] for run_id in ids], choice)
    used = {row.run_id for pair in pairs for row in (pair.a, pair.b)}
    summaries = {
        row.id: summary
        for run_id in ids
        if run_id in used
        for row, summary in zip(rows[run_id], read_run(database, run_id).evaluations, strict=True)
    }
    how = Unmeasured.WRONG if choice.is_failing_wrong else Unmeasured.LEFT_OUT
    return compare_pairs(
        database, pairs, summaries, not_compared=not_compared, target=target, flips=flips, unmeasured_in_b=how
    )
