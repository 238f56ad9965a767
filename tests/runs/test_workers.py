"""Worker processes carry a run out as a command of its own would, whatever happens to them."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import time
from contextlib import closing
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from commands import Cli
from fakes.provider import FakeProvider
from proctor.domain.run import RunStatus
from proctor.runs.chunks.accept import requeue
from proctor.runs.chunks.prepare import prepare
from proctor.runs.chunks.waiting import waiting_for
from proctor.runs.read import read_run
from proctor.stores.chunks import ChunkStore
from proctor.stores.database import Database
from proctor.stores.events import events_after
from proctor.stores.runs import RANDOM_ORDER, RunStore
from proctor.stores.sqlite import SqliteDatabase
from proctor.stores.workers import WorkerStore
from proctor.worker.processes import WorkerProcesses
from runs.arithmetic import provider_process, stats, wait_for, write_benchmark
from runs.rebuilt import rebuilt_state, stored_state
from runs.workers import accepted, here, workers

ENDED = (RunStatus.COMPLETED, RunStatus.FAILED, RunStatus.CANCELLED)


def wait_for_end(database: Database, run_id: str, seconds: float = 120) -> RunStatus:
    wait_for(lambda: RunStore(database).get(run_id).status in ENDED, seconds)
    wait_for(lambda: RunStore(database).get(run_id).finished_at is not None, seconds)
    return RunStore(database).get(run_id).status


def trial_ids(database: Database, run_id: str) -> list[str]:
    with database.connection() as connection:
        rows = connection.execute(
            "SELECT trial_id FROM responses JOIN evaluations ON evaluations.id = evaluation_id WHERE run_id = ?",
            [run_id],
        ).fetchall()
    return sorted(row[0] for row in rows)


def numbers(evaluation: dict[str, Any]) -> dict[str, Any]:
    return {name: evaluation[name] for name in ("model", "benchmark", "trials", "scored", "invalid", "metrics")}


def test_two_workers_give_what_one_command_gives(cli: Cli, database: Database, tmp_path: Path, home: Path) -> None:
    work = tmp_path / "work"
    write_benchmark(work, 300)
    with provider_process("--latency-ms", "10") as url:
        model = f"openai/sums?base_url={url}/v1"
        alone = cli("run", "sums.yaml", "-m", model, "--limit", "250", "--epochs", "2", "--no-cache", "--json").json
        run_id = accepted(
            database,
            work,
            home,
            models=[model],
            benchmarks=[{"benchmark": "sums.yaml", "limit": 250}],
            epochs=2,
            cache=False,
        )
        with workers(2, home, work):
            assert wait_for_end(database, run_id) is RunStatus.COMPLETED
    together = json.loads(json.dumps(read_run(database, run_id).document))
    assert [numbers(one) for one in together["evaluations"]] == [numbers(one) for one in alone["evaluations"]]
    assert trial_ids(database, run_id) == trial_ids(database, alone["run_id"])
    assert len(trial_ids(database, run_id)) == 500
    kinds = [event.kind for event in events_after(database, run_id) if event.kind != RANDOM_ORDER]
    assert (kinds[:3], kinds[-1]) == (["accepted", "prepared", "started"], "finished")


def questions_again(url: str, recorded: set[str], asked_when_recorded: dict[str, int]) -> set[str]:
    final = stats(url)["prompts"]
    return {question for question in recorded if final[question]["asked"] != asked_when_recorded[question]}


def recorded_inputs(database: Database) -> set[str]:
    with database.connection() as connection:
        rows = connection.execute("SELECT input FROM responses JOIN samples ON digest = sample_digest")
        return {row[0] for row in rows}


def test_workers_that_are_killed_or_stand_still_lose_nothing_and_repeat_nothing(
    database: Database, tmp_path: Path, home: Path
) -> None:
    work, trials = tmp_path / "work", 400
    write_benchmark(work, trials)
    with provider_process("--latency-ms", "60") as url:
        with workers(2, home, work) as started:
            frozen, killed = started
            wait_for(lambda: WorkerStore(database).alive() == 2)
            run_id = accepted(
                database,
                work,
                home,
                models=[f"openai/sums?base_url={url}/v1"],
                benchmarks=["sums.yaml"],
                cache=False,
                limits={"concurrency": 8},
            )
            wait_for(lambda: len(recorded_inputs(database)) > 30)
            stop_with_a_chunk(frozen, database)
            stop_with_a_chunk(killed, database)
            killed.kill()
            killed.communicate()
            before = stats(url)["prompts"]
            recorded = recorded_inputs(database)
            with workers(1, home, work):
                # By now the lease of the one that stands still has run out, and its chunk is another's.
                wait_for(lambda: lost_chunks(database, run_id) >= 2, 180)
                frozen.send_signal(signal.SIGCONT)
                assert wait_for_end(database, run_id) is RunStatus.COMPLETED
            asked = {question: before[question]["asked"] for question in recorded}
            assert questions_again(url, recorded, asked) == set()
        asked_in_all = stats(url)["asked"]
    assert trial_ids(database, run_id) == sorted(set(trial_ids(database, run_id)))
    assert len(trial_ids(database, run_id)) == trials
    assert asked_in_all - trials <= 8 + 8 + 16, "only what was in flight, or not yet committed, is asked again"
    [evaluation] = read_run(database, run_id).evaluations
    assert (evaluation.scored, evaluation.failed) == (trials, 0)
    assert rebuilt_state(database, run_id) == stored_state(database, run_id)


def stop_with_a_chunk(worker: subprocess.Popen[bytes], database: Database) -> None:
    """Make it stand still while a chunk is leased to it, which it may not have yet, or not any more."""
    until = time.monotonic() + 60
    while time.monotonic() < until:
        worker.send_signal(signal.SIGSTOP)
        os.waitid(os.P_PID, worker.pid, os.WSTOPPED | os.WNOWAIT)
        with database.connection() as connection:
            rows = connection.execute("SELECT lease_owner FROM chunks WHERE state = 'leased'").fetchall()
        if worker.pid in [int(row[0].split(":")[1]) for row in rows] and is_writable(database):
            return
        worker.send_signal(signal.SIGCONT)
        time.sleep(0.05)
    raise TimeoutError(f"worker {worker.pid} was never seen with a chunk")


def is_writable(database: Database) -> bool:
    """Whether nobody stands still inside a write: a file waits for that process, and a server ends its session."""
    if not isinstance(database, SqliteDatabase):
        return True
    with closing(sqlite3.connect(database.path, timeout=0.5, isolation_level=None)) as connection:
        try:
            connection.execute("BEGIN IMMEDIATE")
        except sqlite3.OperationalError:
            return False
        connection.execute("ROLLBACK")
    return True


def lost_chunks(database: Database, run_id: str) -> int:
    return sum(chunk.lost_leases for chunk in ChunkStore(database).of_run(run_id))


@pytest.mark.sqlite
def test_a_cancel_is_heard_by_every_worker(database: Database, tmp_path: Path, home: Path, cli: Cli) -> None:
    work = tmp_path / "work"
    write_benchmark(work, 400)
    with provider_process("--latency-ms", "100") as url:
        model = f"openai/sums?base_url={url}/v1"
        run_id = accepted(
            database, work, home, models=[model], benchmarks=["sums.yaml"], cache=False, limits={"concurrency": 4}
        )
        with workers(2, home, work):
            wait_for(lambda: len(recorded_inputs(database)) > 40)
            assert cli("cancel", run_id).code == 0
            assert wait_for_end(database, run_id) is RunStatus.CANCELLED
            asked = stats(url)["asked"]
            assert asked < 400
            assert [event.kind for event in events_after(database, run_id)][-1] == "cancelled"
            assert rebuilt_state(database, run_id) == stored_state(database, run_id)
            # What was left is finished by the same workers, and only that is asked.
            requeue(run_id, database)
            assert wait_for_end(database, run_id) is RunStatus.COMPLETED
        assert stats(url)["asked"] == 400
    assert rebuilt_state(database, run_id) == stored_state(database, run_id)


@pytest.mark.sqlite
def test_a_run_stops_when_its_rule_is_met_and_its_files_may_be_gone(
    database: Database, tmp_path: Path, home: Path
) -> None:
    """The workers never see the folder that the plan was handed in from."""
    laptop = tmp_path / "laptop"
    laptop.mkdir()
    write_benchmark(laptop, 400)
    with provider_process("--latency-ms", "5") as url:
        model = f"openai/sums?base_url={url}/v1"
        run_id = accepted(database, laptop, home, models=[model], benchmarks=["sums.yaml"], cache=False, until="ci<0.2")
        shutil.rmtree(laptop)
        assert waiting_for(database, run_id) is None, "a worker may just be starting"
        with workers(2, home, tmp_path):
            assert wait_for_end(database, run_id) is RunStatus.COMPLETED, RunStore(database).get(run_id).error
        assert 0 < stats(url)["asked"] < 400
    document = read_run(database, run_id)
    assert document.until is not None
    assert [one.met for one in document.until] == [True]
    assert rebuilt_state(database, run_id) == stored_state(database, run_id)


@pytest.mark.sqlite
def test_limits_of_cost_and_time_hold_over_workers(database: Database, tmp_path: Path, home: Path) -> None:
    work = tmp_path / "work"
    write_benchmark(work, 300)
    with provider_process("--latency-ms", "5") as url:
        run_id = accepted(
            database,
            work,
            home,
            models=[{"model": f"openai/sums?base_url={url}/v1", "max_tokens": 20}],
            benchmarks=["sums.yaml"],
            cache=False,
            limits={"cost_usd": 0.05, "assume_price": "1/30", "concurrency": 8},
        )
        slow = accepted(
            database,
            work,
            home,
            models=[{"model": f"openai/sums?base_url={url}/v1", "temperature": 1}],
            benchmarks=["sums.yaml"],
            cache=False,
            limits={"minutes": 0.02, "requests_per_minute": 60},
        )
        with workers(2, home, work):
            assert wait_for_end(database, slow) is RunStatus.CANCELLED
            assert RunStore(database).get(slow).error == "the time limit of 0.02 minutes was reached"
            assert wait_for_end(database, run_id) is RunStatus.CANCELLED
    run = RunStore(database).get(run_id)
    assert run.error is not None
    assert run.error.startswith("the cost limit of $0.05")
    assert 0 < RunStore(database).spent_usd(run_id) + run.unanswered_usd <= Decimal("0.05")
    assert run.unanswered_usd == 0


@pytest.mark.sqlite
def test_a_trial_that_ends_its_workers_fails_and_its_run_goes_on(
    database: Database, tmp_path: Path, home: Path, cli: Cli
) -> None:
    work = tmp_path / "work"
    write_benchmark(work, 40)
    (work / "deadly.py").write_text(
        "import os\ndef answer(text):\n    if 'What is 23 +' in text:\n        os._exit(9)\n    return 'ANSWER: 1'\n"
    )
    run_id = accepted(database, work, home, models=["python/deadly:answer"], benchmarks=["sums.yaml"], cache=False)
    refused = cli("resume", run_id)
    assert (refused.code, "is carried out by workers" in refused.error) == (1, True)
    with FakeProvider(latency_seconds=0.02) as provider:
        # Beside it, of a model that is asked one thing at a time: one of the processes has all of that.
        in_turn = accepted(
            database,
            work,
            home,
            models=[f"openai/sums?base_url={provider.url}/v1"],
            benchmarks=["sums.yaml"],
            cache=False,
            limits={"concurrency": 1},
        )
        environment = {**os.environ, "PROCTOR_HOME": str(home), "TMPDIR": str(work)}
        processes = WorkerProcesses(2, environment=environment, folder=work)
        processes.start()
        try:
            assert wait_for_end(database, run_id) is RunStatus.COMPLETED
            assert wait_for_end(database, in_turn) is RunStatus.COMPLETED
        finally:
            processes.close()
        assert (provider.most_in_flight, len(provider.arrivals)) == (1, 40)
    assert processes.pids == []
    [evaluation] = read_run(database, run_id).evaluations
    assert (evaluation.trials, evaluation.scored + evaluation.invalid, evaluation.failed) == (40, 39, 1)
    failed = cli("samples", run_id, "--outcome", "failed", "--json").json
    assert "workers in a row were lost while they worked on this trial" in json.dumps(failed)
    assert rebuilt_state(database, run_id) == stored_state(database, run_id)


@pytest.mark.sqlite
def test_an_answer_that_ends_whoever_scores_it_counts_as_wrong(
    database: Database, tmp_path: Path, home: Path, cli: Cli
) -> None:
    """And one sample ends workers whatever is answered: that is no answer's doing."""
    work = tmp_path / "work"
    rows = [{"id": f"s{n}", "input": f"question {n}", "target": "yes"} for n in range(8)]
    (work / "rows.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    (work / "deadly_scorer.py").write_text(
        "import os\ndef marks(sample, response):\n"
        "    if response.text == 'die' or sample.id == 's5':\n        os._exit(9)\n"
        "    return response.text == sample.target\n"
    )
    (work / "dying.py").write_text("def answer(text):\n    return 'die' if '2' in text else 'yes'\n")
    (work / "mine.yaml").write_text(
        "name: mine\ndataset: {source: rows.jsonl}\nscorers: ['python://deadly_scorer:marks']\n"
    )
    run_id = accepted(database, work, home, models=["python/dying:answer"], benchmarks=["mine.yaml"], cache=False)
    environment = {**os.environ, "PROCTOR_HOME": str(home), "TMPDIR": str(work)}
    processes = WorkerProcesses(2, environment=environment, folder=work)
    processes.start()
    try:
        assert wait_for_end(database, run_id) is RunStatus.COMPLETED
    finally:
        processes.close()
    [evaluation] = read_run(database, run_id).evaluations
    assert (evaluation.scored, evaluation.invalid, evaluation.failed) == (6, 1, 1)
    assert evaluation.metrics["accuracy"].value == pytest.approx(6 / 7)
    rows = cli("export", run_id, "-f", "jsonl").out.splitlines()
    reasons = {json.loads(row)["sample_id"]: row for row in rows}
    assert "this answer cannot be scored, the target can: 3 workers in a row were lost" in reasons["s2"]
    assert "4 workers in a row were lost while they worked on this trial, in scoring" in reasons["s5"]


@pytest.mark.sqlite
def test_a_run_that_cannot_be_prepared_fails_with_what_the_command_line_says(
    database: Database, tmp_path: Path, home: Path, cli: Cli
) -> None:
    work = tmp_path / "work"
    said = cli("run", "no-such-benchmark", "-m", "demo/strong").error
    run_id = accepted(database, work, home, models=["demo/strong"], benchmarks=["no-such-benchmark"])
    asyncio.run(prepare(run_id, here(work, home), database))
    run = RunStore(database).get(run_id)
    assert run.status is RunStatus.FAILED
    assert run.error is not None
    assert run.error in said
    assert [event.kind for event in events_after(database, run_id)] == ["accepted", "failed"]
    assert asyncio.run(prepare(run_id, here(work, home), database)) is False
    for command in ("show", "runs", "samples", "cancel", "resume"):
        ended = cli(command, *([] if command == "runs" else [run_id]))
        assert "Traceback" not in ended.err
        assert ended.code == {"cancel": 1, "resume": 2}.get(command, ended.code)
