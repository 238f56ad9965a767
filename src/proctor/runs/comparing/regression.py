"""The gate against getting worse than an earlier run."""

from __future__ import annotations

from collections.abc import Sequence

from proctor.domain.documents.comparison import Comparison
from proctor.domain.documents.run import RunSummary
from proctor.domain.errors import UserError
from proctor.reports.figures import plural
from proctor.reports.trust import SMALL_SHARE
from proctor.runs.comparing.compare import compare_runs
from proctor.runs.comparing.pairs import PairSelection
from proctor.runs.gates import GateResult
from proctor.stores.database import Database


def check_regression(database: Database, run: RunSummary, baseline: str) -> list[GateResult]:
    """One result for each evaluation of the run: it fails when it is shown to be worse, or cannot be compared."""
    compared: Sequence[Comparison] = ()
    counted: Sequence[Comparison] = ()
    reason = "that run has no matching evaluation."
    try:
        compared = compare_runs(database, [baseline, run.run_id], PairSelection(is_gate=True)).comparisons
        if any(map(_fails_more, compared)):
            failing_wrong = PairSelection(is_gate=True, is_failing_wrong=True)
            counted = compare_runs(database, [baseline, run.run_id], failing_wrong).comparisons
    except UserError as error:
        reason = str(error)
    results = []
    for item in run.evaluations:
        found = [one for one in compared if (one.b.model, one.b.digest) == (item.model, item.digest)]
        problem = None if found else f"{item.title} could not be compared with run {baseline}: {reason}"
        for one in found:
            problem = _problem(one, item.title, baseline) or problem
        for one in counted:
            if (one.b.model, one.b.digest) == (item.model, item.digest) and _fails_more(one):
                problem = problem or _problem_of_failures(one, item.title, baseline)
        results.append(GateResult(item.title, f"not worse than in run {baseline}", problem=problem))
    return results


def _fails_more(one: Comparison) -> bool:
    """Whether more of B's trials have no score than of the baseline's: it may have failed where it would be wrong."""
    before, now = (
        (side.unmeasured or 0) / max(1, side.trials - side.stopped - side.pending) for side in (one.a, one.b)
    )
    return now - before > SMALL_SHARE


def _problem_of_failures(one: Comparison, who: str, baseline: str) -> str | None:
    if one.better != one.a.name:
        return None
    count = plural(one.b.unmeasured or 0, "trial")
    return f"{who} is worse than in run {baseline} with {count} without a score counted as wrong: {one.verdict}."


def _problem(one: Comparison, who: str, baseline: str) -> str | None:
    """Why an evaluation does not pass; the baseline is A."""
    if one.better == one.a.name:
        return f"{who} is worse than in run {baseline}: {one.verdict}."
    counted = one.if_unreadable_wrong
    if counted is not None and counted.better == one.a.name:
        return f"{who} is worse than in run {baseline} with unreadable marks counted as wrong: {counted.verdict}."
    return f"{who} could not be compared with run {baseline}: {one.verdict}." if one.n == 0 else None
