"""A real Prometheus scrapes a server with the shipped configuration, and workers give what they counted."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import quote
from urllib.request import urlopen

import pytest
import yaml
from prometheus_client.parser import text_string_to_metric_families

from proctor.accounts.keys import create_key
from proctor.accounts.people import invite_first_admin, set_password
from proctor.stores.database import open_database
from server.conftest import PLAN
from server.serving import Server, serving

DEPLOY = Path(__file__).parents[2] / "deploy" / "prometheus"
PLAN_OF_TWO = {**PLAN, "cache": False}


def scraped(server: Server, **headers: str) -> dict[tuple[str, ...], float]:
    answer = server.ask("GET", "/metrics", **headers)
    assert answer.status == 200, answer.body
    families = text_string_to_metric_families(answer.body.decode())
    samples = [one for family in families for one in family.samples]
    return {(one.name, *(one.labels[name] for name in sorted(one.labels))): one.value for one in samples}


def wait_for(is_so: Callable[[], bool], seconds: float = 120) -> None:
    until = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < until
        time.sleep(0.2)


def test_workers_of_a_server_count_what_the_database_says(tmp_path: Path) -> None:
    with serving(tmp_path / "home", tmp_path) as server:
        server.run(PLAN_OF_TWO)
        down = {"models": ["openai/gone?base_url=http://127.0.0.1:9/v1"], "limits": {"retries": 1}, "cache": False}
        server.run({**PLAN, **down, "benchmarks": [{"benchmark": "puzzles", "limit": 2}]})
        database = open_database(f"sqlite:///{tmp_path / 'home' / 'proctor.db'}")
        with database.connection() as connection:
            done = connection.execute("SELECT count(*) FROM chunks WHERE state = 'finished'").fetchone()[0]
        database.dispose()
        found = scraped(server)
        assert found["proctor_worker_chunk_seconds_count", "finished", "default"] == done > 0
        names = "proctor_worker_model_faults_total"
        assert sum(value for key, value in found.items() if key[0] == names and key[-1] == "openai") >= 2
        assert found["proctor_worker_database_seconds_count",] > 10
        assert found["proctor_server_database_seconds_count",] > 3
        assert found["proctor_pool_workers", "default"] >= 1
        assert found["proctor_budget_used_ratio",] == 0
        connection_, answer = server.open("GET", "/api/v1/events")
        wait_for(lambda: scraped(server)["proctor_event_stream_clients",] == 1)
        answer.close()
        connection_.close()
        wait_for(lambda: scraped(server)["proctor_event_stream_clients",] == 0)
        # What a worker counted stays when it is killed.
        [pid, *_] = [int(one["pid"]) for one in server.get("/api/v1/workers") if one["is_alive"]]
        os.kill(pid, signal.SIGKILL)
        assert scraped(server)["proctor_worker_chunk_seconds_count", "finished", "default"] == done
    assert not list((tmp_path / "home").glob("metrics-*"))


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


@pytest.mark.skipif(shutil.which("prometheus") is None, reason="no prometheus here: apt-get install prometheus")
def test_a_prometheus_scrapes_a_server_and_knows_its_alerts(tmp_path: Path) -> None:
    with serving(tmp_path / "home", tmp_path, "--accounts") as server:
        database = open_database(f"sqlite:///{tmp_path / 'home' / 'proctor.db'}")
        first = invite_first_admin(database)
        assert first is not None
        admin = set_password(database, first.token, "a marked password 7261")
        key = create_key(database, "local", ["admin:full"], by="test", user_id=admin.id).text
        database.dispose()
        run = server.ask("POST", "/api/v1/runs", PLAN_OF_TWO, Authorization=f"Bearer {key}").json["run_id"]
        wait_for(
            lambda: (
                server.ask("GET", f"/api/v1/runs/{run}", Authorization=f"Bearer {key}").json["status"] == "completed"
            )
        )
        folder = tmp_path / "prometheus"
        folder.mkdir()
        (folder / "key").write_text(key)
        config = yaml.safe_load((DEPLOY / "prometheus.yaml").read_text())
        config["global"] = {"scrape_interval": "1s", "evaluation_interval": "1s"}
        config["rule_files"] = [str(DEPLOY / "alerts.yaml")]
        [job] = [job for job in config["scrape_configs"] if job["job_name"] == "proctor"]
        job["authorization"]["credentials_file"] = str(folder / "key")
        job["static_configs"] = [{"targets": [":".join(map(str, server.place))]}]
        (folder / "prometheus.yaml").write_text(yaml.safe_dump(config))
        port = free_port()
        command = ["prometheus", "--config.file=prometheus.yaml", f"--storage.tsdb.path={folder / 'data'}",
                   f"--web.listen-address=127.0.0.1:{port}"]  # fmt: skip
        log = (folder / "log").open("wb")
        process = subprocess.Popen(command, cwd=folder, stdout=log, stderr=log)
        try:

            def ask(path: str) -> Any:
                try:
                    with urlopen(f"http://127.0.0.1:{port}/api/v1/{path}", timeout=30) as answer:
                        return json.load(answer)["data"]
                except OSError:
                    assert process.poll() is None, (folder / "log").read_text()
                    return None

            def value(query: str) -> float | None:
                found = ask(f"query?query={quote(query)}")
                return float(found["result"][0]["value"][1]) if found and found["result"] else None

            wait_for(lambda: value('up{job="proctor"}') == 1)
            wait_for(lambda: value('proctor_runs{status="completed"}') == 1)
            assert value("sum(proctor_trials_total)") == 24
            assert value("proctor_database_up") == 1
            rules = ask("rules")["groups"][0]["rules"]
            assert len(rules) == len(yaml.safe_load((DEPLOY / "alerts.yaml").read_text())["groups"][0]["rules"])
            wait_for(lambda: all(rule["health"] == "ok" for rule in ask("rules")["groups"][0]["rules"]))
        finally:
            process.terminate()
            process.wait(60)
            log.close()
