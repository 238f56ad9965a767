"""Logs: every line parses, one id leads from the request to the provider's call, and no secret is in them."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import orjson
import pytest
import yaml

from proctor.accounts.keys import create_key
from proctor.domain.errors import UserError
from proctor.stores.database import open_database
from proctor.telemetry.log_writer import remove_old_logs
from proctor.telemetry.logs import Redaction, read_levels
from server.conftest import PLAN
from server.serving import serving

SHIPPING = Path(__file__).parents[2] / "deploy" / "logging"
CANARY = "canary-7f3b2d91aa0c"
SAMPLE = 5
ALWAYS = {"timestamp", "level", "logger", "event", "service", "pid"}


@dataclass
class Logged:
    run_id: str
    key: str
    lines: list[dict[str, Any]]
    text: str

    def of(self, event: str) -> list[dict[str, Any]]:
        return [line for line in self.lines if line["event"] == event]


@pytest.fixture(scope="module")
def logged(tmp_path_factory: pytest.TempPathFactory) -> Logged:
    """What a server and its workers wrote while a run was handed in, executed and read."""
    folder: Path = tmp_path_factory.mktemp("logged")
    said = {"PROCTOR_LOG_FOLDER": str(folder / "logs"), "PROCTOR_LOG_LEVEL": "info,proctor.models=debug"}
    said |= {"PROCTOR_LOG_SAMPLE": str(SAMPLE), "OPENAI_API_KEY": CANARY}
    with serving(folder / "home", folder, "--accounts", **said) as server:
        database = open_database(f"sqlite:///{folder / 'home' / 'proctor.db'}")
        key = create_key(database, "local", ["run:read", "run:write", "results:read"], by="test").text
        database.dispose()
        sent = {"Authorization": f"Bearer {key}"}
        plan = {**PLAN, "name": "a marked body", "models": ["demo/strong"]}
        answer = server.ask("POST", "/api/v1/runs", plan, X_Request_ID="journey-1", **sent)
        assert answer.status == 202, answer.body
        assert answer.headers["x-request-id"] == "journey-1"
        run_id = answer.json["run_id"]
        until = time.monotonic() + 120
        while server.ask("GET", f"/api/v1/runs/{run_id}", **sent).json["status"] in ("queued", "running"):
            assert time.monotonic() < until
            time.sleep(0.1)
        assert server.ask("GET", "/api/v1/runs?text=marked-query", **sent).status == 200
        for _ in range(2 * SAMPLE):
            server.ask("GET", "/health")
        server.ask("GET", "/api/v1/runs", Authorization="Bearer pk_marked_wrong_key_123")
    text = "".join(path.read_text() for path in sorted((folder / "logs").iterdir()))
    return Logged(run_id, key, [json.loads(line) for line in text.splitlines()], text)


def test_every_line_is_an_object_that_says_when_where_and_what(logged: Logged) -> None:
    assert len(logged.lines) > 10
    for line in logged.lines:
        assert set(line) >= ALWAYS, line
        assert datetime.fromisoformat(line["timestamp"]).tzinfo is not None
    assert max(len(line) for line in logged.text.splitlines()) < 4_096
    assert {line["service"] for line in logged.lines} == {"server", "worker"}


def test_one_id_leads_from_the_request_to_the_call_of_the_provider(logged: Logged) -> None:
    mine = [line for line in logged.lines if line.get("request_id") == "journey-1"]
    assert [line["status"] for line in mine if line["event"] == "request"][-1] == 202
    for event in ("run_prepared", "chunk_ended", "run_ended", "model_answered"):
        found = logged.of(event)
        assert found, event
        assert {(line["request_id"], line["run_id"]) for line in found} == {("journey-1", logged.run_id)}
    assert {line["service"] for line in mine} == {"server", "worker"}


def test_requests_are_logged_with_who_and_how_long_and_without_what_was_sent(logged: Logged) -> None:
    [accepted] = [line for line in logged.of("request") if line["method"] == "POST" and line["status"] == 202]
    assert (accepted["path"], accepted["route"], accepted["project"]) == ("/api/v1/runs", "/api/v1/runs", "local")
    assert accepted["user"].startswith("key ")
    assert accepted["duration_ms"] > 0
    refused = [line for line in logged.of("request") if line["status"] == 401]
    assert refused
    assert refused[0]["user"] is None
    for secret in (logged.key, CANARY, "marked_wrong_key", "a marked body", "marked-query", "Bearer"):
        assert secret not in logged.text


def test_what_is_asked_again_and_again_is_sampled(logged: Logged) -> None:
    health = [line for line in logged.of("request") if line["path"] == "/health"]
    assert len(health) == 2
    assert {line["sampled"] for line in health} == {SAMPLE}


def test_the_shipped_configuration_reads_these_lines(logged: Logged) -> None:
    keys = set().union(*logged.lines)
    vector = yaml.safe_load((SHIPPING / "vector.yaml").read_text())
    names = {*vector["sources"], *vector["transforms"]}
    for part in (*vector["transforms"].values(), *vector["sinks"].values()):
        assert set(part["inputs"]) <= names
    labels = vector["sinks"]["loki"]["labels"]
    templated = {value.strip("{} ") for value in labels.values() if "{{" in value}
    assert templated <= ALWAYS
    assert not templated & {"request_id", "run_id", "user", "path", "pid"}  # each value would be a stream of its own
    assert 'parse_timestamp!(line.timestamp, "%+")' in vector["transforms"]["proctor_lines"]["source"]
    requests = json.loads((SHIPPING / "elasticsearch.json").read_text())
    template = requests["PUT _index_template/proctor-logs"]["template"]
    known = template["mappings"]["properties"]
    assert keys - {"exception"} <= set(known)
    assert template["settings"]["index.lifecycle.name"] == "proctor-logs"
    for line in logged.lines:
        for name, value in line.items():
            kind = known[name]["type"]
            assert value is None or kind not in ("integer", "float") or isinstance(value, int | float), (name, value)
    loki = yaml.safe_load((SHIPPING / "loki.yaml").read_text())
    assert loki["compactor"]["retention_enabled"] is True
    assert loki["limits_config"]["retention_period"] == "720h"
    assert requests["PUT _ilm/policy/proctor-logs"]["policy"]["phases"]["delete"]["min_age"] == "30d"


def test_the_link_of_the_first_administrator_is_shown_and_in_no_file(tmp_path: Path) -> None:
    with serving(tmp_path / "home", tmp_path, "--accounts", PROCTOR_LOG_FOLDER=str(tmp_path / "logs")) as server:
        assert server.get("/health")
    kept = "".join(path.read_text() for path in (tmp_path / "logs").rglob("*") if path.is_file())
    assert "sets a password at" in kept
    assert "/welcome#" in "".join(server.said)
    assert "/welcome#" not in kept


def test_files_of_days_that_are_over_go_and_nothing_else(tmp_path: Path) -> None:
    today = datetime.now(UTC).date()
    for days in (0, 3, 4, 40):
        (tmp_path / f"proctor-{today - timedelta(days=days)}.jsonl").write_text("{}\n")
    for name in ("proctor-notes.jsonl", "proctor-2001-99-99.jsonl", "other-2001-01-01.jsonl"):
        (tmp_path / name).write_text("")
    gone = [path.name for path in remove_old_logs(tmp_path, 3)]
    assert gone == [f"proctor-{today - timedelta(days=days)}.jsonl" for days in (40, 4)]
    assert len(list(tmp_path.iterdir())) == 5


def test_a_server_whose_lines_nobody_reads_goes_on_serving(tmp_path: Path) -> None:
    """A pipe holds 64 KiB; these lines are several times that."""
    with serving(tmp_path / "home", tmp_path, PROCTOR_LOG_FORMAT="json") as server:
        path = "/api/v1/" + "x" * 900
        for _ in range(200):
            assert server.ask("GET", path).status == 404


def test_on_a_terminal_lines_are_for_people(tmp_path: Path) -> None:
    with serving(tmp_path / "home", tmp_path, PROCTOR_LOG_FORMAT="text") as server:
        server.ask("GET", "/api/v1/version")
        assert server.process.stderr is not None
        line = server.process.stderr.readline()
    assert "request" in line
    assert "path=/api/v1/version" in line
    with pytest.raises(orjson.JSONDecodeError):
        orjson.loads(line)


def test_levels_are_read_by_module_and_mistakes_are_named() -> None:
    assert read_levels("warning,proctor.worker=debug") == {"proctor": "warning", "proctor.worker": "debug"}
    with pytest.raises(UserError, match=r"'inof' is no level\. Did you mean 'info'"):
        read_levels("inof")


def test_secrets_are_masked_by_name_by_form_and_by_value() -> None:
    redact = Redaction({"MY_TOKEN": CANARY, "SHORT_KEY": "abc"})
    event = {"event": f"called with {CANARY}", "password": "p", "url": "postgresql://me:hidden@db/x", "n": 3,
             "text": "Authorization: Bearer abc.def and sk-proj-abcdefgh1234 abc"}  # fmt: skip
    found = redact(None, "", event)
    assert found["event"] == "called with ***"
    assert (found["password"], found["n"]) == ("***", 3)
    assert found["url"] == "postgresql://***@db/x"
    assert found["text"] == "Authorization: Bearer *** and *** abc"
