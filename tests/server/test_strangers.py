"""Callers with a key are strangers to the machine: where keys go, what is run and read, and what they may set.

| row of the list of attacks | test |
|---|---|
| key theft by address, any variable as key | `test_a_stranger_says_neither_where_a_key_goes_nor_which` |
| code and files through plans | `test_a_stranger_runs_no_code_and_reads_no_file`; `test_accounts` for members |
| addresses inside the network | as the first: a stranger names no address at all; `test_private_addresses` |
| a forgotten route | `test_security_middleware` |
| another tenant's id | `test_accounts` |
| CSRF and DNS rebinding | `test_security_middleware`, `test_accounts` |
| images and links in answers, generated pages | `test_what_models_wrote_is_a_file_to_keep_or_confined` |
| CSV formulas | tests of exports |
| path traversal | `test_names_never_become_paths`, `test_no_route_and_no_notation_leads_to_a_file_of_the_machine` |
| archives | `test_programs` |
| uploads: too large, wrong type, pixel and page bombs | `test_files` |
| bodies that grow when they are unpacked | `test_a_body_that_grows_when_it_is_unpacked_is_not_unpacked` |
| slow patterns, templates, schemas of benchmarks | `test_own_benchmarks` |
| webhooks to addresses inside the network, rebinding, redirects | `test_webhooks` |
| YAML, JSON, numbers, NUL | `test_saved`, `test_openapi` |
| a plan of a thousand million trials | `test_a_plan_of_too_many_trials_is_refused_with_their_count` |
| mass assignment | `test_what_is_not_the_callers_to_set_is_refused` |
| prompt injection into the planner | tests of plans in words; `test_private_addresses` for what is drafted here |
"""

from __future__ import annotations

import gzip
import re
import time
from collections.abc import Iterator
from http.client import HTTPConnection
from typing import Any

import orjson
import pytest

from proctor.accounts.keys import create_key
from proctor.accounts.projects import add_project
from proctor.server.access import PERMISSIONS, V1
from proctor.stores.database import open_database
from server.serving import Answer, Server, serving

CANARY = "sk-canary-93ab17"
PLAN: dict[str, Any] = {"models": ["demo/weak"], "benchmarks": [{"benchmark": "puzzles", "limit": 3}]}
FORBIDDEN, CONNECTION = (403, "kind-not-allowed"), (422, "secret-needed")


class Stranger:
    """Somebody with a key for everything in a project, and nothing else."""

    def __init__(self, server: Server, key: str) -> None:
        self.server, self._sent = server, {"Authorization": f"Bearer {key}"}

    def ask(self, method: str, path: str, body: Any = None, **headers: str) -> Answer:
        return self.server.ask(method, f"{V1}{path}", body, **self._sent, **headers)

    def raw(self, path: str) -> Answer:
        """As it is written, whatever a client would make of it."""
        connection = HTTPConnection(*self.server.place, timeout=60)
        try:
            connection.request("GET", path, headers=self._sent)
            answer = connection.getresponse()
            return Answer(answer.status, dict(answer.getheaders()), answer.read())
        finally:
            connection.close()


@pytest.fixture(scope="module")
def stranger(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stranger]:
    folder = tmp_path_factory.mktemp("strangers")
    (folder / "secret.txt").write_text(CANARY)
    with serving(folder / "home", folder, "--accounts", OPENAI_API_KEY=CANARY) as server:
        database = open_database(f"sqlite:///{folder / 'home' / 'proctor.db'}")
        add_project(database, "acme", by="test")
        scopes = ["benchmark:read", "benchmark:write", "run:read", "run:write", "results:read", "project:admin"]
        yield Stranger(server, create_key(database, "acme", scopes, by="test").text)
        database.dispose()


ADDRESSES = (
    "http://127.0.0.1:9/v1", "http://169.254.169.254/latest", "https://attacker.example/v1", "http://[::1]:9",
    "http://0x7f.1:9", "http://2130706433:9",
)  # fmt: skip


