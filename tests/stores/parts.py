"""Evaluations and answers as a run would make them."""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from msgspec.structs import replace

from engine.parts import EchoScorer, ScriptedModel
from proctor.domain.benchmark import Benchmark, Fingerprint, ScorerSpec
from proctor.domain.chunk import Pool, Priority, Slice
from proctor.domain.evaluation import Evaluation
from proctor.domain.message import Message, Prompt
from proctor.domain.plan import BenchmarkSpec, ModelSpec, Plan
from proctor.domain.sample import Sample
from proctor.stores.connection import Connection
from proctor.stores.database import Database, open_database
from proctor.stores.lost_chunks import Lost, reclaim_chunks
from proctor.stores.moments import month_of
from proctor.stores.queue import QueueStore
from proctor.stores.runs import RunStore
from proctor.stores.steps import StepStore


@dataclass(frozen=True)
class ListedSamples:
    items: tuple[Sample, ...]

    def __iter__(self) -> Iterator[Sample]:
        return iter(self.items)

    def at(self, positions: Sequence[int]) -> Iterator[Sample]:
        return (self.items[position] for position in positions)

    def fingerprint(self) -> Fingerprint:
        return Fingerprint("f" * 32, len(self.items))


class PlainRenderer:
    digest = "plain"

    def render(self, sample: Sample) -> Prompt:
        return Prompt((Message("user", sample.input_text),))


PLAN = Plan.model_validate({"models": ["demo/x"], "benchmarks": ["listed"]})


def evaluation(count: int = 3, epochs: int = 1) -> Evaluation:
    samples = ListedSamples(tuple(Sample(f"s{n}", f"s{n}", category=f"c{n % 2}") for n in range(count)))
    return Evaluation(
        label="demo/x",
        model_spec=ModelSpec.model_validate("demo/x"),
        benchmark_spec=BenchmarkSpec.model_validate("listed"),
        model=ScriptedModel(),
        benchmark=Benchmark("listed", samples, PlainRenderer(), (ScorerSpec("echo"),)),
        samples=samples,
        fingerprint=samples.fingerprint(),
        scorers=(EchoScorer(),),
        options={},
        epochs=epochs,
    )


def new_database(folder: Path) -> Database:
    """Of the engine that the test is run on."""
    return open_database(os.environ.get("PROCTOR_DATABASE_URL") or f"sqlite:///{folder / 'proctor.db'}")


@contextmanager
def connected(home: Path) -> Iterator[Connection]:
    """A connection to the database of commands with this home; rows are tuples."""
    database = new_database(home)
    connection = database.connect()
    if isinstance(connection, sqlite3.Connection):
        connection.row_factory = None
    yield connection
    connection.close()
    database.dispose()


def this_month() -> int:
    return month_of(datetime.now(UTC))


def new_run(database: Database, item: Evaluation, folder: Path) -> tuple[str, Evaluation]:
    store = RunStore(database)
    run_id = store.create(PLAN, [item], folder)
    return run_id, replace(item, id=store.evaluation_rows(run_id)[0]["id"])


def new_chunks(
    database: Database, chunks: int = 3, size: int = 10, priority: Priority = Priority.NORMAL, pool: Pool = Pool.DEFAULT
) -> str:
    """A run that is prepared, of so many chunks."""
    queue = QueueStore(database)
    run_id = queue.accept(PLAN, Path("/nowhere"), None, priority=priority)
    steps = StepStore(database)
    lease = steps.lease(run_id)
    assert lease is not None
    slices = (Slice(0, number * size, size, pool) for number in range(chunks))
    assert steps.write_prepared(lease, PLAN, [evaluation(chunks * size)], slices) == chunks
    return run_id


def let_clock_tick(database: Database) -> None:
    """Turns within one tick of the database's clock are equal: SQLite's are milliseconds."""
    with database.connection() as connection:
        query = f"SELECT {database.dialect.now}"
        before = connection.execute(query).fetchone()[0]
        while connection.execute(query).fetchone()[0] == before:
            time.sleep(0.001)


def let_it_run_out(database: Database, chunk_id: int) -> None:
    with database.connection() as connection:
        connection.execute("UPDATE chunks SET lease_until = 0 WHERE id = ?", [chunk_id])


def reclaimed(database: Database) -> list[Lost]:
    """Leases that a server could not renew because it has only just begun to run are not over yet."""
    until = time.monotonic() + 60
    while not (found := reclaim_chunks(database)) and time.monotonic() < until:
        time.sleep(0.1)
    return found
