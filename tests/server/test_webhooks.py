"""Webhooks: signed, delivered at least once with one id, again and again for a day, and only where they may go."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from fakes.loopback import Request
from fakes.webhook_receiver import Receiver
from proctor import Client
from proctor.accounts.keys import create_key
from proctor.accounts.projects import add_project
from proctor.domain.errors import NotFoundError
from proctor.stores.database import open_database
from server.conftest import PLAN
from server.serving import Server, serving

standard = pytest.importorskip("standardwebhooks.webhooks", reason="pip install standardwebhooks")
Webhook, WebhookVerificationError = standard.Webhook, standard.WebhookVerificationError
V1 = "/api/v1"
SMALL: dict[str, Any] = {**PLAN, "benchmarks": [{"benchmark": "puzzles", "limit": 1}]}


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    made = Receiver()
    with made.server:
        yield made


def verify(secret: str, request: Request) -> Any:
    """As somebody who was given the secret does it, with a library that others wrote."""
    return Webhook(secret).verify(request.body, request.headers)


def test_whoever_listens_is_told_how_runs_end_and_can_prove_it(receiver: Receiver, tmp_path: Path) -> None:
    with serving(tmp_path / "home", tmp_path, **receiver.environment) as server:
        client = Client(server.address)
        server.run(SMALL)  # before anybody listens
        made = client.create_webhook(receiver.url, ["run.finished"])
        run_id = server.run({**SMALL, "name": "nightly"})
        [told] = receiver.wait(1)
        said = verify(made.secret, told)
        assert (said["type"], said["data"]["run_id"], said["data"]["name"]) == ("run.finished", run_id, "nightly")
        assert said["data"]["status"] == "completed"
        assert (told.method, told.path, told.query) == ("POST", "/told", {"team": "evals"})
        with pytest.raises(WebhookVerificationError):
            verify("whsec_" + "A" * 43 + "=", told)
        [delivery] = until_ended(client, made.webhook_id)
        assert (delivery.state, delivery.attempts, delivery.status) == ("delivered", 1, 200)
        assert delivery.delivery_id == told.headers["webhook-id"]
        whole = client.delivery(made.webhook_id, delivery.delivery_id)
        assert (whole.answer, whole.body) == ("thanks", said)

        rotated = client.rotate_webhook(made.webhook_id)
        client.resend(made.webhook_id, delivery.delivery_id)
        again = receiver.wait(2)[1]
        assert again.headers["webhook-id"] == told.headers["webhook-id"]
        assert again.body == told.body
        assert rotated.secret != made.secret
        for secret in (made.secret, rotated.secret):  # both for a day
            verify(secret, again)

        kept = b"".join(path.read_bytes() for path in server.home.rglob("*") if path.is_file())
        shown = server.ask("GET", f"{V1}/webhooks").body + server.ask("GET", f"{V1}/audit").body
        for secret in (made.secret, rotated.secret):
            assert secret.removeprefix("whsec_").encode() not in kept + shown
        [listed] = client.webhooks()
        assert (listed.webhook_id, listed.url) == (made.webhook_id, receiver.url)
        assert client.deliveries(made.webhook_id, state="failed").items == []
        client.delete_webhook(made.webhook_id)
        with pytest.raises(NotFoundError):
            client.deliveries(made.webhook_id)
        server.run(SMALL)
        assert len(receiver.heard) == 2


def until_ended(client: Client, webhook_id: str) -> Any:
    until = time.monotonic() + 60
    while True:
        items = client.deliveries(webhook_id).items
        if items and all(item.state != "waiting" for item in items):
            return items
        assert time.monotonic() < until, items
        time.sleep(0.05)


def test_a_message_survives_the_server_and_keeps_its_id(receiver: Receiver, tmp_path: Path) -> None:
    home = tmp_path / "home"
    receiver.answer = lambda exchange: exchange.reply(503, b"not now")
    with serving(home, tmp_path, **receiver.environment) as server:
        made = Client(server.address).create_webhook(receiver.url)
        run_id = server.run(SMALL)
        receiver.wait(1)
        server.process.kill()
        server.process.wait(60)
        server.process.returncode = 0  # it was meant to be killed
    with sqlite3.connect(home / "proctor.db") as opened:
        opened.execute("UPDATE deliveries SET next_at = 0")
    receiver.answer = lambda exchange: exchange.reply(204, b"")
    with serving(home, tmp_path, **receiver.environment) as server:
        heard = receiver.wait(2)
        [delivery] = until_ended(Client(server.address), made.webhook_id)
    assert (delivery.run_id, delivery.state, delivery.attempts) == (run_id, "delivered", 2)
    assert {one.headers["webhook-id"] for one in heard} == {delivery.delivery_id}
    assert len({one.body for one in heard}) == 1
    assert verify(made.secret, heard[-1])["data"]["run_id"] == run_id


@pytest.mark.parametrize(
    "url",
    [
        "https://127.0.0.1/", "https://localhost:8443/", "https://0x7f.1/", "https://2130706433/", "https://[::1]/",
        "https://[::ffff:10.0.0.1]/", "https://10.1.2.3/", "https://172.16.0.1/", "https://192.168.1.1/",
        "https://100.64.0.1/", "https://169.254.169.254/latest/meta-data", "https://0.0.0.0/", "https://[fd00::1]/",
        "https://[64:ff9b::7f00:1]/", "https://[2002:7f00:1::]/", "https://224.0.0.1/", "http://hooks.example/",
        "ftp://hooks.example/", "https://user:secret@hooks.example/", "https:///x", "javascript:alert(1)",
        "https://hooks.example/\r\nX: y",
    ],
)  # fmt: skip
def test_private_addresses_are_refused_in_whatever_notation(server: Server, url: str) -> None:
    before = server.get(f"{V1}/webhooks")
    answer = server.post(f"{V1}/webhooks", {"url": url})
    assert answer.status == 422, answer.body
    assert "cannot be a webhook" in answer.json["detail"]
    assert server.get(f"{V1}/webhooks") == before


def test_what_is_asked_for_must_make_sense(server: Server) -> None:
    for body, words in (
        ({"url": "https://hooks.example", "events": ["run.finish"]}, "Did you mean 'run.finished'?"),
        ({"url": "https://hooks.example", "secret": "mine"}, "secret"),
        ({"events": []}, "url"),
    ):
        answer = server.post(f"{V1}/webhooks", body)
        assert (answer.status, words in answer.json["detail"]) == (422, True), answer.body


def test_webhooks_are_the_projects_owners_to_see(tmp_path: Path, receiver: Receiver) -> None:
    with serving(tmp_path / "home", tmp_path, "--accounts", **receiver.environment) as server:
        database = open_database(f"sqlite:///{server.home / 'proctor.db'}")
        keys = {}
        for project in ("acme", "rival"):
            add_project(database, project, by="test")
            for name, scopes in (("all", ["project:admin", "run:write"]), ("some", ["run:write", "results:read"])):
                text = create_key(database, project, scopes, by="test").text
                keys[project, name] = {"Authorization": f"Bearer {text}"}
        database.dispose()
        made = server.post(f"{V1}/webhooks", {"url": receiver.url}, **keys["rival", "all"]).json["webhook_id"]
        server.post(f"{V1}/runs", SMALL, **keys["rival", "all"])
        receiver.wait(1)
        sent = receiver.heard[0].headers["webhook-id"]
        server.post(f"{V1}/runs", SMALL, **keys["acme", "all"])
        routes = [
            ("GET", ""), ("DELETE", ""), ("POST", "/rotate"), ("GET", "/deliveries"), ("GET", f"/deliveries/{sent}"),
            ("POST", f"/deliveries/{sent}/resend"),
        ]  # fmt: skip
        for method, path in routes:
            where = f"{V1}/webhooks/{made}{path}"
            assert server.ask(method, where).status == 401
            assert server.ask(method, where, **keys["rival", "some"]).status == 403
            foreign = server.ask(method, where, **keys["acme", "all"])
            unknown = server.ask(method, where.replace(made, "w-0"), **keys["acme", "all"])
            assert foreign.status == unknown.status == 404
            assert foreign.json["detail"].replace(made, "w-0") == unknown.json["detail"]
        assert server.ask("GET", f"{V1}/webhooks", **keys["acme", "all"]).json == []
        assert server.ask("GET", f"{V1}/webhooks/{made}/deliveries/{sent}", **keys["rival", "all"]).status == 200
    assert len(receiver.heard) == 1
