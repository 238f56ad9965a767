"""A project's rows as they travel to another Proctor: which there are, how they are written, and how they are read.

What belongs to the place and not to the project stays: whatever is secret, people and their rights, money that was
reserved, work in progress, caches, and what can be computed again.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import orjson
import sqlalchemy
from msgspec import Struct
from msgspec.structs import replace
from sqlalchemy import Boolean, Integer, Table

from proctor.domain.errors import StoreError, UserError
from proctor.domain.scope import EVERYTHING
from proctor.domain.text import storable
from proctor.stores.archived_values import is_storable
from proctor.stores.backups.manifest import TableContent
from proctor.stores.backups.rows import ROWS_IN_A_LINE, TableDigest, lines_of, read_rows
from proctor.stores.connection import POSTGRESQL, Connection
from proctor.stores.database import Database
from proctor.stores.journal import sample_digest
from proctor.stores.schema import metadata
from proctor.stores.statements import places

_OWN = "project = :project"
_OF_RUNS = "run_id IN (SELECT id FROM runs WHERE project = :project)"
_IN_EVALUATIONS = "SELECT 1 FROM evaluations WHERE evaluations.project = :project AND evaluations."
CONTENT: Mapping[str, str] = {
    "models": f"EXISTS ({_IN_EVALUATIONS}model = models.name)",
    "benchmarks": (
        f"EXISTS ({_IN_EVALUATIONS}benchmark = benchmarks.name AND evaluations.version = benchmarks.version "
        "AND evaluations.digest = benchmarks.digest)"
    ),
    "runs": _OWN,
    "run_tags": _OF_RUNS,
    "evaluations": _OWN,
    "samples": "digest IN (SELECT sample_digest FROM responses WHERE project = :project)",
    "responses": _OWN,
    "bodies": _OWN,
    "scores": _OWN,
    "events": _OF_RUNS,
    "comments": _OWN,
    "labels": _OWN,
    "worker_time": _OF_RUNS,
    "files": _OWN,
    "file_uses": _OWN,
    "own_benchmarks": _OWN,
    "saved_plans": _OWN,
    "submissions": _OWN,
    "playground_asks": _OWN,
    "playground_answers": _OWN,
    "playground_files": _OWN,
    "playground_votes": _OWN,
}
"""Table -> its rows of a project; a table comes after those it refers to."""
SHARED = frozenset({"models", "benchmarks", "samples"})
"""What several projects refer to: what is there already stays as it is."""
LEFT_OUT: Mapping[str, frozenset[str]] = {
    "runs": frozenset({"folder", "data", "lease_owner", "lease_until"}),
    "evaluations": frozenset({"summary", "summary_revision"}),
    "events": frozenset({"position"}),
    "submissions": frozenset({"problem_folder"}),
}
"""Columns of the place: where files were, who was at work, what is computed again, and numbers over all projects."""
ENDED = frozenset({"completed", "failed", "cancelled"})
PARENTS = {"run_id": "runs", "file_id": "files", "ask_id": "playground_asks", "sample_digest": "samples"}
"""Column -> the table whose ids it holds."""
_NAMED_BY = {"samples": "digest"}
"""What other tables call a row by, where that is not its id."""
MONTHS = range(200001, 210001)
MAX_LINE_BYTES = 128 * 1024 * 1024
"""Of an archive, whose maker is not trusted: twice the largest answer that is taken of a model."""


class TravellingRows(Struct, frozen=True):
    """Rows of one table, with the columns that travel."""

    table: str
    columns: tuple[str, ...]
    rows: list[list[Any]]


def columns_of(table: Table) -> tuple[str, ...]:
    gone = LEFT_OUT.get(str(table.name), frozenset())
    return tuple(str(one.name) for one in table.columns if one.name != "project" and one.name not in gone)


def contents() -> list[TableContent]:
    """Every table as an archive of this version has it, with nothing in it."""
    found = []
    for name in CONTENT:
        table, columns = metadata.tables[name], columns_of(metadata.tables[name])
        booleans = tuple(one for one in columns if isinstance(table.columns[one].type, Boolean))
        found.append(TableContent(name, columns, booleans, 0, ""))
    return found


def write_project(
    connection: sqlalchemy.Connection,
    project: str,
    tables: list[TableContent],
    see: Callable[[TravellingRows], None],
) -> Iterator[bytes]:
    """All its rows as gzip of lines; `tables` is filled with what was written, `see` is given the rows as well."""
    packer = zlib.compressobj(level=6, wbits=31)
    for content in contents():
        digest = TableDigest()
        yield packer.compress(orjson.dumps({"table": content.table}, option=orjson.OPT_APPEND_NEWLINE))
        for rows in stored_pages(connection, content, project):
            see(TravellingRows(content.table, content.columns, rows))
            for line in lines_of(rows, digest):
                if len(line) > MAX_LINE_BYTES:
                    raise StoreError(
                        f"A row of {content.table} has {len(line) >> 20} MiB: no archive has more than "
                        f"{MAX_LINE_BYTES >> 20} MiB in one. 'proctor backup' takes it."
                    )
                yield packer.compress(line)
        tables.append(replace(content, rows=digest.rows, digest=digest.text))
    yield packer.flush()


ARTIFACT_COLUMNS: Mapping[str, tuple[str, ...]] = {
    "runs": ("raw_data",),
    "scores": ("details",),
    "files": ("artifact", "text_artifact"),
    "own_benchmarks": ("files",),
    "submissions": ("details",),
}


def stored_pages(connection: sqlalchemy.Connection, content: TableContent, project: str) -> Iterator[list[list[Any]]]:
    columns: list[sqlalchemy.ColumnClause[Any]] = [
        sqlalchemy.column(name, Boolean()) if name in content.booleans else sqlalchemy.column(name)
        for name in content.columns
    ]
    which = sqlalchemy.text(CONTENT[content.table]).bindparams(project=project)
    query = sqlalchemy.select(*columns).select_from(sqlalchemy.table(content.table)).where(which)
    found = connection.execution_options(yield_per=ROWS_IN_A_LINE).execute(query)
    for rows in found.partitions(ROWS_IN_A_LINE):
        yield [[storable(value) if isinstance(value, str) else value for value in row] for row in rows]


def check_rows(tables: Sequence[TableContent], chunks: Iterable[bytes]) -> None:
    """Read all of it and compare it with the manifest; StoreError for what is damaged or cannot be a row."""
    expected = {one.table: one for one in tables}
    digests = {name: TableDigest() for name in expected}
    for name, rows in read_rows(chunks, MAX_LINE_BYTES):
        if name not in expected:
            raise StoreError(f"The archive has rows of a table {name!r}, which none has.")
        for row in rows:
            _check_row(expected[name], row)
            digests[name].add(row)
        if digests[name].rows > expected[name].rows:
            raise StoreError(f"The archive is damaged: it has more rows in {name} than it says.")
    for name, digest in digests.items():
        if (digest.rows, digest.text) != (expected[name].rows, expected[name].digest):
            raise StoreError(f"The archive is damaged: the table {name} is not what was written.")


def _check_row(content: TableContent, row: list[Any]) -> None:
    table = metadata.tables[content.table]
    if len(row) != len(content.columns):
        raise StoreError(f"The archive is damaged: a row of {content.table} has other columns.")
    for name, value in zip(content.columns, row, strict=True):
        column = table.columns[name]
        if not is_storable(content.table, column, value):
            raise StoreError(f"The archive is damaged: {value!r:.60} is in the column {name} of {content.table}.")
    values = dict(zip(content.columns, row, strict=True))
    if content.table == "runs" and values["status"] not in ENDED:
        raise StoreError(f"The archive is damaged: a run in it is {values['status']}.")
    if content.table == "evaluations" and values["month"] not in MONTHS:
        raise StoreError("The archive is damaged: a month in it is none.")
    if content.table == "samples" and row[0] != sample_digest(row[1:]):
        raise StoreError("The archive is damaged: a sample in it is not the one that it is called.")


class ProjectWriter:
    """Writes rows of an archive into a project: ids that the database hands out are new, all others stay."""

    def __init__(self, database: Database, connection: Connection, project: str) -> None:
        self._database, self._connection, self._project = database, connection, project
        self.evaluations: dict[int, tuple[int, int]] = {}
        """Old id -> new id and month."""
        self.responses: dict[int, tuple[int, int]] = {}
        self._ids: dict[str, set[str]] = {table: set() for table in PARENTS.values()}
        self.written: dict[str, TableDigest] = {name: TableDigest() for name in CONTENT}
        """As they were written, but with the ids that they had."""

    def write(self, found: TravellingRows) -> None:
        rows = [dict(zip(found.columns, row, strict=True)) for row in found.rows]
        for row in found.rows:
            self.written[found.table].add(row)
        self._refuse_known(found.table, rows)
        self._refuse_strangers(found.table, rows)
        if found.table == "evaluations":
            self._number_evaluations(rows)
        elif found.table == "responses":
            self._number_responses(rows)
        elif "response_id" in found.columns:
            self._follow_responses(found.table, rows)
        columns = list(found.columns)
        if found.table == "runs":
            rows = [{**row, "folder": ""} for row in rows]
            columns.append("folder")
        if "project" in metadata.tables[found.table].columns:
            rows = [{**row, "project": self._project} for row in rows]
            columns.append("project")
        values = [tuple(row[name] for name in columns) for row in rows]
        end = "ON CONFLICT DO NOTHING" if found.table in SHARED else ""
        self._connection.insert(found.table, columns, values, end)

    def _refuse_known(self, table: str, rows: list[dict[str, Any]]) -> None:
        keys = list(metadata.tables[table].primary_key)
        if table in SHARED or [key.name for key in keys] != ["id"] or isinstance(keys[0].type, Integer):
            return
        ids = [row["id"] for row in rows]
        query = f"SELECT id FROM {table} WHERE id IN ({places(len(ids))}) LIMIT 1"  # noqa: S608 - our own names
        if (there := self._connection.execute(query, ids).fetchone()) is not None:
            raise UserError(f"{there[0]} is in this database already, in {table}: the archive was imported before.")

    def _refuse_strangers(self, table: str, rows: list[dict[str, Any]]) -> None:
        """A row belongs to what is in the archive itself, never to what another project has."""
        if table in self._ids:
            self._ids[table] |= {row[_NAMED_BY.get(table, "id")] for row in rows}
        for column, parent in PARENTS.items():
            strangers = {row[column] for row in rows if column in row} - self._ids[parent]
            if strangers:
                raise StoreError(f"The archive is damaged: a row of {table} belongs to {min(strangers)}, not in it.")

    def _number_evaluations(self, rows: list[dict[str, Any]]) -> None:
        if self._database.dialect is POSTGRESQL:
            query = "SELECT nextval(pg_get_serial_sequence('evaluations', 'id')) FROM generate_series(1, ?)"
            ids = [row[0] for row in self._connection.execute(query, [len(rows)]).fetchall()]
        else:
            first = self._connection.execute("SELECT coalesce(max(id), 0) + 1 FROM evaluations").fetchone()[0]
            ids = list(range(first, first + len(rows)))
        for row, new in zip(rows, ids, strict=True):
            if row["id"] in self.evaluations:
                raise StoreError("The archive is damaged: two evaluations in it have one id.")
            self.evaluations[row["id"]] = new, row["month"]
            self._database.prepare_month(self._connection, row["month"])
            row["id"] = new

    def _number_responses(self, rows: list[dict[str, Any]]) -> None:
        [last] = self._connection.execute(
            "INSERT INTO id_blocks (name, next) VALUES ('responses', ?) "
            "ON CONFLICT (name) DO UPDATE SET next = id_blocks.next + excluded.next RETURNING next",
            [len(rows)],
        ).fetchone()  # fmt: skip
        for new, row in enumerate(rows, last - len(rows) + 1):
            if row["id"] in self.responses or row["evaluation_id"] not in self.evaluations:
                raise StoreError("The archive is damaged: an answer in it belongs to no evaluation, or is there twice.")
            evaluation, month = self.evaluations[row["evaluation_id"]]
            self.responses[row["id"]] = new, month
            row |= {"id": new, "evaluation_id": evaluation, "month": month}

    def _follow_responses(self, table: str, rows: list[dict[str, Any]]) -> None:
        for row in rows:
            if row["response_id"] is None:  # of the run as a whole
                continue
            if row["response_id"] not in self.responses:
                raise StoreError(f"The archive is damaged: a row of {table} belongs to no answer in it.")
            new, month = self.responses[row["response_id"]]
            row["response_id"] = new
            if "month" in row:
                row["month"] = month


def compare_written(database: Database, project: str, writer: ProjectWriter) -> dict[str, int]:
    """Read back what was imported; StoreError where it is not what was to be written. Gives the rows of each table."""
    evaluations = {new: old for old, (new, _) in writer.evaluations.items()}
    responses = {new: old for old, (new, _) in writer.responses.items()}
    former = {
        ("evaluations", "id"): evaluations,
        ("responses", "evaluation_id"): evaluations,
        ("responses", "id"): responses,
    }
    counts: dict[str, int] = {}
    with database.at_scope(EVERYTHING).snapshot() as connection:
        for content in contents():
            digest = TableDigest()
            maps = [
                former.get((content.table, name), responses if name == "response_id" else None)
                for name in content.columns
            ]
            for rows in stored_pages(connection, content, project):
                for row in rows:
                    digest.add(
                        [
                            old[value] if old and value is not None else value
                            for value, old in zip(row, maps, strict=True)
                        ]
                    )
            wanted = writer.written[content.table]
            is_same = digest.rows == wanted.rows and (content.table in SHARED or digest.text == wanted.text)
            if not is_same:
                raise StoreError(
                    f"The table {content.table} is not what the archive has: delete the project {project}."
                )
            counts[content.table] = digest.rows
    return counts
