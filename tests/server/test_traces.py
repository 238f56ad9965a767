"""Traces: one tree from the request to the worker, the trial, the provider's call, the score and the sandbox."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from fakes.provider import FakeProvider
from sandboxes.conftest import made
from server.serving import serving

pytest.importorskip("opentelemetry.proto", reason="traces need more: pip install 'proctor[traces]'")

MODEL = """
def answer(text):
    return "```python\\ndef add(x): return x + 1  # marked answer\\n```"
"""
ROWS = [
    {
        "task_id": f"add/{number}",
        "prompt": 'def add(x):\n    """Add one, a marked prompt."""\n',
        "entry_point": "add",
        "canonical_solution": "    return x + 1\n",
        "test": f"def check(candidate):\n    assert candidate({number}) == {number + 1}\n",
    }
    for number in range(3)
]
BENCHMARK = """
name: adding
needs_sandbox: true
dataset:
  source: rows.jsonl
  fields:
    {id: task_id, input: prompt, target: entry_point, metadata: [prompt, entry_point, canonical_solution, test]}
prompt: {user: '{{ input }}'}
scorers: [humaneval]
"""


@dataclass
class Span:
    name: str
    service: str
    id: bytes
    parent: bytes
    trace: bytes
    kind: int
    is_error: bool
    seconds: tuple[float, float]
    attributes: dict[str, Any]


class Collector:
    """Takes OTLP over HTTP, as Jaeger or Tempo do, and keeps it in memory."""

    def __init__(self) -> None:
        self.spans: list[Span] = []
        self.bodies: list[bytes] = []
        collector = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                assert self.path == "/v1/traces"
                collector.take(body)
                self.send_response(200)
                self.end_headers()

            def log_message(self, *_: object) -> None:
                return

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def take(self, body: bytes) -> None:
        from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

        self.bodies.append(body)
        for resource in ExportTraceServiceRequest.FromString(body).resource_spans:
            service = attributes(resource.resource.attributes)["service.name"]
            for scope in resource.scope_spans:
                for one in scope.spans:
                    self.spans.append(
                        Span(one.name, service, one.span_id, one.parent_span_id, one.trace_id, one.kind,
                             one.status.code == 2, (one.start_time_unix_nano / 1e9, one.end_time_unix_nano / 1e9),
                             attributes(one.attributes))
                    )  # fmt: skip

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def named(self, name: str) -> list[Span]:
        return [span for span in self.spans if span.name == name]

    def path(self, span: Span) -> list[str]:
        """The names from the root of its trace down to it."""
        by_id = {one.id: one for one in self.spans if one.trace == span.trace}
        names = [span.name]
        while span.parent:
            span = by_id[span.parent]
            names.insert(0, span.name)
        return names


def attributes(pairs: Any) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for pair in pairs:
        kind = pair.value.WhichOneof("value")
        value = getattr(pair.value, kind)
        found[pair.key] = [one.string_value for one in value.values] if kind == "array_value" else value
    return found


@pytest.fixture
def collector() -> Iterator[Collector]:
    found = Collector()
    yield found
    found.close()


def wait_for(is_so: Callable[[], bool]) -> None:
    until = time.monotonic() + 120
    while not is_so():
        assert time.monotonic() < until
        time.sleep(0.1)


def test_a_trial_is_one_tree_from_the_request_to_the_provider_and_the_sandbox(
    tmp_path: Path, collector: Collector
) -> None:
    made("namespaces")
    (tmp_path / "asking.py").write_text(MODEL)
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    (tmp_path / "adding.yaml").write_text(BENCHMARK)
    telling = {"PROCTOR_TRACES_URL": collector.url, "OTEL_BSP_SCHEDULE_DELAY": "200", "OPENAI_API_KEY": "marked-key-1"}
    with FakeProvider() as provider, serving(tmp_path / "home", tmp_path, **telling) as server:
        model = f"openai/gpt-5-mini?base_url={provider.url}/v1&temperature=0.5&max_tokens=64"
        plan = {"models": ["python/asking:answer", model], "benchmarks": ["adding.yaml"], "cache": False}
        run_id = server.run(plan)
        wait_for(lambda: len(collector.named("trial")) == 2 * len(ROWS) and bool(collector.named("finish run")))
    roots = [
        span for span in collector.spans if not span.parent and span.attributes.get("http.route") == "/api/v1/runs"
    ]
    [root] = [span for span in roots if span.attributes["http.request.method"] == "POST"]
    assert root.service == "proctor-server"
    mine = [span for span in collector.spans if span.trace == root.trace]
    assert len({span.id for span in mine}) == len(mine)
    assert all(collector.path(span)[0] == root.name for span in mine)
    for trial in collector.named("trial"):
        assert trial.service == "proctor-worker"
        assert collector.path(trial)[-2:] == ["execute chunk", "trial"]
        parts = [span for span in mine if span.parent == trial.id]
        assert sorted(span.name.split()[0] for span in parts) == ["chat", "score"]
        assert trial.attributes["proctor.outcome"] in ("scored", "invalid")
        assert all(trial.seconds[0] <= span.seconds[0] <= span.seconds[1] <= trial.seconds[1] for span in parts)
    runs_of_code = [span for span in collector.named("sandbox") if "trial" in collector.path(span)]
    assert len(runs_of_code) >= len(ROWS)
    assert collector.path(runs_of_code[0])[-3:] == ["trial", "score", "sandbox"]
    assert {span.attributes["proctor.sandbox.backend"] for span in runs_of_code} == {"namespaces"}
    chats = collector.named("chat gpt-5-mini")
    assert len(chats) == len(ROWS)
    said = chats[0].attributes
    assert (said["gen_ai.operation.name"], said["gen_ai.provider.name"]) == ("chat", "openai")
    assert (said["gen_ai.request.model"], said["gen_ai.request.temperature"]) == ("gpt-5-mini", 0.5)
    assert said["gen_ai.request.max_tokens"] == 64
    assert said["gen_ai.usage.input_tokens"] > 0
    assert said["gen_ai.response.finish_reasons"]
    assert chats[0].kind == 3  # a client's
    for name in ("prepare run", "execute chunk", "finish run"):
        assert {span.attributes["proctor.run.id"] for span in collector.named(name)} == {run_id}
    everything = b"".join(collector.bodies)
    for content in (b"marked", b"def add", b"Add one"):
        assert content not in everything


def test_a_fault_of_a_provider_is_an_error_without_what_was_said(tmp_path: Path, collector: Collector) -> None:
    telling = {"PROCTOR_TRACES_URL": f"{collector.url}/v1/traces", "OTEL_BSP_SCHEDULE_DELAY": "200"}
    with serving(tmp_path / "home", tmp_path, **telling) as server:
        down = "openai/gone?base_url=http://127.0.0.1:9/marked"
        server.run({"models": [down], "benchmarks": [{"benchmark": "puzzles", "limit": 1}], "limits": {"retries": 0}})
        wait_for(lambda: bool(collector.named("trial")))
    [chat] = collector.named("chat gone")
    assert chat.is_error
    assert chat.attributes["error.type"] == "ProviderFaultError"
    assert not [body for body in collector.bodies if b"marked" in body]


def test_a_collector_that_is_away_changes_nothing(tmp_path: Path) -> None:
    with serving(tmp_path / "home", tmp_path, PROCTOR_TRACES_URL="http://127.0.0.1:9") as server:
        run_id = server.run({"models": ["demo/strong"], "benchmarks": [{"benchmark": "puzzles", "limit": 2}]})
        assert server.get(f"/api/v1/runs/{run_id}")["status"] == "completed"


def test_a_collector_that_never_answers_does_not_hold_up_the_end_of_a_process() -> None:
    code = (
        "import sys; from proctor.telemetry.traces import start_tracing; from proctor.domain.tracing import span; "
        "start_tracing(sys.argv[1], 'worker')\n"
        "with span('work'): pass"
    )
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        began = time.monotonic()
        environment = {**os.environ, "OTEL_EXPORTER_OTLP_TIMEOUT": "200"}
        subprocess.run([sys.executable, "-c", code, url], env=environment, check=True, timeout=120)
        assert time.monotonic() - began < 100  # the exporter itself would wait for 200 seconds
        silent.settimeout(10)
        silent.accept()[0].close()  # it did try


@pytest.mark.sqlite
def test_a_run_of_the_command_line_is_one_tree_per_trial(home: Path, collector: Collector) -> None:
    """`proctor run` in a process of its own, which sends what it has before it ends."""
    command = [sys.executable, "-m", "proctor", "run", "puzzles", "-m", "demo/strong", "--limit", "3", "--json"]
    environment = {**os.environ, "PROCTOR_TRACES_URL": collector.url}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    [root] = collector.named("execute run")
    assert root.attributes["proctor.run.id"] == json.loads(done.stdout)["run_id"]
    assert root.service == "proctor-run"
    trials = collector.named("trial")
    assert [collector.path(trial) for trial in trials] == [["execute run", "trial"]] * 3
    calls = [one for one in collector.spans if one.name.startswith("chat ")]
    assert [collector.path(call)[:2] for call in calls] == [["execute run", "trial"]] * 3
    assert all(collector.path(score)[1] == "trial" for score in collector.named("score"))
    assert len(collector.named("score")) == 3
    assert not any(b"ANSWER" in body for body in collector.bodies)
    assert home.exists()


@pytest.mark.sqlite
def test_a_run_of_the_library_is_one_tree_per_trial_and_the_programs_own_traces_stay_its_own(
    home: Path, collector: Collector
) -> None:
    """Two runs in one program, which sets up OpenTelemetry for itself after them: that is possible once only."""
    code = (
        "import asyncio, proctor\n"
        "from opentelemetry import trace; from opentelemetry.sdk.trace import TracerProvider\n"
        "first = proctor.evaluate('puzzles', models='demo/strong', limit=3)\n"
        "asyncio.run(proctor.evaluate_async('puzzles', models='demo/weak', limit=3))\n"
        "own = TracerProvider(); trace.set_tracer_provider(own)\n"
        "assert trace.get_tracer_provider() is own\n"
        "with trace.get_tracer('host').start_as_current_span('of the program'): pass\n"
        "print(first.id)"
    )
    environment = {**os.environ, "PROCTOR_TRACES_URL": collector.url}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    roots = collector.named("execute run")
    assert len({root.trace for root in roots}) == 2
    assert done.stdout.strip() in {root.attributes["proctor.run.id"] for root in roots}
    assert {span.service for span in collector.spans} == {"proctor-run"}
    assert [collector.path(trial) for trial in collector.named("trial")] == [["execute run", "trial"]] * 6
    assert len(collector.named("score")) == 6
    assert not collector.named("of the program")
    assert home.exists()


def test_without_an_address_nothing_of_opentelemetry_is_imported() -> None:
    """Beyond what FastAPI itself imports for the server."""
    code = (
        "import sys; from proctor.settings import Settings; from proctor.telemetry.starting import start_telemetry; "
        "import proctor.worker.process, proctor.engine.loop; start_telemetry(Settings.from_environment({}), 'worker'); "
        "print([name for name in sys.modules if name.startswith('opentelemetry')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
