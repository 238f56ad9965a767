"""Questions in SQL over stored results: DuckDB in memory, filled with what the question names and nothing else."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

from proctor.domain.errors import UserError
from proctor.domain.text import shorten
from proctor.stores.database import Database
from proctor.stores.listing import RunListing, list_runs
from proctor.stores.result_rows import ResultRow
from proctor.stores.results import ResultStore
from proctor.stores.runs import RunStore

if TYPE_CHECKING:
    import pyarrow

ROWS_AT_ONCE = 5_000
TABLES = {
    "runs": "run_id VARCHAR, name VARCHAR, status VARCHAR, created_at TIMESTAMPTZ, seconds DOUBLE, "
    "models VARCHAR[], benchmarks VARCHAR[], trials BIGINT",
    "results": "run_id VARCHAR, model VARCHAR, benchmark VARCHAR, sample_id VARCHAR, epoch BIGINT, attempt BIGINT, "
    "category VARCHAR, input VARCHAR, target VARCHAR, response VARCHAR, outcome VARCHAR, cached BOOLEAN, "
    "error VARCHAR, finish_reason VARCHAR, latency_seconds DOUBLE, first_token_seconds DOUBLE, input_tokens BIGINT, "
    "output_tokens BIGINT, reasoning_tokens BIGINT, cached_tokens BIGINT, cost_usd DOUBLE, side VARCHAR",
    "scores": "run_id VARCHAR, model VARCHAR, benchmark VARCHAR, sample_id VARCHAR, epoch BIGINT, category VARCHAR, "
    "scorer VARCHAR, version VARCHAR, value DOUBLE, answer VARCHAR, reason VARCHAR, invalid BOOLEAN, side VARCHAR",
}
"""What can be asked: the current attempt at each trial, as `proctor export` gives it, and the scores in force."""


def query_results(database: Database, query: str, references: Sequence[str] = ()) -> pyarrow.Table:
    """The answer to a SELECT over the tables runs, results and scores, of these runs or of all of them."""
    duckdb = _duckdb()
    runs = _runs(database, references)
    opened = duckdb.connect(config={"enable_external_access": "false", "autoload_known_extensions": "false"})
    try:
        for table, columns in TABLES.items():
            opened.execute(f"CREATE TABLE {table} ({columns})")
        _refuse_changes(duckdb, opened, query)
        # A word too much only reads more: DuckDB's own list of names cannot be had of every query (USING).
        named = set(re.findall(r"\w+", query.lower()))
        for table, rows in _rows(database, runs).items():
            if table in named:
                _fill(opened, table, rows())
        opened.execute("SET lock_configuration = true")
        found = opened.sql(query).to_arrow_table()
        if twice := {name for name in found.column_names if found.column_names.count(name) > 1}:
            raise UserError(f"Two columns are called {min(twice)!r}: name one of them with AS.")
        return _with_whole_numbers(found)
    except duckdb.Error as fault:
        raise UserError(f"The question cannot be answered: {shorten(' '.join(str(fault).split()), 500)}") from None
    finally:
        opened.close()


def _with_whole_numbers(found: pyarrow.Table) -> pyarrow.Table:
    """DuckDB's sums of whole numbers are decimals without a fraction: as whole numbers, where they fit."""
    import pyarrow

    for place, field in enumerate(found.schema):
        if pyarrow.types.is_decimal(field.type) and field.type.scale == 0:
            try:
                column = found.column(place).cast(pyarrow.int64())
            except pyarrow.ArrowInvalid:
                continue
            found = found.set_column(place, field.name, column)
    return found


def _duckdb() -> Any:
    try:
        import duckdb
        import pyarrow  # noqa: F401 - what DuckDB is filled through
    except ImportError as missing:
        raise UserError(f"SQL needs the package {missing.name}: pip install 'proctor[sql]'.") from None
    return duckdb


def _runs(database: Database, references: Sequence[str]) -> list[RunListing]:
    wanted = {RunStore(database).get(reference).id for reference in references}
    found: list[RunListing] = []
    before: tuple[str, str] | None = None
    while page := list_runs(database, limit=500, before=before):
        found += [run for run in page if not wanted or run.id in wanted]
        before = (page[-1].created_at.isoformat(timespec="microseconds"), page[-1].id)
    return found


def _refuse_changes(duckdb: Any, opened: Any, query: str) -> None:
    statements = opened.extract_statements(query)
    if len(statements) != 1 or statements[0].type != duckdb.StatementType.SELECT:
        raise UserError("Only one SELECT can be asked: results are read, never changed.")


def _rows(database: Database, runs: Sequence[RunListing]) -> dict[str, Callable[[], Iterator[tuple[Any, ...]]]]:
    def listed() -> Iterator[tuple[Any, ...]]:
        for run in runs:
            yield (
                run.id, run.name, run.status.value, run.created_at, run.seconds, list(run.models),
                list(run.benchmarks), run.trials,
            )  # fmt: skip

    def trials() -> Iterator[ResultRow]:
        for run in runs:
            yield from ResultStore(database).results(run.id)

    return {
        "runs": listed,
        "results": lambda: map(_result, trials()),
        "scores": lambda: (row for trial in trials() for row in _scores(trial)),
    }


def _result(row: ResultRow) -> tuple[Any, ...]:
    cost = None if row.cost_usd is None else float(row.cost_usd)
    return (
        row.run_id, row.model, row.benchmark, row.sample_id, row.epoch, row.attempt, row.category, row.input,
        row.target, row.response, row.outcome.value, row.is_cached, row.error, row.finish_reason, row.latency_seconds,
        row.first_token_seconds, row.input_tokens, row.output_tokens, row.reasoning_tokens, row.cached_tokens, cost,
        row.side or row.model,
    )  # fmt: skip


def _scores(row: ResultRow) -> Iterator[tuple[Any, ...]]:
    for score in row.scores:
        yield (
            row.run_id, row.model, row.benchmark, row.sample_id, row.epoch, row.category, score.scorer, score.version,
            score.value, score.answer, score.reason, score.is_invalid, row.side or row.model,
        )  # fmt: skip


def _fill(opened: Any, table: str, rows: Iterator[tuple[Any, ...]]) -> None:
    import pyarrow

    schema = opened.table(table).to_arrow_table().schema
    while part := list(islice(rows, ROWS_AT_ONCE)):
        by_column = zip(zip(*part, strict=True), schema, strict=True)
        columns = [pyarrow.array(values, type=field.type) for values, field in by_column]
        opened.register("part", pyarrow.Table.from_arrays(columns, schema=schema))
        opened.execute(f"INSERT INTO {table} SELECT * FROM part")  # noqa: S608 - one of ours
        opened.unregister("part")
