"""Removes a project: what its runs leave, once they are deleted, and everything else that is the project's own.

Which tables those are the schema says: each that names a project. The audit log is only ever added to.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from proctor.domain.errors import RunError
from proctor.domain.scope import EVERYTHING
from proctor.stores.connection import SQLITE
from proctor.stores.database import Database
from proctor.stores.deleting import artifact_keys, transaction
from proctor.stores.schema import metadata

KEPT = frozenset({"audit"})
_REFERENCES = (
    "SELECT details FROM submissions WHERE project = ?",
    "SELECT artifact FROM files WHERE project = ?",
    "SELECT text_artifact FROM files WHERE project = ?",
    "SELECT artifact FROM submission_queue WHERE project = ?",
    "SELECT files FROM own_benchmarks WHERE project = ?",
)


class ProjectUse(Struct, frozen=True):
    """What a project has, and what goes with it unless others have it, too."""

    runs: tuple[str, ...]
    """The newest first: one may replay an earlier one."""
    artifacts: frozenset[str]
    models: frozenset[str]
    benchmarks: frozenset[tuple[str, str, str]]


def project_use(database: Database, project: str) -> ProjectUse:
    with database.at_scope(EVERYTHING).connection() as connection:
        runs = connection.execute("SELECT id FROM runs WHERE project = ? ORDER BY created_at DESC, id", [project])
        found = tuple(row[0] for row in runs.fetchall())
        keys = [artifact_keys(connection.execute(query, [project])) for query in _REFERENCES]
        models = connection.execute("SELECT DISTINCT model FROM evaluations WHERE project = ?", [project]).fetchall()
        query = "SELECT DISTINCT benchmark, version, digest FROM evaluations WHERE project = ?"
        benchmarks = connection.execute(query, [project]).fetchall()
    return ProjectUse(
        found, frozenset().union(*keys), frozenset(row[0] for row in models), frozenset(map(tuple, benchmarks))
    )


def delete_project_rows(database: Database, project: str, use: ProjectUse) -> int:
    """Everything but runs, in one transaction; gives how many rows.

    Raises RunError where somebody has just started a run in it.
    """
    with transaction(database.at_scope(EVERYTHING)) as connection:
        if connection.execute("SELECT 1 FROM runs WHERE project = ? LIMIT 1", [project]).fetchone() is not None:
            raise RunError(f"A run was added to {project} meanwhile: delete the project again.")
        count = sum(connection.execute(statement, [project]).rowcount for statement in _statements())
        for name in sorted(use.models):
            query = "DELETE FROM models WHERE name = ? AND NOT EXISTS (SELECT 1 FROM evaluations WHERE model = ?)"
            connection.execute(query, [name, name])
        for benchmark in sorted(use.benchmarks):
            query = (
                "DELETE FROM benchmarks WHERE name = ? AND version = ? AND digest = ? AND NOT EXISTS "
                "(SELECT 1 FROM evaluations WHERE benchmark = ? AND version = ? AND digest = ?)"
            )
            connection.execute(query, [*benchmark, *benchmark])
        return count


def _statements() -> Iterator[str]:
    """Each with the project as its only parameter; a row comes before those it refers to."""
    yield "DELETE FROM refresh_tokens WHERE family_id IN (SELECT id FROM token_families WHERE project = ?)"
    yield "DELETE FROM budgets WHERE kind = 'key' AND subject IN (SELECT id FROM api_keys WHERE project = ?)"
    yield "DELETE FROM budgets WHERE kind = 'project' AND subject = ?"
    # A person's budget is over all projects: what he spent in this one stays spent.
    yield "UPDATE reservations SET project = '', key_id = NULL WHERE project = ? AND user_id IS NOT NULL"
    for table in reversed(metadata.sorted_tables):
        if "project" in table.columns and table.name not in KEPT:
            yield f"DELETE FROM {table.name} WHERE project = ?"  # noqa: S608 - our own names
    yield "DELETE FROM projects WHERE name = ?"


def overwrite_deleted(database: Database) -> None:
    """A file keeps the bytes of deleted rows until they are used again: write it anew. A server sees to it itself."""
    if database.dialect is SQLITE:
        with database.connection() as connection:
            connection.execute("VACUUM")
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
