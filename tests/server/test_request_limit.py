"""Requests of an address, a key and a user are limited; what is left is in every answer."""

from __future__ import annotations

from pathlib import Path

import pytest

from proctor.accounts.keys import create_key
from proctor.server.access import V1
from proctor.stores.database import open_database
from server.serving import SECRET, Server, serving

pytestmark = pytest.mark.sqlite


def left_of(server: Server, path: str, **headers: str) -> int | None:
    """What is left after this request; None once it is refused."""
    answer = server.ask("GET", path, **headers)
    assert answer.headers.get("ratelimit-policy") == '"requests";q=40;w=60' or answer.status == 429, answer.headers
    if answer.status == 429:
        assert answer.json["type"].endswith("#limit-reached")
        assert 1 <= int(answer.headers["retry-after"]) <= 60
        return None
    return int(answer.headers["ratelimit"].split("r=")[1].split(";")[0])


def test_more_requests_than_allowed_are_told_when_to_come_again(tmp_path: Path) -> None:
    given = {"PROCTOR_REQUESTS_PER_MINUTE": "40", "PROCTOR_SECRET": SECRET}
    with serving(tmp_path / "home", tmp_path, "--accounts", "--trusted-proxy", "127.0.0.1", *ORIGIN, **given) as server:
        database = open_database(f"sqlite:///{tmp_path / 'home' / 'proctor.db'}")
        keys = [create_key(database, "local", ["run:read"], by="test").text for _ in range(2)]
        database.dispose()

        def get(number: int, address: str) -> int | None:
            sent = {"Authorization": f"Bearer {keys[number]}", "X_Forwarded_For": address}
            return left_of(server, f"{V1}/runs", **sent)

        found = [get(0, f"192.0.2.{number}") for number in range(100)]  # one key from many places
        assert None in found
        assert found[0] == 39
        assert get(1, "192.0.2.200") is not None  # another key is not held up by it
        sent = [
            left_of(server, f"{V1}/version", X_Forwarded_For="203.0.113.5") for _ in range(100)
        ]  # nobody's, one place
        assert None in sent
        assert left_of(server, f"{V1}/version", X_Forwarded_For="203.0.113.6") is not None
        for _ in range(100):  # a flood is no reason to restart the server
            assert server.ask("GET", "/health", X_Forwarded_For="203.0.113.5").status == 200


ORIGIN = ("--origin", "https://127.0.0.1")


def test_without_accounts_nobody_is_limited(server: Server) -> None:
    assert "ratelimit" not in server.ask("GET", f"{V1}/runs").headers