def test_a_stranger_says_neither_where_a_key_goes_nor_which(stranger: Stranger) -> None:
    named = [{"model": "openai/gpt-4o", "base_url": address} for address in ADDRESSES]
    named += [{"model": "openai/gpt-4o", "auth_variable": "AWS_SECRET_ACCESS_KEY"}]
    for model in named:
        for plan, pointer in (
            ({**PLAN, "models": ["demo/weak", model]}, "/models/1"),
            ({**PLAN, "judge": model}, "/judge/0"),
        ):
            for method, path, body in (
                ("POST", "/runs", plan), ("POST", "/estimate", plan), ("POST", "/plans", {"name": "x", "plan": plan}),
                ("POST", "/plans/draft", {"query": "50 puzzles", "from": plan}),
            ):  # fmt: skip
                answer = stranger.ask(method, path, body)
                assert (answer.status, answer.json["type"].partition("#")[2]) == CONNECTION, (path, answer.body)
                assert answer.json["errors"][0]["pointer"].endswith(pointer), answer.body
    text = "openai/gpt-4o?base_url=http://127.0.0.1:9"
    assert stranger.ask("POST", "/runs", {**PLAN, "models": text}).status == 422
    assert stranger.ask("GET", f"/models/{text.replace('?', '%3F')}").status == 422
    assert stranger.ask("POST", "/runs", {**PLAN, "key_hosts": ["attacker.example"]}).status == 422
    assert stranger.ask("GET", "/runs").json["items"] == []
    assert CANARY.encode() not in stranger.ask("GET", "/models").body


def test_a_stranger_runs_no_code_and_reads_no_file(stranger: Stranger) -> None:
    model = {"models": [f"command/touch {stranger.server.folder}/done"]}, {"models": ["python/os:getcwd"]}
    file = {"benchmarks": [f"{stranger.server.folder}/secret.txt"]}, {"benchmarks": ["file:secret.txt"]}
    prompt = [{"benchmark": "puzzles", "parameters": {"prompt": "secret.txt"}}]
    for part in (
        *model, *file, {"benchmarks": ["https://attacker.example/b.yaml"]}, {"benchmarks": prompt},
        {"benchmarks": [{"benchmark": "puzzles", "matrix": {"prompt": ["secret.txt"]}}]},
        {"matrix": {"prompt": ["secret.txt"]}}, {"unsafe_no_sandbox": True}, {"judge": "command/id"},
    ):  # fmt: skip
        for path in ("/runs", "/estimate"):
            answer = stranger.ask("POST", path, {**PLAN, **part})
            assert (answer.status, answer.json["type"].partition("#")[2]) == FORBIDDEN, (part, answer.body)
            assert CANARY.encode() not in answer.body
    assert not (stranger.server.folder / "done").exists()


@pytest.mark.parametrize(
    "name",
    ["../secret.txt", "..%2fsecret.txt", "..%252fsecret.txt", "..%5csecret.txt", "%2e%2e/secret.txt", "/secret.txt",
     "....//secret.txt", "secret.txt%00", "%c0%ae%c0%ae/secret.txt"],
)  # fmt: skip
def test_names_never_become_paths(stranger: Stranger, name: str) -> None:
    for before in (f"{V1}/benchmarks/", f"{V1}/models/", f"{V1}/runs/", f"{V1}/plans/", "/", "/assets/"):
        answer = stranger.raw(f"{before}{name}")
        assert answer.status in (400, 403, 404, 422), (before, answer.status)
        assert CANARY.encode() not in answer.body
    assert stranger.raw(f"{V1}/problems/{name}/ranking").status in (400, 404, 422)


def test_what_is_not_the_callers_to_set_is_refused(stranger: Stranger) -> None:
    for extra in ({"project_id": "other"}, {"project": "other"}, {"cost_usd": 0}, {"status": "completed"},
                  {"role": "owner"}, {"__proto__": {"is_operator": True}}, {"constructor": {}}):  # fmt: skip
        for path, body in (
            ("/runs", PLAN), ("/estimate", PLAN), ("/plans", {"name": "x", "plan": PLAN}),
            ("/plans/draft", {"query": "50 puzzles"}), ("/keys", {"scopes": ["run:read"]}),
        ):  # fmt: skip
            answer = stranger.ask("POST", path, {**body, **extra})
            assert answer.status == 422, (path, extra, answer.body)
            assert next(iter(extra)) in answer.json["detail"]
    assert stranger.ask("POST", "/keys", {"scopes": ["admin:full"]}).status == 403
    assert stranger.ask("GET", "/plans").json["items"] == []


