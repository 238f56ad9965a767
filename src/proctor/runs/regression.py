"""The gate against getting worse than an earlier run."""

from __future__ import annotations

from typing import Any

from proctor.domain.errors import UserError
from proctor.domain.side import side_of
from proctor.reports.pairs import Choice
from proctor.runs.compare import compare_runs
from proctor.runs.gates import GateResult
from proctor.stores.database import Database


def check_regression(database: Database, document: dict[str, Any], baseline: str) -> list[GateResult]:
    """One result for each evaluation of the run: it fails when it is shown to be worse, or cannot be compared."""
    try:
        choice = Choice(is_gate=True)
        compared = compare_runs(database, [baseline, document["run_id"]], choice)["comparisons"]
        reason = "that run has no matching evaluation."
    except UserError as error:
        compared, reason = [], str(error)
    title = f"not worse than in run {baseline}"
    results = []
    for item in document["evaluations"]:
        who = f"{side_of(item)} on {item['benchmark']}"
        found = [one for one in compared if (one["b"]["model"], one["b"]["digest"]) == (item["model"], item["digest"])]
        problem = None if found else f"{who} could not be compared with run {baseline}: {reason}"
        for one in found:
            if one["n"] == 0:
                problem = f"{who} could not be compared with run {baseline}: {one['verdict']}."
            if one["better"] is not None and one["better"] == one["a"]["name"]:
                problem = f"{who} is worse than in run {baseline}: {one['verdict']}."
            elif (counted := one["if_unreadable_wrong"]) is not None and counted["better"] == one["a"]["name"]:
                problem = (
                    f"{who} is worse than in run {baseline} with unreadable judge verdicts counted as wrong: "
                    f"{counted['verdict']}."
                )
        results.append(GateResult(who, title, problem=problem))
    return results
