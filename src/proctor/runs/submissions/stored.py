"""Programs that people hand in: kept with their scorecards, shown again, and ranked with those of models."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby
from pathlib import Path

from msgspec.structs import replace

from proctor.benchmarks.problems.finding import BUILT_IN, find_problem
from proctor.domain.artifacts import Artifacts
from proctor.domain.documents.scorecard import ProgramCard
from proctor.domain.documents.submission import MarkedProgram, ProgramRanking, ProgramsApart, RankedProblem
from proctor.domain.problem import Problem
from proctor.domain.scorecard import Scorecard
from proctor.domain.submission import Submission
from proctor.programs.scorer import PASSED, REVISION, marking_details
from proctor.runs.submissions.scorecards import stored_card, whole_card
from proctor.stores.database import Database
from proctor.stores.submissions import ProgramTrial, SubmissionRow, SubmissionStore


def keep_submission(
    database: Database, artifacts: Artifacts, name: str, problem: Problem, submission: Submission, card: Scorecard
) -> ProgramCard:
    """Store a marked program as a submission; gives its scorecard, with the submission's id and name."""
    is_forgeable = not card.evidence.runner["is_isolated"]
    details = marking_details(submission, card, is_forgeable=is_forgeable)
    folder = None if problem.folder.resolve().is_relative_to(BUILT_IN.resolve()) else problem.folder
    row = SubmissionStore(database).add(name, (problem.id, problem.digest), folder, REVISION, details)
    return _named(row, whole_card(card, problem, submission.files, artifacts, submission.refused))


def card_of_submission(
    database: Database, artifacts: Artifacts, reference: str, problems_folder: Path | None = None
) -> ProgramCard:
    """The scorecard of a submission, computed from its stored evidence."""
    store = SubmissionStore(database)
    row = store.get(reference)
    where = row.problem if problems_folder is not None or row.problem_folder is None else str(row.problem_folder)
    return _named(row, stored_card(store.details(row.id), find_problem(where, problems_folder), artifacts))


def _named(row: SubmissionRow, card: ProgramCard) -> ProgramCard:
    return replace(card, submission_id=row.id, name=row.name, created_at=row.created_at)


def list_submissions(database: Database, problem: str | None = None) -> list[MarkedProgram]:
    """The programs that were handed in, newest first: all, or those of one problem."""
    return [_submission(row) for row in SubmissionStore(database).listed(problem)]


def _submission(row: SubmissionRow) -> MarkedProgram:
    return MarkedProgram(
        kind="submission",
        submission_id=row.id,
        name=row.name,
        problem=row.problem,
        total=row.marks.total,
        covers=row.marks.covers,
        passed=row.marks.passed,
        grade=row.marks.grade,
        is_forgeable=row.marks.is_forgeable,
        problem_digest=row.problem_digest,
        revision=row.revision,
        created_at=row.created_at,
    )


def _trial(row: ProgramTrial, problem: str) -> MarkedProgram:
    return MarkedProgram(
        kind="trial",
        run_id=row.run_id,
        name=row.model,
        epoch=row.epoch,
        problem=problem,
        total=row.marks.total,
        covers=row.marks.covers,
        passed=row.marks.passed,
        grade=row.marks.grade,
        is_forgeable=row.marks.is_forgeable,
        problem_digest=row.problem_digest,
        revision=row.revision,
        created_at=row.created_at,
    )


def ranking_of(database: Database, problem: Problem) -> ProgramRanking:
    """Submissions and models' programs by mark.

    Only marks of this version of the problem and of this revision of the formula are ranked; others stand apart, under
    what they were made with.
    """
    store = SubmissionStore(database)
    entries = list_submissions(database, problem.id)
    entries += [_trial(row, problem.id) for row in store.trials(problem.id, PASSED)]
    entries.sort(key=_formula)
    groups = {formula: _ranked(found) for formula, found in groupby(entries, key=_formula)}
    ranked = groups.pop((REVISION, problem.digest), [])
    return ProgramRanking(
        problem=RankedProblem(problem.id, problem.title, problem.version, problem.digest),
        revision=REVISION,
        ranked=ranked,
        apart=[
            ProgramsApart(revision, digest, found)
            for (revision, digest), found in sorted(groups.items(), key=lambda group: group[0], reverse=True)
        ],
    )


def _formula(entry: MarkedProgram) -> tuple[str, str]:
    return entry.revision, entry.problem_digest


def _ranked(entries: Iterable[MarkedProgram]) -> list[MarkedProgram]:
    """Best first, equal marks with equal ranks, the earlier of them first; what has no mark is last, without a rank."""
    found = sorted(entries, key=lambda one: (one.total is None, -(one.total or 0.0), one.created_at))
    totals = [one.total for one in found]
    return [replace(one, rank=None if one.total is None else totals.index(one.total) + 1) for one in found]
