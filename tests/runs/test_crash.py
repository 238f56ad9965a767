"""Killed at random moments, resumed, and nothing is lost or asked twice."""

from __future__ import annotations

import json
import random
import signal
from pathlib import Path
from typing import Any

from proctor.stores.database import Database
from runs.arithmetic import answered, finish, kill, provider_process, start, stats, wait_for, write_benchmark

TRIALS = 2_000
KILLS = {"sqlite": 20, "postgresql": 10}


def recorded_questions(database: Database) -> set[str]:
    """The questions whose answers are committed, read as another process would."""
    with database.connection() as connection:
        rows = connection.execute(
            "SELECT input FROM responses JOIN samples ON digest = sample_digest WHERE error IS NULL"
        )
        return {row[0] for row in rows}


def run_ids(database: Database) -> list[str]:
    with database.connection() as connection:
        return [row[0] for row in connection.execute("SELECT id FROM runs")]


def numbers(document: dict[str, Any]) -> dict[str, Any]:
    [evaluation] = document["evaluations"]
    kept = ("trials", "scored", "invalid", "failed", "stopped", "metrics", "categories", "usage")
    return {name: evaluation[name] for name in kept}


def test_ten_or_twenty_kills_lose_nothing_and_repeat_nothing(
    database: Database, database_engine: str, tmp_path: Path
) -> None:
    rng = random.Random(20)
    home = tmp_path / "home"
    write_benchmark(tmp_path, TRIALS)
    with provider_process("--latency-ms", "30") as url:
        model = f"openai/sums?base_url={url}/v1"
        run = ("run", "sums.yaml", "-m", model, "--concurrency", "16", "--json")
        asked_when_recorded: dict[str, int] = {}
        for number in range(KILLS[database_engine]):
            ids = run_ids(database)
            process = start(home, tmp_path, *(("resume", ids[0], "--json") if ids else run))
            # Some kills strike before the first request, the others after a random number of further answers.
            more = 0 if number % 5 == 0 else rng.randint(1, 110)
            goal = answered(url) + more
            wait_for(lambda goal=goal, process=process: answered(url) >= goal or process.poll() is not None)
            assert process.poll() is None, "the run ended before it could be killed"
            kill(process)
            prompts = stats(url)["prompts"]
            for question in recorded_questions(database):
                asked_when_recorded.setdefault(question, prompts[question]["asked"])
        [run_id] = run_ids(database)
        assert 0 < len(asked_when_recorded) < TRIALS
        code, out, err = finish(start(home, tmp_path, "resume", run_id, "--json"))
        assert code == 0, err
        document = json.loads(out)
        assert document["status"] == "completed"
        final = stats(url)["prompts"]
        again = {question for question, asked in asked_when_recorded.items() if final[question]["asked"] != asked}
        assert again == set(), "recorded trials were asked again"

        with database.connection() as connection:
            rows = connection.execute("SELECT trial_id, count(*) FROM responses GROUP BY trial_id").fetchall()
            unscored = connection.execute(
                "SELECT count(*) FROM responses WHERE id NOT IN (SELECT response_id FROM scores)"
            )
            assert len(rows) == TRIALS
            assert {count for _, count in rows} == {1}
            assert unscored.fetchone()[0] == 0
        assert database.check() is None

        code, out, err = finish(start(tmp_path / "undisturbed", tmp_path, *run, "--no-cache"))
        assert code == 0, err
        assert numbers(document) == numbers(json.loads(out))


def test_the_time_of_a_killed_execution_counts(database: Database, tmp_path: Path) -> None:
    home = tmp_path / "home"
    write_benchmark(tmp_path, 4)

    def noted() -> float:
        with database.connection() as connection:
            return float(connection.execute("SELECT seconds FROM runs").fetchone()[0])

    with provider_process("--latency-ms", "600000") as url:
        process = start(home, tmp_path, "run", "sums.yaml", "-m", f"openai/sums?base_url={url}/v1", "--json")
        wait_for(lambda: run_ids(database) and noted() >= 1)
        kill(process)
    before = noted()
    with provider_process("--latency-ms", "1", "--port", url.rpartition(":")[2]):
        code, out, err = finish(start(home, tmp_path, "resume", run_ids(database)[0], "--json"))
    assert code == 0, err
    assert json.loads(out)["seconds"] > before >= 1


def test_a_process_that_lost_its_run_writes_nothing_and_says_so_in_one_line(database: Database, tmp_path: Path) -> None:
    """The first is stopped while the second takes over, and then goes on as if nothing had been."""
    home = tmp_path / "home"
    write_benchmark(tmp_path, 400)
    with provider_process("--latency-ms", "50") as url:
        model = f"openai/sums?base_url={url}/v1"
        first = start(home, tmp_path, "run", "sums.yaml", "-m", model, "--concurrency", "8", "--json")
        wait_for(lambda: len(recorded_questions(database)) > 20 or first.poll() is not None)
        first.send_signal(signal.SIGSTOP)
        [run_id] = run_ids(database)
        refused = finish(start(home, tmp_path, "resume", run_id))
        assert refused[0] == 1
        assert "is being executed by another process" in refused[2]
        with database.connection() as connection:  # as if its lease had run out meanwhile
            connection.execute("UPDATE runs SET lease_until = 0")
        second = start(home, tmp_path, "resume", run_id, "--json")
        wait_for(lambda: fence(database) == 2 or second.poll() is not None)
        first.send_signal(signal.SIGCONT)
        code, _, err = finish(first)
        assert (code, err.splitlines()[-1]) == (
            1,
            f"Error: Run {run_id} was taken over by another process; this one stopped and wrote nothing more.",
        )
        assert "Traceback" not in err
        code, out, err = finish(second)
        assert code == 0, err
        document = json.loads(out)
        assert (document["status"], document["evaluations"][0]["scored"]) == ("completed", 400)
    with database.connection() as connection:
        rows = connection.execute("SELECT trial_id, count(*) FROM responses GROUP BY trial_id").fetchall()
    assert (len(rows), {row[1] for row in rows}) == (400, {1})


def fence(database: Database) -> int:
    with database.connection() as connection:
        return int(connection.execute("SELECT fence FROM runs").fetchone()[0])
