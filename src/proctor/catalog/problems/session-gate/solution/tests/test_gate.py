"""Tests of the parts and of the service as a whole."""

import http.client
import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gate.accounts import Accounts, TakenError, is_name, is_password
from gate.lock import LOCK_SECONDS, GuessingLock
from gate.web import Server

ADA = {"name": "ada", "password": "correct horse"}


def test_names_and_passwords_have_rules() -> None:
    assert is_name("ada") and not is_name("Ada") and not is_name(3)
    assert (
        is_password("x" * 10) and not is_password("x" * 201) and not is_password(None)
    )


def test_a_lock_opens_after_a_while() -> None:
    now = [0.0]
    lock = GuessingLock(lambda: now[0])
    for _ in range(5):
        assert lock.wait_seconds("ada") == 0
        lock.fail("ada")
    assert lock.wait_seconds("ada") == LOCK_SECONDS
    now[0] += LOCK_SECONDS
    assert lock.wait_seconds("ada") == 0


def test_a_torn_last_line_is_dropped(tmp_path: Path) -> None:
    journal = tmp_path / "journal.jsonl"
    accounts = Accounts(journal)
    accounts.register("ada", "correct horse")
    token = accounts.open_session("ada")
    accounts.close()
    journal.write_bytes(journal.read_bytes() + b'{"set": "to')
    again = Accounts(journal)
    assert again.is_right("ada", "correct horse") and again.name_of(token) == "ada"
    with pytest.raises(TakenError):
        again.register("ada", "correct horse")
    again.close()


@pytest.fixture
def port(tmp_path: Path) -> Iterator[int]:
    accounts = Accounts(tmp_path / "journal.jsonl")
    with Server(0, accounts) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server.server_address[1]
        server.shutdown()
        thread.join()
    accounts.close()


def ask(
    port: int, method: str, path: str, body: Any = None, token: str = ""
) -> tuple[int, Any]:
    connection = http.client.HTTPConnection("127.0.0.1", port)
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    data = (
        body if isinstance(body, bytes) else None if body is None else json.dumps(body)
    )
    connection.request(method, path, data, headers)
    reply = connection.getresponse()
    text = reply.read()
    connection.close()
    return reply.status, json.loads(text) if text else None


def test_a_whole_life(port: int) -> None:
    assert ask(port, "GET", "/health") == (200, {"status": "ok"})
    assert ask(port, "POST", "/users", ADA)[0] == 201
    assert ask(port, "POST", "/users", ADA)[0] == 409
    assert ask(port, "POST", "/users", {"name": "x"})[0] == 422
    token = ask(port, "POST", "/sessions", ADA)[1]["token"]
    assert ask(port, "GET", "/me", token=token) == (200, {"name": "ada"})
    assert ask(port, "POST", "/password", {"old": "no", "new": ""}, token)[0] == 403
    assert (
        ask(port, "POST", "/password", {"old": ADA["password"], "new": ""}, token)[0]
        == 422
    )
    assert (
        ask(
            port,
            "POST",
            "/password",
            {"old": ADA["password"], "new": "new password"},
            token,
        )[0]
        == 204
    )
    assert ask(port, "DELETE", "/sessions/current", token=token)[0] == 204
    assert ask(port, "GET", "/me", token=token)[0] == 401


def test_what_is_refused(port: int) -> None:
    assert ask(port, "GET", "/nothing")[0] == 404
    assert ask(port, "PUT", "/users")[0] == 405
    assert ask(port, "POST", "/users", b"[]")[0] == 400
    assert ask(port, "POST", "/users", b"x" * 20000)[0] == 413
    assert ask(port, "POST", "/sessions", {"name": 1})[0] == 422
    assert [ask(port, "POST", "/sessions", ADA)[0] for _ in range(6)] == [401] * 5 + [
        429
    ]
