"""Programs that people hand in: kept with their scorecards, shown again, and ranked with those of models."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby
from pathlib import Path
from typing import Any

from msgspec.structs import asdict

from proctor.benchmarks.problems.shelf import BUILT_IN, find_problem
from proctor.domain.artifacts import Artifacts
from proctor.domain.problem import Problem
from proctor.domain.scorecard import Scorecard
from proctor.domain.submission import Submission
from proctor.programs.scorer import PASSED, REVISION, marking_details
from proctor.runs.scorecards import document_of, whole_document
from proctor.stores.database import Database
from proctor.stores.submissions import ProgramTrial, SubmissionRow, SubmissionStore

Document = dict[str, Any]


def keep_submission(
    database: Database, artifacts: Artifacts, name: str, problem: Problem, submission: Submission, card: Scorecard
) -> Document:
    """Store a marked program as a submission; gives its scorecard, with the submission's id and name."""
    is_forgeable = not card.evidence.runner["is_isolated"]
    details = marking_details(submission, card, is_forgeable=is_forgeable)
    folder = None if problem.folder.resolve().is_relative_to(BUILT_IN.resolve()) else problem.folder
    row = SubmissionStore(database).add(name, (problem.id, problem.digest), folder, REVISION, details)
    document = whole_document(card, problem, submission.files, artifacts, submission.refused)
    return {**_named(row), **document}


def card_of_submission(database: Database, artifacts: Artifacts, reference: str, shelf: Path | None = None) -> Document:
    """The scorecard of a submission, computed from its stored evidence."""
    store = SubmissionStore(database)
    row = store.get(reference)
    where = row.problem if shelf is not None or row.problem_folder is None else str(row.problem_folder)
    document = document_of(store.details(row.id), find_problem(where, shelf), artifacts)
    return {**_named(row), **document}


def _named(row: SubmissionRow) -> Document:
    return {"submission_id": row.id, "name": row.name, "created_at": row.created_at}


def submission_entry(row: SubmissionRow) -> Document:
    """A submission as lists and rankings have it."""
    return {
        "kind": "submission",
        "submission_id": row.id,
        "name": row.name,
        "problem": row.problem,
        **_marked(row),
    }


def _trial_entry(row: ProgramTrial, problem: str) -> Document:
    return {
        "kind": "trial",
        "run_id": row.run_id,
        "name": row.model,
        "epoch": row.epoch,
        "problem": problem,
        **_marked(row),
    }


def _marked(row: SubmissionRow | ProgramTrial) -> Document:
    formula = {"problem_digest": row.problem_digest, "revision": row.revision}
    return {**asdict(row.marks), **formula, "created_at": row.created_at}


def ranking_of(database: Database, problem: Problem) -> Document:
    """Submissions and models' programs by mark.

    Only marks of this version of the problem and of this revision of the formula are ranked; others stand apart, under
    what they were made with.
    """
    store = SubmissionStore(database)
    entries = [submission_entry(row) for row in store.listed(problem.id)]
    entries += [_trial_entry(row, problem.id) for row in store.trials(problem.id, PASSED)]
    entries.sort(key=_formula)
    groups = {formula: _ranked(found) for formula, found in groupby(entries, key=_formula)}
    current = (REVISION, problem.digest)
    ranked = groups.pop(current, [])
    return {
        "problem": {"id": problem.id, "title": problem.title, "version": problem.version, "digest": problem.digest},
        "revision": REVISION,
        "ranked": ranked,
        "apart": [
            {"revision": revision, "problem_digest": digest, "entries": found}
            for (revision, digest), found in sorted(groups.items(), reverse=True)
        ],
    }


def _formula(entry: Document) -> tuple[str, str]:
    return entry["revision"], entry["problem_digest"]


def _ranked(entries: Iterable[Document]) -> list[Document]:
    """Best first, equal marks with equal ranks, the earlier of them first; what has no mark is last, without a rank."""
    found = sorted(entries, key=lambda one: (one["total"] is None, -(one["total"] or 0.0), one["created_at"]))
    totals = [one["total"] for one in found]
    return [{"rank": None if one["total"] is None else totals.index(one["total"]) + 1, **one} for one in found]
