"""Killed at random moments, resumed, and nothing is lost or asked twice."""

from __future__ import annotations

import json
import random
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

from runs.arithmetic import answered, finish, kill, provider_process, start, stats, wait_for, write_benchmark

TRIALS = 2_000
KILLS = 20


def recorded_questions(home: Path) -> set[str]:
    """The questions whose answers are committed, read as another process would."""
    path = home / "proctor.db"
    if not path.exists():
        return set()
    with closing(sqlite3.connect(path, timeout=30)) as connection:
        if not connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'responses'").fetchone():
            return set()
        rows = connection.execute(
            "SELECT input FROM responses JOIN samples ON digest = sample_digest WHERE error IS NULL"
        )
        return {row[0] for row in rows}


def run_ids(home: Path) -> list[str]:
    path = home / "proctor.db"
    if not path.exists():
        return []
    with closing(sqlite3.connect(path, timeout=30)) as connection:
        if not connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'runs'").fetchone():
            return []
        return [row[0] for row in connection.execute("SELECT id FROM runs")]


def numbers(document: dict[str, Any]) -> dict[str, Any]:
    [evaluation] = document["evaluations"]
    kept = ("trials", "scored", "invalid", "failed", "stopped", "metrics", "categories", "usage")
    return {name: evaluation[name] for name in kept}


def test_twenty_kills_lose_nothing_and_repeat_nothing(tmp_path: Path) -> None:
    rng = random.Random(20)
    home = tmp_path / "home"
    write_benchmark(tmp_path, TRIALS)
    with provider_process("--latency-ms", "30") as url:
        model = f"openai/sums?base_url={url}/v1"
        run = ("run", "sums.yaml", "-m", model, "--concurrency", "16", "--json")
        asked_when_recorded: dict[str, int] = {}
        for number in range(KILLS):
            ids = run_ids(home)
            process = start(home, tmp_path, *(("resume", ids[0], "--json") if ids else run))
            # Some kills strike before the first request, the others after a random number of further answers.
            more = 0 if number % 5 == 0 else rng.randint(1, 110)
            goal = answered(url) + more
            wait_for(lambda goal=goal, process=process: answered(url) >= goal or process.poll() is not None)
            assert process.poll() is None, "the run ended before it could be killed"
            kill(process)
            prompts = stats(url)["prompts"]
            for question in recorded_questions(home):
                asked_when_recorded.setdefault(question, prompts[question]["asked"])
        [run_id] = run_ids(home)
        assert 0 < len(asked_when_recorded) < TRIALS
        code, out, err = finish(start(home, tmp_path, "resume", run_id, "--json"))
        assert code == 0, err
        document = json.loads(out)
        assert document["status"] == "completed"
        final = stats(url)["prompts"]
        again = {question for question, asked in asked_when_recorded.items() if final[question]["asked"] != asked}
        assert again == set(), "recorded trials were asked again"

        with closing(sqlite3.connect(home / "proctor.db")) as connection:
            rows = connection.execute("SELECT trial_id, count(*) FROM responses GROUP BY trial_id").fetchall()
            unscored = connection.execute(
                "SELECT count(*) FROM responses WHERE id NOT IN (SELECT response_id FROM scores)"
            )
            assert len(rows) == TRIALS
            assert {count for _, count in rows} == {1}
            assert unscored.fetchone()[0] == 0
            assert connection.execute("PRAGMA integrity_check").fetchone()[0] == "ok"

        code, out, err = finish(start(tmp_path / "undisturbed", tmp_path, *run))
        assert code == 0, err
        assert numbers(document) == numbers(json.loads(out))


def test_the_time_of_a_killed_execution_counts(tmp_path: Path) -> None:
    home = tmp_path / "home"
    write_benchmark(tmp_path, 4)

    def noted() -> float:
        with closing(sqlite3.connect(home / "proctor.db", timeout=30)) as connection:
            return float(connection.execute("SELECT seconds FROM runs").fetchone()[0])

    with provider_process("--latency-ms", "600000") as url:
        process = start(home, tmp_path, "run", "sums.yaml", "-m", f"openai/sums?base_url={url}/v1", "--json")
        wait_for(lambda: run_ids(home) and noted() >= 1)
        kill(process)
    before = noted()
    with provider_process("--latency-ms", "1", "--port", url.rpartition(":")[2]):
        code, out, err = finish(start(home, tmp_path, "resume", run_ids(home)[0], "--json"))
    assert code == 0, err
    assert json.loads(out)["seconds"] > before >= 1
