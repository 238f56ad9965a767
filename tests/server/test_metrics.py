"""Metrics: the series say what the database says, and every query of alerts and dashboards names one of them."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest
import yaml
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.parser import text_string_to_metric_families

from proctor.telemetry.metrics import DatabaseCollector
from proctor.telemetry.process_metrics import ProcessMetrics
from server.serving import Server
from stores.parts import new_database

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
NAME = re.compile(r"\b(?:proctor|benchmark|process|python)_[a-z_]+\b")
Series = Mapping[tuple[str, tuple[tuple[str, str], ...]], float]


def scraped(server: Server) -> Series:
    answer = server.ask("GET", "/metrics")
    assert answer.status == 200
    assert answer.headers["content-type"].startswith("text/plain")
    families = text_string_to_metric_families(answer.body.decode())
    return {(one.name, tuple(sorted(one.labels.items()))): one.value for family in families for one in family.samples}


def value(series: Series, name: str, **labels: str) -> float:
    return series[name, tuple(sorted(labels.items()))]


def test_after_a_known_run_the_series_equal_the_database(server: Server, finished: str) -> None:
    shown = server.get(f"/api/v1/runs/{finished}")["evaluations"]
    rows = server.get("/api/v1/runs?limit=200")["items"]
    series = scraped(server)
    trials = [value for (name, _), value in series.items() if name == "proctor_trials_total"]
    everything = [one for row in rows for one in server.get(f"/api/v1/runs/{row['run_id']}")["evaluations"]]
    assert sum(trials) == sum(one["scored"] + one["invalid"] + one["failed"] for one in everything) >= 24
    assert value(series, "proctor_runs", status="completed") == sum(row["status"] == "completed" for row in rows)
    assert value(series, "proctor_answers_total", provider="demo", result="answered") == sum(
        one["scored"] + one["invalid"] - one["cached"] for one in everything
    )
    for kind in ("input", "output"):
        tokens = [(one["usage"][f"{kind}_tokens"] or 0, one["cached"]) for one in everything]
        asked = value(series, "proctor_tokens_total", provider="demo", kind=kind)
        # An answer that a run lent to another one was paid once.
        assert sum(count for count, cached in tokens if not cached) <= asked <= sum(count for count, _ in tokens)
    count = value(series, "proctor_provider_latency_seconds_count", provider="demo")
    assert count == value(series, "proctor_provider_latency_seconds_bucket", provider="demo", le="+Inf") > 0
    assert value(series, "proctor_database_up") == 1
    assert len(shown) == 2


def test_requests_are_counted_by_declared_route_and_nothing_a_caller_sends_is_a_label(
    server: Server, finished: str
) -> None:
    before = scraped(server)
    for _ in range(3):
        server.get(f"/api/v1/runs/{finished}")
    server.ask("GET", "/api/v1/runs/no-such-run-canary")
    server.ask("CANARY", "/canary-path")
    after = scraped(server)
    labels = {"method": "GET", "route": "/api/v1/runs/{run_id}"}
    name = ("benchmark_requests_total", tuple(sorted({**labels, "status": "200"}.items())))
    assert after[name] - before.get(name, 0.0) == 3
    assert value(after, "benchmark_requests_total", **labels, status="404") >= 1
    assert value(after, "benchmark_response_time_seconds_count", **labels) >= 4
    assert not [key for key in after if "canary" in str(key).lower() or finished in str(key)]


def declared_by_workers() -> CollectorRegistry:
    """What they count is given once it has a value: here are the names."""
    registry = CollectorRegistry()
    ProcessMetrics(registry, "proctor_worker")
    return registry


def exported(server: Server) -> set[str]:
    """Every name that a query may use, whether it has a value by now or not."""
    text = server.ask("GET", "/metrics").body.decode()
    names: set[str] = set()
    for line in text.splitlines():
        if line.startswith("# TYPE "):
            _, _, name, kind = line.split()
            suffixes = {"histogram": ("_bucket", "_count", "_sum")}.get(kind, ("",))
            names |= {f"{name}{suffix}" for suffix in suffixes}
    for line in generate_latest(declared_by_workers()).decode().splitlines():
        if line.startswith("# TYPE "):
            _, _, name, kind = line.split()
            names |= {f"{name}{suffix}" for suffix in ("_bucket", "_count", "_sum")} if kind == "histogram" else {name}
    names.add("proctor_certificate_expiry_timestamp_seconds")  # where there is a certificate
    names |= {"proctor_wal_files_waiting", "proctor_wal_archived_timestamp_seconds"}  # where PostgreSQL archives
    return names | {"proctor_backup_timestamp_seconds"}  # where there is a backup


def test_every_query_of_alerts_and_dashboards_names_a_metric_that_is_exported(server: Server, finished: str) -> None:
    assert finished
    known = exported(server)
    queries = {
        rule["alert"]: rule["expr"]
        for group in yaml.safe_load((DEPLOY / "prometheus/alerts.yaml").read_text())["groups"]
        for rule in group["rules"]
    }
    queries |= dashboard_queries()
    assert len(queries) > 30
    for where, query in queries.items():
        names = set(NAME.findall(query))
        assert names or "up{" in query, where
        assert names <= known, where


def dashboard_queries() -> dict[str, str]:
    found: dict[str, str] = {}
    for path in sorted((DEPLOY / "grafana").glob("*.json")):
        for panel in json.loads(path.read_text())["panels"]:
            found |= {f"{path.stem}: {panel['title']}": target["expr"] for target in panel["targets"]}
    return found


def names_counted_in_the_database(home: Path) -> set[str]:
    """Of counters and histograms, which fall when runs are removed."""
    database = new_database(home)
    families = list(DatabaseCollector(database, home, lambda: None).collect())
    database.dispose()
    suffixes = {"counter": ("_total",), "histogram": ("_bucket", "_count", "_sum")}
    names = {f"{one.name}{suffix}" for one in families for suffix in suffixes.get(one.type, ())}
    return names - {"proctor_log_lines_dropped_total"}  # the process's own


def test_what_falls_when_runs_are_removed_is_not_read_as_a_restart(home: Path) -> None:
    falling = names_counted_in_the_database(home)
    assert {"proctor_answers_total", "proctor_cost_usd_total", "proctor_lost_leases_total"} <= falling
    alerts = yaml.safe_load((DEPLOY / "prometheus/alerts.yaml").read_text())["groups"][0]["rules"]
    for where, query in (dashboard_queries() | {rule["alert"]: rule["expr"] for rule in alerts}).items():
        restarts = re.findall(r"\b(?:rate|irate|increase)\((\w+)", query)
        assert not falling & set(restarts), where


@pytest.mark.skipif(shutil.which("promtool") is None, reason="promtool is not installed: apt-get install prometheus")
def test_two_servers_and_the_end_of_a_run_change_no_figure_of_a_dashboard(tmp_path: Path) -> None:
    """Ten answers a minute, told by two servers; then a run of a thousand is removed."""
    query = dashboard_queries()["providers: Answers per second"]
    told = [
        {"series": f'proctor_answers_total{{provider="demo",result="answered",instance="{name}"}}', "values": values}
        for name, values in (("a", "1000+10x10 100+0x20"), ("b", "1000+10x10 100+0x20"))
    ]
    labels = '{provider="demo", result="answered"}'
    asked = [
        {"expr": query, "eval_time": "10m", "exp_samples": [{"labels": labels, "value": 10 / 60}]},
        {"expr": query, "eval_time": "11m30s", "exp_samples": [{"labels": labels, "value": 0}]},
    ]
    case = {
        "evaluation_interval": "30s",
        "tests": [{"interval": "1m", "input_series": told, "promql_expr_test": asked}],
    }
    (tmp_path / "boards.yaml").write_text(yaml.safe_dump(case))
    ended = subprocess.run(["promtool", "test", "rules", "boards.yaml"], cwd=tmp_path, capture_output=True, check=False)
    assert ended.returncode == 0, ended.stdout.decode() + ended.stderr.decode()


def test_every_alert_leads_to_a_section_of_the_runbook() -> None:
    runbook = (ROOT / "docs/operations/runbook.md").read_text()
    headings = {line.removeprefix("## ").lower() for line in runbook.splitlines() if line.startswith("## ")}
    alerts = yaml.safe_load((DEPLOY / "prometheus/alerts.yaml").read_text())["groups"][0]["rules"]
    for rule in alerts:
        page, _, section = rule["annotations"]["runbook"].partition("#")
        assert (ROOT / page).is_file()
        assert section in headings, rule["alert"]


@pytest.mark.skipif(shutil.which("promtool") is None, reason="promtool is not installed: apt-get install prometheus")
def test_alerts_fire_when_they_should_and_not_before() -> None:
    folder = DEPLOY / "prometheus"
    for command in (["check", "rules", "alerts.yaml"], ["test", "rules", "alerts_test.yaml"]):
        ended = subprocess.run(["promtool", *command], cwd=folder, capture_output=True, text=True, check=False)
        assert ended.returncode == 0, ended.stdout + ended.stderr
    tested = yaml.safe_load((folder / "alerts_test.yaml").read_text())["tests"]
    fired = {one["alertname"] for test in tested for one in test["alert_rule_test"] if one.get("exp_alerts")}
    rules = yaml.safe_load((folder / "alerts.yaml").read_text())["groups"][0]["rules"]
    assert fired == {rule["alert"] for rule in rules}
