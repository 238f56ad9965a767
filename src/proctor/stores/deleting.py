"""Removes a run or a submission, and of what they share only what no other refers to."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager

from msgspec import Struct

from proctor.domain.errors import NotFoundError
from proctor.domain.scope import EVERYTHING
from proctor.stores.connection import POSTGRESQL, SQLITE, Connection, Row
from proctor.stores.database import Database
from proctor.stores.scoping import scope_filter
from proctor.stores.statements import places

_KEY = re.compile(r"(?<![0-9a-f])[0-9a-f]{40}(?![0-9a-f])")
_EVALUATIONS = "SELECT id FROM evaluations WHERE run_id = ?"
_MONTH = "month IN (SELECT month FROM evaluations WHERE run_id = ?)"
_RESPONSES = f"SELECT id FROM responses WHERE evaluation_id IN ({_EVALUATIONS}) AND {_MONTH}"  # noqa: S608 - our own
_BATCHES = f"SELECT id FROM batches WHERE evaluation_id IN ({_EVALUATIONS})"  # noqa: S608 - our own
_ROWS = (
    ("scores", f"{_MONTH} AND response_id IN ({_RESPONSES})"),
    ("bodies", f"{_MONTH} AND response_id IN ({_RESPONSES})"),
    ("responses", f"{_MONTH} AND evaluation_id IN ({_EVALUATIONS})"),
    ("batch_trials", f"batch_id IN ({_BATCHES})"),
    ("batches", f"evaluation_id IN ({_EVALUATIONS})"),
    ("events", "run_id = ?"),
    ("comments", "run_id = ?"),
    ("labels", "run_id = ?"),
    ("file_uses", "run_id = ?"),
    ("deliveries", "run_id = ?"),
    ("chunks", "run_id = ?"),
    ("queue", "run_id = ?"),
    ("rescorings", "run_id = ?"),
    ("run_tags", "run_id = ?"),
    ("worker_time", "run_id = ?"),
    *((table, f"evaluation_id IN ({_EVALUATIONS})") for table in ("packed_words", "packed_columns", "packings")),
    ("evaluations", "run_id = ?"),
    ("runs", "id = ?"),
)
"""What belongs to a run alone; a row comes before those it refers to. Every parameter is the run's id."""
_IN_SCORES = "SELECT details FROM scores WHERE details IS NOT NULL"
_ELSEWHERE = (
    "SELECT details FROM submissions UNION ALL SELECT raw_data FROM runs UNION ALL SELECT content FROM queue "
    "UNION ALL SELECT artifact FROM files UNION ALL SELECT text_artifact FROM files "
    "UNION ALL SELECT artifact FROM submission_queue UNION ALL SELECT files FROM own_benchmarks"
)
"""Everything that refers to artifacts, by their keys."""
DIGESTS_AT_ONCE = 30_000
"""Databases take about as many parameters; each statement looks through all responses."""


class DeletedRows(Struct, frozen=True):
    responses: int
    samples: int
    """Of those only that no other run has put to a model."""
    artifacts: frozenset[str]
    """Keys that it referred to, its files among them; others may refer to the same."""


def delete_rows(database: Database, run_id: str) -> DeletedRows:
    """All or nothing, in one transaction."""
    refuse_foreign(database, "runs", run_id)
    # What the run shares is counted in every project: a sample or an artifact that another refers to stays.
    with transaction(database.at_scope(EVERYTHING)) as connection:
        return _delete(connection, run_id)


def delete_submission_row(database: Database, submission_id: str) -> frozenset[str]:
    """Remove a submission; gives the keys of artifacts that it referred to, as others may."""
    refuse_foreign(database, "submissions", submission_id)
    with transaction(database.at_scope(EVERYTHING)) as connection:
        mine = artifact_keys(connection.execute("SELECT details FROM submissions WHERE id = ?", [submission_id]))
        connection.execute("DELETE FROM submissions WHERE id = ?", [submission_id])
        return mine


def delete_unreferenced(
    database: Database, keys: Iterable[str], delete: Callable[[str], int | None]
) -> list[int]:  # fmt: skip
    """Delete those of the artifacts that nothing refers to; gives the sizes of what is gone.

    While they are deleted nobody keeps a file: one with the same content is kept either before, and refers to it, or
    after, and keeps the content again. Scores, which can be millions, are read before: who writes one takes no lock.
    """
    wanted = frozenset(keys)
    everything = database.at_scope(EVERYTHING)
    with everything.connection() as connection:
        wanted -= artifact_keys(connection.execute(_IN_SCORES)) if wanted else frozenset()
    if not wanted:
        return []
    with everything.connection() as connection, connection.transaction():
        if database.dialect is POSTGRESQL:
            connection.execute("LOCK TABLE files IN SHARE ROW EXCLUSIVE MODE")
        going = wanted - artifact_keys(connection.execute(_ELSEWHERE))
        return [size for key in sorted(going) if (size := delete(key)) is not None]


