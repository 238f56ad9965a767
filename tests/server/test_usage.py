"""Usage over the API: by user and key, of one project or of all, the same as the command line says."""

from __future__ import annotations

import json
from pathlib import Path

from proctor.accounts.keys import create_key
from proctor.accounts.projects import add_project
from proctor.stores.database import open_database
from server.conftest import PLAN
from server.serving import Server, serving
from server.test_scraping import wait_for

USAGE = "/api/v1/usage"


def finish(server: Server, **headers: str) -> dict[str, object]:
    run = server.ask("POST", "/api/v1/runs", PLAN, **headers).json["run_id"]
    wait_for(lambda: server.ask("GET", f"/api/v1/runs/{run}", **headers).json["status"] == "completed")
    return dict(server.ask("GET", f"/api/v1/runs/{run}", **headers).json)


def test_each_project_and_key_is_told_its_own(tmp_path: Path) -> None:
    prices = {"PROCTOR_WORKER_HOUR_USD": "3600", "PROCTOR_STORAGE_GB_MONTH_USD": "0.02"}
    with serving(tmp_path / "home", tmp_path, "--accounts", **prices) as server:
        database = open_database(f"sqlite:///{tmp_path / 'home' / 'proctor.db'}")
        sent, keys = {}, {}
        for project in ("acme", "other"):
            add_project(database, project, by="test")
            made = create_key(database, project, ["run:read", "run:write", "results:read"], by="test")
            sent[project], keys[project] = {"Authorization": f"Bearer {made.text}"}, made.row.id
        database.dispose()
        run = finish(server, **sent["acme"])
        report = server.ask("GET", f"{USAGE}?by=user&by=project", **sent["acme"]).json
        [item] = report["items"]
        assert (item["user"], item["project"], item["day"]) == (f"key {keys['acme']}", "acme", None)
        evaluations = run["evaluations"]
        assert isinstance(evaluations, list)
        assert item["answers"] == sum(one["scored"] + one["invalid"] for one in evaluations) == 24
        assert item["input_tokens"] == sum(one["usage"]["input_tokens"] for one in evaluations)
        assert item["worker_seconds"] > 0
        assert item["workers_usd"] == item["worker_seconds"]
        assert report["storage"][0]["bytes"] > 0
        assert server.ask("GET", USAGE, **sent["other"]).json["items"] == []
        assert server.ask("GET", f"{USAGE}?all_projects=true", **sent["acme"]).status == 403
        assert server.ask("GET", f"{USAGE}?by=mood", **sent["acme"]).status == 422
        assert server.ask("GET", f"{USAGE}?since=2026-02-01&until=2026-01-01", **sent["acme"]).status == 422
        by_model = server.ask("GET", f"{USAGE}?by=model", **sent["acme"]).json["items"]
        assert [one["model"] for one in by_model] == ["demo/strong", "demo/weak"]
        assert {one["worker_seconds"] for one in by_model} == {None}
        code, out, _ = server.cli("usage", "--by", "user", "--by", "project", "--json")
        assert code == 0
        [same] = json.loads(out)["items"]
        assert {**same, "workers_usd": None} == {**item, "workers_usd": None}
        code, out, _ = server.cli("usage", "--by", "model")
        assert "demo/strong" in out
