"""Workers that are not alike, and a database without room: refused or waited for, and nothing is lost."""

from __future__ import annotations

import asyncio
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import proctor
from fakes.provider import FakeProvider
from proctor.domain.chunk import Pool
from proctor.domain.run import RunStatus
from proctor.runs.chunks.prepare import prepare
from proctor.runs.read import read_run
from proctor.stores.chunks import ChunkStore
from proctor.stores.connection import POSTGRESQL
from proctor.stores.database import Database
from proctor.stores.runs import RunStore
from proctor.stores.workers import WorkerStore
from runs.arithmetic import wait_for, write_benchmark
from runs.workers import accepted, end_worker, here, workers

TRIALS = 120
SHIFTED = (
    "import time; now = time.time; time.time = lambda: now() + {seconds}; "
    "from proctor.worker.process import main; raise SystemExit(main([]))"
)


@contextmanager
def worker(home: Path, folder: Path, program: str, **environment: str) -> Iterator[subprocess.Popen[bytes]]:
    """A worker process that is not as the others are."""
    process = subprocess.Popen(
        [sys.executable, "-c", program],
        cwd=folder,
        env={**os.environ, "PROCTOR_HOME": str(home), "TMPDIR": str(folder), **environment},
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    try:
        yield process
    finally:
        end_worker(process)


def another_version(folder: Path) -> Path:
    """Proctor as it is here, but for a scorer that scores otherwise; gives what goes into PYTHONPATH."""
    source = Path(proctor.__file__).parent
    scorers = folder / "proctor" / "scorers"
    scorers.mkdir(parents=True)
    for path in source.iterdir():
        if path.name not in ("scorers", "__pycache__"):
            (folder / "proctor" / path.name).symlink_to(path)
    for path in (source / "scorers").iterdir():
        if path.name not in ("numeric.py", "__pycache__"):
            (scorers / path.name).symlink_to(path)
    text = (source / "scorers" / "numeric.py").read_text()
    (scorers / "numeric.py").write_text(re.sub(r'^REVISION = "\d+"$', 'REVISION = "999"', text, flags=re.MULTILINE))
    return folder


def accepted_sums(database: Database, work: Path, home: Path, provider: FakeProvider, concurrency: int = 4) -> str:
    """A run of sums that is prepared here."""
    write_benchmark(work, TRIALS)
    model = f"openai/sums?base_url={provider.url}/v1"
    limits = {"concurrency": concurrency}
    run_id = accepted(database, work, home, models=[model], benchmarks=["sums.yaml"], cache=False, limits=limits)
    assert asyncio.run(prepare(run_id, here(work, home), database))
    return run_id


def completed(database: Database, run_id: str) -> bool:
    run = RunStore(database).get(run_id)
    assert run.status not in (RunStatus.FAILED, RunStatus.CANCELLED), run.error
    return run.finished_at is not None


@pytest.mark.sqlite
def test_a_worker_of_another_version_leaves_the_run_to_others_and_says_why(
    database: Database, tmp_path: Path, home: Path
) -> None:
    work, other = tmp_path / "work", another_version(tmp_path / "other")
    program = "from proctor.worker.process import main; raise SystemExit(main([]))"
    with FakeProvider(latency_seconds=0.3) as provider:
        run_id = accepted_sums(database, work, home, provider)
        store = ChunkStore(database)
        with workers(1, home, work):
            wait_for(lambda: WorkerStore(database).alive(Pool.DEFAULT) == 1)
            with worker(home, work, program, PYTHONPATH=str(other)) as unlike:
                wait_for(lambda: any(chunk.error for chunk in store.of_run(run_id)))
                provider.latency_seconds = 0.0
                wait_for(lambda: completed(database, run_id), 120)
                assert unlike.poll() is None
        reasons = {chunk.error for chunk in store.of_run(run_id) if chunk.error}
        said = f"This worker scores sums otherwise than run {run_id} was prepared for"
        assert reasons == {f"{said}: it is of another version of Proctor."}
        assert len(provider.arrivals) == TRIALS
    [evaluation] = read_run(database, run_id).evaluations
    assert (evaluation.scored, evaluation.trials) == (TRIALS, TRIALS)


@pytest.mark.sqlite
def test_a_run_that_no_worker_can_execute_for_a_mistake_fails_with_it_at_once(
    database: Database, tmp_path: Path, home: Path
) -> None:
    """The one worker that there is has other data than whoever prepared it had."""
    work = tmp_path / "work"
    with FakeProvider() as provider:
        run_id = accepted_sums(database, work, home, provider)
        with database.connection() as connection:
            connection.execute(
                "INSERT INTO benchmarks SELECT name, version, 'theirs', samples, tags, first_used_at FROM benchmarks"
            )
            connection.execute("UPDATE evaluations SET digest = 'theirs'")
        with workers(1, home, work):
            wait_for(lambda: RunStore(database).get(run_id).status is RunStatus.FAILED, 90)
        assert provider.arrivals == []
    error = RunStore(database).get(run_id).error
    assert error is not None
    assert "is not the same here as where run" in error
    with database.connection() as connection:
        [refusals] = connection.execute("SELECT max(refusals) FROM chunks WHERE run_id = ?", [run_id]).fetchone()
    assert refusals == 1, "trying again would change nothing"


def test_clocks_that_are_an_hour_apart_lose_no_chunk(database: Database, tmp_path: Path, home: Path) -> None:
    """Leases are measured by the database's clock."""
    work = tmp_path / "work"
    with FakeProvider(latency_seconds=0.1) as provider:
        run_id = accepted_sums(database, work, home, provider)
        with (
            worker(home, work, SHIFTED.format(seconds=3_600)),
            worker(home, work, SHIFTED.format(seconds=-3_600)),
        ):
            wait_for(lambda: completed(database, run_id), 120)
        assert len(provider.arrivals) == TRIALS
    chunks = ChunkStore(database).of_run(run_id)
    assert [chunk.lost_leases for chunk in chunks] == [0] * len(chunks)
    assert read_run(database, run_id).evaluations[0].scored == TRIALS


def test_answers_wait_while_the_disk_of_the_database_is_full(database: Database, tmp_path: Path, home: Path) -> None:
    if database.dialect is not POSTGRESQL:
        pytest.skip("a file that has no room ends the command: see test_disk.py")
    work = tmp_path / "work"
    with FakeProvider(latency_seconds=0.05) as provider:
        run_id = accepted_sums(database, work, home, provider)
        with database.connection() as connection:
            connection.execute(
                "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION "
                "'could not extend file: No space left on device' USING ERRCODE = 'disk_full'; END $$"
            )
            connection.execute("CREATE TRIGGER full_disk BEFORE INSERT ON responses EXECUTE FUNCTION refuse()")
        with workers(2, home, work):
            wait_for(lambda: len(provider.arrivals) >= 8, 120)
            assert read_run(database, run_id).status is RunStatus.RUNNING
            with database.connection() as connection:
                connection.execute("DROP TRIGGER full_disk ON responses")
            wait_for(lambda: completed(database, run_id), 120)
        assert len(provider.arrivals) == TRIALS, "no answer was paid for twice"
    assert read_run(database, run_id).evaluations[0].scored == TRIALS
