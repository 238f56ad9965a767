"""The part of every query that keeps to the scope of the database handle it is asked of."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from proctor.domain.errors import NotFoundError
from proctor.domain.scope import LOCAL, Scope
from proctor.stores.database import Database

if TYPE_CHECKING:
    from sqlalchemy import ColumnElement, Table


class Condition(NamedTuple):
    """SQL, and the values of its placeholders."""

    sql: str
    values: tuple[Any, ...]


def scope_filter(database: Database, table: str = "runs") -> Condition:
    """What follows a WHERE: ' AND runs.project = ?', or nothing where everything may be seen."""
    project = database.scope.project
    return Condition("", ()) if project is None else Condition(f" AND {table}.project = ?", (project,))


def in_scope(database: Database, table: Table) -> list[ColumnElement[bool]]:
    """The same for queries of SQLAlchemy's."""
    project = database.scope.project
    return [] if project is None else [table.c.project == project]


def of_evaluation(database: Database, evaluation_id: int) -> Condition:
    """Responses of one evaluation; none where it is another project's. The month lets PostgreSQL read one partition."""
    scope = scope_filter(database, "evaluations")
    month = f"SELECT month FROM evaluations WHERE evaluations.id = ?{scope.sql}"  # noqa: S608 - our own words
    return Condition(
        f"responses.evaluation_id = ? AND responses.month = ({month})", (evaluation_id, evaluation_id, *scope.values)
    )


def of_run(database: Database, run_id: str) -> Condition:
    """Rows with that `run_id`; none where the run is another project's."""
    scope = scope_filter(database)
    if not scope.sql:
        return Condition("run_id = ?", (run_id,))
    return Condition(
        f"run_id = (SELECT id FROM runs WHERE id = ?{scope.sql})",  # noqa: S608 - our own words
        (run_id, *scope.values),
    )


def check_run(database: Database, run_id: str) -> None:
    """Raises NotFoundError for the run of another project, as for one that there is not."""
    scope = scope_filter(database)
    if scope.sql:
        with database.connection() as connection:
            query = f"SELECT 1 FROM runs WHERE id = ?{scope.sql}"  # noqa: S608 - our own words
            if connection.execute(query, [run_id, *scope.values]).fetchone() is None:
                raise NotFoundError(f"No run {run_id!r}. 'proctor runs' lists them.")


def project_of(database: Database, evaluation_ids: Iterable[int]) -> Scope:
    """The project that these evaluations belong to, for those who come from elsewhere than a scope: workers."""
    first = next(iter(evaluation_ids), None)
    if database.scope.project is not None or first is None:
        return database.scope
    with database.connection() as connection:
        row = connection.execute("SELECT project FROM evaluations WHERE id = ?", [first]).fetchone()
    return Scope(LOCAL if row is None else row[0])


def owned(
    database: Database, columns: Sequence[str], rows: Sequence[tuple[Any, ...]]
) -> tuple[tuple[str, ...], list[tuple[Any, ...]]]:
    """Columns and rows to insert, with the project they belong to where that is not the one the schema gives them."""
    owner = database.scope.owner
    if owner == LOCAL:
        return tuple(columns), list(rows)
    return (*columns, "project"), [(*row, owner) for row in rows]
