"""Marked secrets are planted everywhere, everything is asked for by everybody, and none of them comes out anywhere."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson
import pytest

from fakes.loopback import Exchange
from fakes.provider import FakeProvider
from proctor.accounts.keys import create_key
from proctor.accounts.people import add_user, set_password
from proctor.accounts.projects import add_project, set_member
from proctor.server.access import PERMISSIONS, V1
from proctor.server.sign_in import COOKIE
from proctor.stores.database import open_database
from server.serving import Server, serving

pytestmark = pytest.mark.sqlite
PLANTED = {
    "the server's secret": "kQ7Zplanted1mV4rT9xN2bW6yC8sD3fG",
    "a provider's key in the environment": "sk-planted-environment-0a1b2c3d4e",
    "a provider's key in a file": "sk-planted-file-5f6a7b8c9d",
    "a project's key for a provider": "sk-planted-project-e0f1a2b3c4",
    "a project's key that was refused": "sk-planted-refused-77aa88bb",
    "the secret of an identity provider": "planted-client-secret-19283746",
    "keys of S3": "planted-aws-secret-55667788",
    "a password": "planted password 90817263",
    "a password that was wrong": "planted wrong password 3344",
}
PLAN: dict[str, Any] = {
    "name": "planted", "models": ["demo/strong", "demo/weak"], "benchmarks": [{"benchmark": "puzzles", "limit": 3}],
}  # fmt: skip
ONCE = ("/auth/tokens", "/auth/refresh", "/keys", "/webhooks", "/auth/sign-in")
"""Whose answers to POST show, once and to whoever asked, what they have made."""


class EchoingProvider(FakeProvider):
    """Says the key back to whoever sent it, as some gateways do."""

    async def _handle(self, exchange: Exchange) -> None:
        sent = exchange.request.headers.get("authorization", "")
        await exchange.reply_json(500, {"error": {"message": f"Incorrect API key provided: '{sent}'."}})


@dataclass
class Site:
    server: Server
    callers: dict[str, dict[str, str]]
    secrets: dict[str, str]
    said: list[tuple[str, bytes]] = field(default_factory=list)
    statuses: list[int] = field(default_factory=list)

    def ask(self, who: str, method: str, path: str, body: Any = None) -> Any:
        answer = self.server.ask(method, path, body, **self.callers[who])
        self.statuses.append(answer.status)
        is_once = method == "POST" and path.removeprefix(V1).startswith(ONCE) and answer.status < 300
        content = orjson.dumps(dict(answer.headers)) + (b"" if is_once else answer.body)
        self.said.append((f"{method} {path} as {who}", content))
        return answer


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("planted")


@pytest.fixture(scope="module")
def ended_site(folder: Path) -> Site:
    """Everything has been asked for, and the server has ended: its last words are there too."""
    (folder / "outside").mkdir()
    (folder / "outside" / "anthropic").write_text(PLANTED["a provider's key in a file"])
    work = folder / "work"
    work.mkdir()
    with ExitStack() as stack:
        provider = stack.enter_context(EchoingProvider())
        given = {
            "PROCTOR_SECRET": PLANTED["the server's secret"],
            "OPENAI_API_KEY": PLANTED["a provider's key in the environment"],
            "ANTHROPIC_API_KEY_FILE": str(folder / "outside" / "anthropic"),
            "AWS_SECRET_ACCESS_KEY": PLANTED["keys of S3"],
            "PROCTOR_OIDC_ISSUER": "https://127.0.0.1:9",
            "PROCTOR_OIDC_CLIENT_ID": "proctor",
            "PROCTOR_OIDC_CLIENT_SECRET": PLANTED["the secret of an identity provider"],
            "PROCTOR_KEY_HOSTS": provider.url.removeprefix("http://"),
            "PROCTOR_WEBHOOK_HOSTS": "127.0.0.1",
            "PROCTOR_LOG_FOLDER": str(work / "logs"),
        }
        server = stack.enter_context(serving(work / "home", work, "--accounts", **given))
        site = planted(server, work)
        look_everywhere(site, provider)
        read_processes(site)
    return site


def planted(server: Server, work: Path) -> Site:
    database = open_database(f"sqlite:///{work / 'home' / 'proctor.db'}")
    try:
        add_project(database, "acme", by="test")
        link = add_user(database, "ada", is_admin=False, by="test").token
        set_password(database, link, PLANTED["a password"])
        set_member(database, "acme", "ada", "owner", by="test")
        keys = {
            "the least": create_key(database, "acme", ["run:read"], by="test").text,
            "a reader": create_key(database, "acme", ["run:read", "results:read", "benchmark:read"], by="test").text,
            "an administrator": create_key(database, "acme", ["admin:full"], by="test").text,
        }
    finally:
        database.dispose()
    callers = {who: {"Authorization": f"Bearer {key}"} for who, key in keys.items()}
    secrets = {**PLANTED, "a link": link, **{f"the key of {who}": key.split("_", 2)[2] for who, key in keys.items()}}
    signed = server.post(f"{V1}/auth/sign-in", {"name": "ada", "password": PLANTED["a password"]})
    session = signed.headers["set-cookie"].split("=", 1)[1].split(";")[0]
    callers["the owner"] = {
        "Cookie": f"{COOKIE}={session}; proctor_project=acme", "X_CSRF_Token": signed.json["csrf_token"],
    }  # fmt: skip
    callers["nobody"] = {}
    return Site(server, callers, secrets | {"a session": session})


def look_everywhere(site: Site, provider: FakeProvider) -> None:
    """Make what can be made, ask each route as each caller, and make mistakes with secrets in them."""
    owner, address = "the owner", f"{provider.url}/v1"
    connection = {"provider": "openai", "key": PLANTED["a project's key for a provider"], "base_url": address}
    assert site.ask(owner, "POST", f"{V1}/provider-keys", connection).status == 201
    tokens = site.ask(owner, "POST", f"{V1}/auth/tokens", {}).json
    site.secrets |= {name: tokens[name] for name in ("access_token", "refresh_token")}
    hook = site.ask(owner, "POST", f"{V1}/webhooks", {"url": f"{provider.url}/hook", "events": ["run.finished"]})
    assert hook.status == 201, hook.body
    site.secrets["a webhook's secret"] = hook.json["secret"]
    runs = []
    echoed = {**PLAN, "models": [{"model": "openai/any", "base_url": address}], "limits": {"retries": 0}}
    for plan in (PLAN, echoed):
        run_id = site.ask(owner, "POST", f"{V1}/runs", plan).json["run_id"]
        site.server.wait_as(run_id, site.callers["an administrator"]["Authorization"].split()[1])
        runs.append(run_id)
    assert site.ask(owner, "GET", f"{V1}/runs/{runs[1]}").json["evaluations"][0]["failed"] == 3
    asked = {"models": [{"model": "openai/any", "base_url": address}], "prompt": "Hello"}
    site.ask(owner, "POST", f"{V1}/playground", asked)
    for who in site.callers:
        for method, path in PERMISSIONS:
            if method == "GET":
                for run_id in runs:
                    for target in targets(path, run_id):
                        site.ask(who, "GET", target)
    refused = PLANTED["a project's key that was refused"]
    for body in (
        {"provider": "opnai", "key": refused}, {"provider": "openai", "key": f"{refused}\n{refused}"},
        {"provider": "openai", "key": refused, "base_url": "https://attacker.example"},
        {"provider": "openai", "key": [refused]},
    ):  # fmt: skip
        assert site.ask(owner, "POST", f"{V1}/provider-keys", body).status == 422
    for part in ({"auth_variable": "OPENAI_API_KEY"}, {"base_url": "https://attacker.example"}):
        assert site.ask(owner, "POST", f"{V1}/runs", {**PLAN, "models": [{"model": "openai/x", **part}]}).status == 422
    wrong = {"name": "ada", "password": PLANTED["a password that was wrong"]}
    assert site.ask("nobody", "POST", f"{V1}/auth/sign-in", wrong).status == 401
    assert site.ask("nobody", "POST", f"{V1}/auth/sign-in", {**wrong, "password": [wrong["password"]]}).status == 422


def targets(path: str, run_id: str) -> Iterator[str]:
    named = {"run_id": run_id, "result_id": "1", "name": "puzzles", "way": "oidc", "project": "acme"}
    named["name:path"] = "demo/weak"
    path = re.sub(r"\{([a-z_:]+)\}", lambda part: named.get(part[1], "nothing-000"), path)
    if path == f"{V1}/events":
        path += "?follow=false"
    yield path
    if path.endswith(("/export", "/report")):
        for form in ("jsonl", "csv", "junit", "html", "md", "json"):
            yield f"{path}?format={form}"


def read_processes(site: Site) -> None:
    """The words that the server and its workers were started with."""
    waiting = [site.server.process.pid]
    while waiting:
        pid = waiting.pop()
        site.said.append((f"the words of process {pid}", Path(f"/proc/{pid}/cmdline").read_bytes()))
        waiting += [int(one) for one in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def test_no_answer_log_event_export_page_or_process_shows_a_secret(ended_site: Site) -> None:
    said = [*ended_site.said, ("standard error", "".join(ended_site.server.said).encode())]
    assert len(said) > 300  # every route by everybody
    assert {200, 401, 403, 404, 422} <= set(ended_site.statuses)
    assert not any(status >= 500 and status != 502 for status in ended_site.statuses)
    for where, content in said:
        for what, secret in ended_site.secrets.items():
            assert secret.encode() not in content, f"{what} in {where}"


def test_no_file_holds_a_secret(ended_site: Site, folder: Path) -> None:
    """The database, its log, the logs, the artifacts: keys are encrypted, and of what is checked there are hashes."""
    files = [path for path in (folder / "work").rglob("*") if path.is_file()]
    assert any(path.parent.name == "logs" for path in files), files
    assert any(path.name == "proctor.db" for path in files)
    for path in files:
        content = path.read_bytes()
        for what, secret in ended_site.secrets.items():
            assert secret.encode() not in content, f"{what} in {path}"


def test_the_key_was_echoed_and_is_seen_to_be_left_out(ended_site: Site) -> None:
    """So that the others prove something: the provider did say it."""
    assert any(b"Incorrect API key provided: 'Bearer [key]'" in content for _, content in ended_site.said)