def test_what_models_wrote_is_a_file_to_keep_or_confined(stranger: Stranger) -> None:
    run_id = stranger.ask("POST", "/runs", PLAN).json["run_id"]
    until_ended(stranger, run_id)
    for path in ("report?format=html", "report?format=md", "export?format=csv", "export?format=jsonl"):
        answer = stranger.ask("GET", f"/runs/{run_id}/{path}")
        assert answer.status == 200
        policy = answer.headers["content-security-policy"]
        assert policy.startswith("sandbox;"), path
        assert "default-src 'none'" in policy
        assert answer.headers["x-content-type-options"] == "nosniff"
    assert "attachment" in stranger.ask("GET", f"/runs/{run_id}/export?format=csv").headers["content-disposition"]


def test_a_plan_of_too_many_trials_is_refused_with_their_count(stranger: Stranger) -> None:
    """At once where the plan alone says so, else when its samples are counted: no chunk of it is ever written."""
    for part in ({"epochs": 10**9}, {"epochs": 10**7, "models": ["demo/weak", "demo/strong"]},
                 {"benchmarks": [{"benchmark": "puzzles", "epochs": 10**9}]}):  # fmt: skip
        answer = stranger.ask("POST", "/runs", {**PLAN, **part})
        assert (answer.status, answer.json["errors"][0]["pointer"]) == (422, "/epochs"), answer.body
        assert "000,000 trials, and a run takes 10,000,000" in answer.json["detail"]
    run_id = stranger.ask("POST", "/runs", {**PLAN, "epochs": 9_999_999}).json["run_id"]
    until_ended(stranger, run_id)
    run = stranger.ask("GET", f"/runs/{run_id}").json
    assert (run["status"], run["evaluations"]) == ("failed", [])
    assert "29,999,997 trials" in run["error"]


def until_ended(stranger: Stranger, run_id: str) -> None:
    until = time.monotonic() + 120
    while stranger.ask("GET", f"/runs/{run_id}").json["status"] not in ("completed", "failed"):
        assert time.monotonic() < until
        time.sleep(0.2)


ELSEWHERE = (
    "..%2F..%2F..%2Fetc%2Fpasswd", "%2e%2e%2f%2e%2e%2fetc%2fpasswd", "..%252F..%252Fetc%252Fpasswd",
    "..%5C..%5Csecret.txt", "%2Fetc%2Fpasswd", "secret.txt", "file:%2F%2F%2Fetc%2Fpasswd", "x%00.txt", "%ED%A0%80",
    "..;%2Fsecret.txt",
    "....%2F%2Fsecret.txt", "~%2Fsecret.txt",
)  # fmt: skip
"""What could lead out of where it is looked for, in the notations that servers undo."""


def test_no_route_and_no_notation_leads_to_a_file_of_the_machine(stranger: Stranger) -> None:
    routes = [path for method, path in PERMISSIONS if method == "GET" and "{" in path]
    assert len(routes) > 20
    for path in routes:
        for payload in ELSEWHERE:
            answer = stranger.raw(re.sub(r"\{[^}]*\}", payload, path))
            assert answer.status in (400, 403, 404, 405, 422), (path, payload, answer.status, answer.body[:200])
            assert b"root:" not in answer.body, path
            assert CANARY.encode() not in answer.body, path
    for query in ("runs?after=", "runs?text=", "runs?model=", "submissions?problem=", "files?after=", "plans?after="):
        for payload in ("..%2F..%2Fetc%2Fpasswd", "'%20OR%201=1--", "%27%3BDROP%20TABLE%20runs%3B--", "%25", "_"):
            answer = stranger.raw(f"{V1}/{query}{payload}")
            assert answer.status in (200, 404, 422), (query, payload, answer.body[:200])
            if answer.status == 200:
                found = orjson.loads(answer.body)
                assert not (found["items"] if isinstance(found, dict) else found), (query, payload)


def test_a_body_that_grows_when_it_is_unpacked_is_not_unpacked(stranger: Stranger) -> None:
    bomb = gzip.compress(b'{"models": ["' + b"x" * 50_000_000 + b'"]}')
    for path in ("/runs", "/estimate", "/plans/draft"):
        answer = stranger.ask("POST", path, bomb, Content_Encoding="gzip")
        assert answer.status in (400, 415, 422), (path, answer.body)
    deep = b'{"models": ' + b"[" * 2_000 + b"]" * 2_000 + b"}"
    for body in (deep, b'{"models": ' + b"9" * 100_000 + b"}", b'{"models": "\\ud800", "benchmarks": "\\u0000"}'):
        assert stranger.ask("POST", "/runs", body).status in (400, 422)
