"""Programs that were handed in, with the evidence and the marks of each; and models' programs for the same problem."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson
from msgspec import Struct

from proctor.domain.errors import NotFoundError
from proctor.domain.json_value import storable_json
from proctor.domain.text import storable
from proctor.stores import codec
from proctor.stores.connection import Connection, Row
from proctor.stores.database import Database
from proctor.stores.moments import now_text
from proctor.stores.new_runs import new_run_id
from proctor.stores.scoping import of_evaluation, scope_filter
from proctor.stores.scores import CURRENT, HAS_SCORE

PREFIX = "s-"
"""No run's id begins with it."""
MARKS = ("total", "covers", "passed", "grade", "is_forgeable")
_COLUMNS = "id, name, problem, problem_digest, problem_folder, revision, created_at, details"


class SubmissionMarks(Struct, frozen=True):
    """What a scorecard comes to, without the evidence."""

    total: float | None
    covers: float | None
    """None where there was no program, which gets 0."""
    passed: bool
    grade: str | None
    is_forgeable: bool


class SubmissionRow(Struct, frozen=True):
    id: str
    name: str
    problem: str
    problem_digest: str
    problem_folder: Path | None
    """Of a problem of the user's own."""
    revision: str
    """Of the formula that the marks were computed with."""
    created_at: datetime
    marks: SubmissionMarks


class ProgramTrial(Struct, frozen=True):
    """A model's program for a problem, as it is scored now."""

    run_id: str
    model: str
    epoch: int
    problem_digest: str
    revision: str
    created_at: datetime
    marks: SubmissionMarks


class SubmissionStore:
    """Submissions: added once, never changed."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(
        self, name: str, problem: tuple[str, str], folder: Path | None, revision: str, details: Mapping[str, Any]
    ) -> SubmissionRow:
        """Keep a marked program; `problem` is its id and its digest, `folder` where it is if it is the user's own."""
        submission_id = f"{PREFIX}{new_run_id()}"
        owner = self._database.scope.owner
        with self._database.connection() as connection:
            insert_submission(connection, owner, (submission_id, name), problem, folder, revision, details)
        return self.get(submission_id)

    def get(self, reference: str) -> SubmissionRow:
        """The submission with this id, or this unique beginning of one."""
        mine = scope_filter(self._database, "submissions")
        query = f"SELECT {_COLUMNS} FROM submissions WHERE id >= ? AND id < ?{mine.sql} ORDER BY id LIMIT 2"  # noqa: S608
        rows = self._rows(query, reference, f"{reference}\uffff", *mine.values)
        if not rows or not reference:
            raise NotFoundError(f"No submission {reference!r}. 'proctor problems submissions' lists them.")
        if len(rows) > 1 and rows[0]["id"] != reference:
            raise NotFoundError(f"{reference!r} fits several submissions. Give more of the id.")
        return _submission(rows[0])

    def details(self, submission_id: str) -> dict[str, Any]:
        """The marking as it was kept: the marks and the evidence they follow from."""
        mine = scope_filter(self._database, "submissions")
        query = f"SELECT details FROM submissions WHERE id = ?{mine.sql}"  # noqa: S608 - ours
        rows = self._rows(query, submission_id, *mine.values)
        if not rows:
            raise NotFoundError(f"No submission {submission_id!r}. 'proctor problems submissions' lists them.")
        [row] = rows
        found: dict[str, Any] = orjson.loads(row["details"])
        return found

    def listed(self, problem: str | None = None) -> list[SubmissionRow]:
        """All of them or those of one problem, newest first."""
        mine = scope_filter(self._database, "submissions")
        which, values = ("true", []) if problem is None else ("problem = ?", [problem])
        query = f"SELECT {_COLUMNS} FROM submissions WHERE {which}{mine.sql} ORDER BY created_at DESC, id DESC"  # noqa: S608
        return [_submission(row) for row in self._rows(query, *values, *mine.values)]

    def trials(self, problem: str, scorer: str) -> list[ProgramTrial]:
        """Models' current answers to a problem that have a score of that scorer, in the version in force."""
        mine = scope_filter(self._database, "evaluations")
        query = f"SELECT id, run_id, model, scorers FROM evaluations WHERE true{mine.sql} ORDER BY id"  # noqa: S608 - ours
        rows = self._rows(query, *mine.values)
        found: list[ProgramTrial] = []
        for row in rows:
            version = orjson.loads(row["scorers"]).get(scorer)
            if version is not None:
                found += self._trials_of(row, problem, (scorer, version))
        return found

    def _trials_of(self, evaluation: Row, problem: str, scorer: tuple[str, str]) -> list[ProgramTrial]:
        answers = of_evaluation(self._database, evaluation["id"])
        query = f"""
            SELECT epoch, samples.body, scores.version AS revision, is_invalid, responses.created_at, details
            FROM responses JOIN scores ON {HAS_SCORE} AND scorer = ? AND scores.version = ?
            JOIN samples ON samples.digest = sample_digest
            WHERE {answers.sql} AND (value IS NOT NULL OR is_invalid) AND samples.body LIKE ? AND {CURRENT}
            ORDER BY responses.id
        """  # noqa: S608 - our own
        named = f'%"problem":{codec.to_json(problem)}%'
        trials = []
        for row in self._rows(query, *scorer, *answers.values, named):
            metadata = orjson.loads(row["body"]).get("metadata", {})
            if metadata.get("problem") == problem:
                trials.append(_trial(evaluation, row, metadata.get("digest")))
        return trials

    def _rows(self, query: str, *values: Any) -> list[Row]:
        with self._database.connection() as connection:
            return connection.execute(query, values).fetchall()


def insert_submission(
    connection: Connection,
    project: str,
    named: tuple[str, str],
    problem: tuple[str, str],
    folder: Path | None,
    revision: str,
    details: Mapping[str, Any],
) -> None:
    """`named` is the submission's id and its name; for the rest see `SubmissionStore.add`."""
    kept_folder, marking = None if folder is None else str(folder.absolute()), codec.to_json(storable_json(details))
    connection.execute(
        "INSERT INTO submissions (id, name, problem, problem_digest, problem_folder, revision, details, "
        "created_at, project) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        [named[0], storable(named[1]), *problem, kept_folder, revision, marking, now_text(), project],
    )


def _marks(text: str | None) -> SubmissionMarks:
    details = orjson.loads(text or "{}")
    total, covers, passed, grade, is_forgeable = (details.get(name) for name in MARKS)
    return SubmissionMarks(total, covers, bool(passed), grade, bool(is_forgeable))


def _submission(row: Row) -> SubmissionRow:
    return SubmissionRow(
        id=row["id"],
        name=row["name"],
        problem=row["problem"],
        problem_digest=row["problem_digest"],
        problem_folder=None if row["problem_folder"] is None else Path(row["problem_folder"]),
        revision=row["revision"],
        created_at=datetime.fromisoformat(row["created_at"]),
        marks=_marks(row["details"]),
    )


def _trial(evaluation: Row, row: Row, digest: str) -> ProgramTrial:
    return ProgramTrial(
        run_id=evaluation["run_id"],
        model=evaluation["model"],
        epoch=row["epoch"],
        problem_digest=digest,
        revision=row["revision"].partition("+")[0],  # what follows is of the options, such as where wheels are
        created_at=datetime.fromtimestamp(row["created_at"], UTC),
        marks=SubmissionMarks(0.0, None, passed=False, grade=None, is_forgeable=False)
        if row["is_invalid"]
        else _marks(row["details"]),
    )
