"""What people say of runs and of single results: comments, and marks of their own."""

from __future__ import annotations

from msgspec import Struct

from proctor.domain.errors import NotFoundError
from proctor.domain.text import storable
from proctor.stores.database import Database
from proctor.stores.moments import now_text
from proctor.stores.saved_plans import new_ordered_id
from proctor.stores.scoping import check_run, of_evaluation, of_run, scope_filter

PREFIX = "c-"


class CommentRow(Struct, frozen=True):
    id: str
    run_id: str
    response_id: int | None
    author: str
    text: str
    created_at: str


class LabelRow(Struct, frozen=True):
    run_id: str
    response_id: int
    author: str
    value: float
    note: str
    labelled_at: str


class AnnotationStore:
    """A run that there is not, or that is another project's, raises NotFoundError when something is added to it."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add_comment(self, run_id: str, response_id: int | None, author: str, text: str) -> CommentRow:
        self._check(run_id, response_id)
        row = CommentRow(new_ordered_id(PREFIX), run_id, response_id, author, storable(text), now_text())
        with self._database.connection() as connection:
            connection.execute(
                "INSERT INTO comments (id, run_id, response_id, author, text, created_at, project) "
                "VALUES (?, ?, ?, ?, ?, ?, ?)",
                [row.id, run_id, response_id, author, row.text, row.created_at, self._database.scope.owner],
            )
        return row

    def comments(self, run_id: str, *, after: str | None = None, limit: int = 50) -> list[CommentRow]:
        """A run's comments, oldest first; `after` is the last one seen."""
        mine = of_run(self._database, run_id)
        columns = "id, run_id, response_id, author, text, created_at"
        query = f"SELECT {columns} FROM comments WHERE {mine.sql} AND id > ? ORDER BY id LIMIT ?"  # noqa: S608
        with self._database.connection() as connection:
            rows = connection.execute(query, [*mine.values, after or "", limit]).fetchall()
        return [CommentRow(*row) for row in rows]

    def delete_comment(self, run_id: str, comment_id: str) -> None:
        mine = of_run(self._database, run_id)
        with self._database.connection() as connection:
            gone = connection.execute(
                f"DELETE FROM comments WHERE {mine.sql} AND id = ?",  # noqa: S608 - our own words
                [*mine.values, comment_id],
            ).rowcount
        if not gone:
            raise NotFoundError(f"Run {run_id} has no comment {comment_id!r}.")

    def set_label(self, run_id: str, response_id: int, author: str, value: float, note: str) -> LabelRow:
        """An author has one mark for a result: the latest."""
        self._check(run_id, response_id)
        row = LabelRow(run_id, response_id, author, value, storable(note), now_text())
        with self._database.connection() as connection:
            connection.execute(
                "INSERT INTO labels (run_id, response_id, author, value, note, labelled_at, project) "
                "VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (run_id, response_id, author) "
                "DO UPDATE SET value = excluded.value, note = excluded.note, labelled_at = excluded.labelled_at",
                [run_id, response_id, author, value, row.note, row.labelled_at, self._database.scope.owner],
            )
        return row

    def labels(self, run_id: str) -> list[LabelRow]:
        mine = of_run(self._database, run_id)
        columns = "run_id, response_id, author, value, note, labelled_at"
        query = f"SELECT {columns} FROM labels WHERE {mine.sql} ORDER BY response_id, author"  # noqa: S608
        with self._database.connection() as connection:
            rows = connection.execute(query, mine.values).fetchall()
        return [LabelRow(*row) for row in rows]

    def delete_label(self, run_id: str, response_id: int, author: str) -> None:
        mine = of_run(self._database, run_id)
        with self._database.connection() as connection:
            gone = connection.execute(
                f"DELETE FROM labels WHERE {mine.sql} AND response_id = ? AND author = ?",  # noqa: S608 - our own
                [*mine.values, response_id, author],
            ).rowcount
        if not gone:
            raise NotFoundError(f"{author} has not marked result {response_id} of run {run_id}.")

    def _check(self, run_id: str, response_id: int | None) -> None:
        check_run(self._database, run_id)
        scope = scope_filter(self._database, "evaluations")
        with self._database.connection() as connection:
            query = f"SELECT id FROM evaluations WHERE run_id = ?{scope.sql}"  # noqa: S608 - our own words
            evaluations = [row[0] for row in connection.execute(query, [run_id, *scope.values])]
            if response_id is None:
                if connection.execute("SELECT 1 FROM runs WHERE id = ?", [run_id]).fetchone() is None:
                    raise NotFoundError(f"No run {run_id!r}. 'proctor runs' lists them.")
                return
            for evaluation_id in evaluations:
                mine = of_evaluation(self._database, evaluation_id)
                query = f"SELECT 1 FROM responses WHERE {mine.sql} AND responses.id = ?"  # noqa: S608
                if connection.execute(query, [*mine.values, response_id]).fetchone() is not None:
                    return
        raise NotFoundError(f"Run {run_id} has no result {response_id}.")
