"""Deliveries to webhooks, on both databases: none is lost, none is sent where it may not go."""

from __future__ import annotations

import asyncio
import socket
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from fakes.authority import Authority
from fakes.loopback import Exchange
from fakes.webhook_receiver import Receiver
from proctor.accounts.provider_keys import seal_all_anew
from proctor.accounts.webhooks import create_webhook, read_delivery, rotate_secret
from proctor.domain.errors import UserError
from proctor.domain.scope import Scope
from proctor.public_address import check_address
from proctor.runs.resolve import PlanContext
from proctor.stores.database import Database
from proctor.stores.events import add_event
from proctor.stores.webhooks import DeliveryQueue, WebhookStore
from proctor.worker.webhooks import AGAIN_SECONDS, deliver_webhooks
from server.serving import SECRET
from stores.parts import evaluation, new_run

standard = pytest.importorskip("standardwebhooks.webhooks", reason="pip install standardwebhooks")


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    made = Receiver()
    with made.server:
        yield made


def ended_run(database: Database, folder: Path, kind: str = "finished") -> str:
    run_id, _ = new_run(database, evaluation(1), folder)
    with database.connection() as connection, connection.transaction():
        add_event(connection, run_id, "progress", {"done": 1})
        add_event(connection, run_id, kind, {})
    return run_id


def deliver(database: Database, environment: dict[str, str], folder: Path, seconds: float = 10.0) -> int:
    return asyncio.run(deliver_webhooks(database, PlanContext(folder, environment), seconds=seconds))


def due_again(database: Database) -> None:
    with database.connection() as connection:
        connection.execute("UPDATE deliveries SET next_at = 0 WHERE state = 'waiting'")


def test_a_delivery_of_a_lost_process_is_tried_again(database: Database, receiver: Receiver, tmp_path: Path) -> None:
    create_webhook(database, receiver.environment, receiver.url, [], by="ann")
    ended_run(database, tmp_path)
    queue = DeliveryQueue(database)
    assert [queue.announce(), queue.announce()] == [1, 0]
    [(lost, _)] = queue.due(9)  # and the process is gone
    assert queue.due(9) == []
    due_again(database)
    assert deliver(database, receiver.environment, tmp_path) == 1
    assert [one.headers["webhook-id"] for one in receiver.heard] == [lost.id]
    queue.delivered(lost, 200, "late")  # by whoever was only slow: it changes nothing
    [row] = WebhookStore(database).deliveries(lost.webhook_id)
    assert (row.attempts, row.answer) == (2, "thanks")


def test_many_messages_of_one_project_keep_no_other_waiting(
    database: Database, receiver: Receiver, tmp_path: Path
) -> None:
    busy = create_webhook(database, receiver.environment, receiver.url, [], by="ann").webhook_id
    for _ in range(6):
        ended_run(database, tmp_path)
    queue = DeliveryQueue(database)
    assert queue.announce() == 6
    second = create_webhook(database, receiver.environment, receiver.url, [], by="ann").webhook_id
    quiet = database.within(Scope("quiet"))
    other = create_webhook(quiet, receiver.environment, receiver.url, [], by="bob").webhook_id
    ended_run(database, tmp_path)
    ended_run(quiet, tmp_path)
    assert queue.announce() == 3
    assert {hook.id for _, hook in queue.due(3)} == {busy, other, second}
    assert [hook.id for _, hook in queue.due(9)] == [busy] * 6


def test_a_day_of_attempts_and_then_no_more(database: Database, receiver: Receiver, tmp_path: Path) -> None:
    assert 20 * 3_600 < sum(AGAIN_SECONDS) < 24 * 3_600
    receiver.answer = lambda exchange: exchange.reply(500, b"x" * 200_000)
    hook = create_webhook(database, receiver.environment, receiver.url, ["run.failed"], by="ann").webhook_id
    ended_run(database, tmp_path)  # nobody wants to hear of this one
    ended_run(database, tmp_path, "failed")
    pauses = []
    for _ in range(len(AGAIN_SECONDS) + 1):
        due_again(database)
        began = time.time()
        assert deliver(database, receiver.environment, tmp_path) == 1
        [row] = WebhookStore(database).deliveries(hook)
        pauses.append(row.next_at - began)
    assert all(0.9 * due - 1 < pause < 1.1 * due + 30 for pause, due in zip(pauses, AGAIN_SECONDS, strict=False))
    assert (row.state, row.attempts, row.status) == ("failed", len(AGAIN_SECONDS) + 1, 500)
    assert row.answer == "x" * 64_000
    assert row.error == "It answered 500."
    due_again(database)
    assert deliver(database, receiver.environment, tmp_path) == 0
    receiver.answer = lambda exchange: exchange.reply(200, b"")
    WebhookStore(database).resend(hook, row.id)
    assert deliver(database, receiver.environment, tmp_path) == 1
    assert read_delivery(database, hook, row.id).state == "delivered"