def refuse_foreign(database: Database, table: str, row_id: str) -> None:
    """Raises NotFoundError for the row of another project, as for one that there is not."""
    scope = scope_filter(database, table)
    with database.connection() as connection:
        query = f"SELECT 1 FROM {table} WHERE id = ?{scope.sql}"  # noqa: S608 - our own
        if connection.execute(query, [row_id, *scope.values]).fetchone() is None:
            raise NotFoundError(f"No {table.removesuffix('s')} {row_id!r}.")


@contextmanager
def transaction(database: Database) -> Iterator[Connection]:
    """One in which rows go that others may be about to refer to."""
    # One of its own: what is switched off for it is not to be off for whoever has a connection next.
    with database.explained(), closing(database.connect()) as connection:
        if database.dialect is SQLITE:
            # Each row is named here. Were they enforced, every sample would be looked for in all responses.
            connection.execute("PRAGMA foreign_keys=OFF")
        with connection.transaction():
            if database.dialect is POSTGRESQL:
                # Whoever is just recording an answer to a sample is waited for, or the sample would go from under it.
                connection.execute("LOCK TABLE samples IN SHARE ROW EXCLUSIVE MODE")
            yield connection


def artifacts_in(database: Database, run_id: str) -> frozenset[str]:
    """The keys that a run's scores refer to; anything that could be one."""
    refuse_foreign(database, "runs", run_id)
    with database.connection() as connection:
        return _artifacts_in_scores(connection, run_id)


def _artifacts_in_scores(connection: Connection, run_id: str) -> frozenset[str]:
    query = f"SELECT details FROM scores WHERE {_MONTH} AND response_id IN ({_RESPONSES})"  # noqa: S608 - our own
    return artifact_keys(connection.execute(query, [run_id] * query.count("?")))


def _artifacts_of(connection: Connection, run_id: str) -> frozenset[str]:
    """Those of its scores, its raw data, and the files that its plan travels with."""
    whole = artifact_keys(connection.execute("SELECT raw_data FROM runs WHERE id = ?", [run_id]))
    content = artifact_keys(connection.execute("SELECT content FROM queue WHERE run_id = ?", [run_id]))
    return whole | content | _artifacts_in_scores(connection, run_id)


def referred_artifacts(database: Database) -> frozenset[str]:
    """The keys of every artifact that something refers to; anything that could be one."""
    with database.at_scope(EVERYTHING).connection() as connection:
        return artifact_keys(connection.execute(f"{_IN_SCORES} UNION ALL {_ELSEWHERE}"))


def referring_runs(database: Database, run_id: str) -> list[str]:
    """Other runs whose plan names this one, to replay it or to be compared with it."""
    scope = scope_filter(database)
    query = f"SELECT id FROM runs WHERE id != ? AND plan LIKE ?{scope.sql} ORDER BY created_at"  # noqa: S608 - our own
    with database.connection() as connection:
        return [row[0] for row in connection.execute(query, [run_id, f"%{run_id}%", *scope.values])]


def _delete(connection: Connection, run_id: str) -> DeletedRows:
    query = f"SELECT DISTINCT sample_digest FROM responses WHERE {_MONTH} AND evaluation_id IN ({_EVALUATIONS})"  # noqa: S608
    put = [row[0] for row in connection.execute(query, [run_id] * query.count("?"))]
    mine = _artifacts_of(connection, run_id) | _files_of(connection, run_id)
    counts: dict[str, int] = {}
    for table, which in _ROWS:
        statement = f"DELETE FROM {table} WHERE {which}"  # noqa: S608 - our own
        counts[table] = connection.execute(statement, [run_id] * which.count("?")).rowcount
    return DeletedRows(counts["responses"], _delete_samples(connection, put), mine)


def _files_of(connection: Connection, run_id: str) -> frozenset[str]:
    """Delete the files that only this run uses; gives their artifacts."""
    mine = "SELECT file_id FROM file_uses WHERE run_id = ?"
    others = "SELECT file_id FROM file_uses WHERE run_id != ?"
    which = f"id IN ({mine}) AND id NOT IN ({others})"
    query = f"SELECT artifact, text_artifact FROM files WHERE {which}"  # noqa: S608 - our own
    found = connection.execute(query, [run_id, run_id]).fetchall()
    connection.execute(f"DELETE FROM files WHERE {which}", [run_id, run_id])  # noqa: S608 - our own
    return frozenset(key for row in found for key in row if key)


def _delete_samples(connection: Connection, digests: list[str]) -> int:
    """Those that no other run has put to a model."""
    count = 0
    for start in range(0, len(digests), DIGESTS_AT_ONCE):
        some = digests[start : start + DIGESTS_AT_ONCE]
        count += connection.execute(
            f"DELETE FROM samples WHERE digest IN ({places(len(some))}) "  # noqa: S608 - only placeholders
            "AND digest NOT IN (SELECT sample_digest FROM responses)",
            some,
        ).rowcount
    return count


def artifact_keys(rows: Iterable[Row]) -> frozenset[str]:
    """What could be the key of an artifact in these texts."""
    return frozenset(key for (text,) in rows if text for key in _KEY.findall(text))
