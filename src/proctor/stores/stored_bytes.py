"""What a project keeps of what was sent to it, in bytes, and whether there is room for more.

Counted are files that were uploaded, its own benchmarks with their data, programs that wait to be marked, and files of
asks; each as long as it is kept. What runs write (answers, artifacts) is measured, and no budget limits it.
"""

from __future__ import annotations

from proctor.domain.errors import BudgetError
from proctor.stores.connection import POSTGRESQL, Connection, SqlDialect
from proctor.stores.database import Database
from proctor.stores.scoping import scope_filter

LOCK = 0x73746F7261676500
"""The advisory lock of whoever adds to what a project keeps."""
SENT = ("files", "own_benchmarks", "submission_queue", "playground_files")
"""Tables whose rows say in `size_bytes` how much was sent."""


def refuse_full_storage(connection: Connection, sql: SqlDialect, project: str, size_bytes: int) -> None:
    """Within the transaction that keeps so much more: raises BudgetError where the project has no room for it."""
    query = "SELECT storage_bytes FROM budgets WHERE kind = 'project' AND subject = ? AND storage_bytes IS NOT NULL"
    row = connection.execute(query, [project]).fetchone()
    if row is None or not size_bytes:
        return
    if sql is POSTGRESQL:
        connection.execute("SELECT pg_advisory_xact_lock(?)", [LOCK])
    kept = _sent_bytes(connection, project)
    if kept + size_bytes > row[0]:
        raise BudgetError(
            f"The project {project} keeps {kept:,} bytes of files and may keep {row[0]:,}: "
            f"this has {size_bytes:,}. Delete some, or wait until they expire."
        )


def check_room(database: Database, size_bytes: int) -> None:
    """Raises BudgetError where the project may not keep so much more: before the content is put anywhere."""
    with database.connection() as connection, connection.transaction(is_short=True):
        refuse_full_storage(connection, database.dialect, database.scope.owner, size_bytes)


def read_stored_bytes(database: Database) -> dict[str, int]:
    """Bytes of answers and of what was sent, by project; reads all answers, so it is not asked again and again."""
    length = "octet_length({})" if database.dialect is POSTGRESQL else "length(CAST({} AS blob))"

    def size(table: str, *columns: str) -> str:
        return " + ".join(f"coalesce({length.format(f'{table}.{column}')}, 0)" for column in columns)

    found: dict[str, int] = {}
    queries = [
        ("bodies", size("bodies", "text", "more")),
        ("playground_answers", size("playground_answers", "text", "reasoning")),
        *((table, f"{table}.size_bytes") for table in SENT),
    ]
    with database.connection() as connection:
        for table, bytes_of in queries:
            scope = scope_filter(database, table)
            query = f"SELECT project, sum({bytes_of}) FROM {table} WHERE true{scope.sql} GROUP BY project"  # noqa: S608 - ours
            for project, total in map(tuple, connection.execute(query, list(scope.values))):
                found[project] = found.get(project, 0) + int(total or 0)
    return {project: total for project, total in found.items() if total}


def _sent_bytes(connection: Connection, project: str) -> int:
    sums = (f"SELECT coalesce(sum(size_bytes), 0) FROM {table} WHERE project = ?" for table in SENT)  # noqa: S608 - ours
    return sum(int(connection.execute(query, [project]).fetchone()[0]) for query in sums)