def test_no_redirect_is_followed_and_no_slow_answer_waited_for(
    database: Database, receiver: Receiver, tmp_path: Path
) -> None:
    hook = create_webhook(database, receiver.environment, receiver.url, [], by="ann").webhook_id
    ended_run(database, tmp_path)
    elsewhere = {"location": f"{receiver.server.url}/secret"}
    receiver.answer = lambda exchange: exchange.reply(302, b"", elsewhere)
    deliver(database, receiver.environment, tmp_path)
    [row] = WebhookStore(database).deliveries(hook)
    assert (row.state, row.error) == ("waiting", "It answered 302: redirects are not followed.")
    assert [one.path for one in receiver.heard] == ["/told"]

    receiver.answer = drip
    due_again(database)
    deliver(database, receiver.environment, tmp_path, seconds=1.0)
    [row] = WebhookStore(database).deliveries(hook)
    assert (row.state, row.error) == ("waiting", "Nothing was answered within 1 s.")


def test_certificates_that_cannot_be_read_are_a_reason_like_others(
    database: Database, receiver: Receiver, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = receiver.url.replace("http://", "https://")
    hook = create_webhook(database, receiver.environment, url, [], by="ann").webhook_id
    ended_run(database, tmp_path)
    monkeypatch.setenv("SSL_CERT_FILE", "missing.pem")
    assert deliver(database, receiver.environment, tmp_path) == 1
    [row] = WebhookStore(database).deliveries(hook)
    assert (row.state, row.attempts) == ("waiting", 1)
    assert row.error is not None
    assert "missing.pem" in row.error


WAITED_FOR: list[str] = []
"""Slow answers that somebody has read to their end."""


async def drip(exchange: Exchange) -> None:
    """An answer of a byte now and then, for much longer than is waited: no single read of it is slow."""
    await exchange.start_stream("text/plain")
    for _ in range(300):
        await exchange.send_chunk(b".")
        await asyncio.sleep(0.05)
    WAITED_FOR.append(exchange.request.path)


def test_no_slow_answer_is_waited_for_over_tls_either(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    authority = Authority(tmp_path)
    monkeypatch.setenv("SSL_CERT_FILE", str(authority.file))
    receiver = Receiver(authority.serving())
    receiver.answer = drip
    with receiver.server:
        hook = create_webhook(database, receiver.environment, receiver.url, [], by="ann").webhook_id
        ended_run(database, tmp_path)
        deliver(database, receiver.environment, tmp_path, seconds=1.0)
    [row] = WebhookStore(database).deliveries(hook)
    assert (row.state, row.error) == ("waiting", "Nothing was answered within 1 s.")
    assert WAITED_FOR == []


def test_a_name_is_looked_at_again_when_it_is_connected_to(
    database: Database, receiver: Receiver, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between the check and the message its owner lets it mean this machine (DNS rebinding)."""
    port, environment = receiver.server.port, {"PROCTOR_SECRET": SECRET}
    means, resolve = ["93.184.215.14"], socket.getaddrinfo

    def lookup(host: str, *arguments: Any, **named: Any) -> Any:
        return resolve(means[0] if host == "hooks.example" else host, *arguments, **named)

    monkeypatch.setattr(socket, "getaddrinfo", lookup)
    hook = create_webhook(database, environment, f"https://hooks.example:{port}/", [], by="ann").webhook_id
    ended_run(database, tmp_path)
    means[0] = "127.0.0.1"
    deliver(database, environment, tmp_path)
    [row] = WebhookStore(database).deliveries(hook)
    assert (row.state, row.status, row.answer) == ("waiting", None, None)
    assert row.error == "Address not allowed: hooks.example is not a public address."
    assert receiver.heard == []
    assert check_address(f"https://hooks.example:{port}/", []) == "hooks.example is not a public address"


def test_without_a_secret_of_the_server_no_webhook_is_kept(database: Database) -> None:
    with pytest.raises(UserError, match="PROCTOR_SECRET"):
        create_webhook(database, {}, "https://hooks.example/", [], by="ann")
    assert WebhookStore(database).listed() == []


def test_a_new_secret_of_the_server_opens_what_was_sealed_before(
    database: Database, receiver: Receiver, tmp_path: Path
) -> None:
    made = create_webhook(database, receiver.environment, receiver.url, [], by="ann")
    second = rotate_secret(database, receiver.environment, made.webhook_id, by="ann")
    other = {**receiver.environment, "PROCTOR_SECRET": f"{SECRET[::-1]},{SECRET}"}
    assert seal_all_anew(database, other, by="ann") == 2
    ended_run(database, tmp_path)
    deliver(database, {**other, "PROCTOR_SECRET": SECRET[::-1]}, tmp_path)
    for secret in (made.secret, second.secret):
        standard.Webhook(secret).verify(receiver.heard[0].body, receiver.heard[0].headers)
