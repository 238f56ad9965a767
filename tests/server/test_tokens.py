"""Access and refresh tokens over the API: from a session, for minutes, ended at once with all that they follow."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from proctor.accounts.people import add_user, set_disabled, set_password
from proctor.accounts.projects import add_project, set_member
from proctor.server.access import V1
from proctor.server.sign_in import COOKIE
from proctor.stores.database import Database, open_database
from server.serving import SECRET, Answer, Server, serving

pytestmark = pytest.mark.sqlite
PASSWORD = "a marked password 7261"
SLOW: dict[str, Any] = {
    "models": ["demo/strong?delay_ms=2000"],
    "benchmarks": [{"benchmark": "puzzles", "limit": 200}],
    "limits": {"concurrency": 1},
}


class Signed:
    """Somebody who has signed in, and what he was given."""

    def __init__(self, server: Server, database: Database, name: str) -> None:
        self.server, self.name = server, name
        set_password(database, add_user(database, name, is_admin=False, by="test").token, PASSWORD)
        set_member(database, "acme", name, "owner", by="test")
        answer = server.post(f"{V1}/auth/sign-in", {"name": name, "password": PASSWORD})
        token = answer.headers["set-cookie"].split("=", 1)[1].split(";")[0]
        self.session = {"Cookie": f"{COOKIE}={token}", "X_CSRF_Token": answer.json["csrf_token"]}

    def issue(self, *scopes: str) -> Any:
        made = self.server.post(f"{V1}/auth/tokens", {"scopes": list(scopes)}, **self.session)
        assert made.status == 201, made.body
        return made.json

    def ask(self, token: str, method: str, path: str, body: Any = None) -> Answer:
        return self.server.ask(method, f"{V1}{path}", body, Authorization=f"Bearer {token}")


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Server, Database]]:
    folder: Path = tmp_path_factory.mktemp("tokens")
    with serving(folder / "home", folder, "--accounts", PROCTOR_SECRET=SECRET) as server:
        database = open_database(f"sqlite:///{folder / 'home' / 'proctor.db'}")
        add_project(database, "acme", by="test")
        yield server, database
        database.dispose()


def test_a_session_gets_tokens_that_do_what_they_may(place: tuple[Server, Database]) -> None:
    ada = Signed(*place, "ada")
    made = ada.issue("run:read", "project:admin")
    token = made["access_token"]
    assert (made["token_type"], made["expires_in"], made["project"]) == ("Bearer", 600, "acme")
    assert ada.ask(token, "GET", "/auth/me").json["permissions"] == ["project:admin", "run:read"]
    assert ada.ask(token, "GET", "/runs").status == 200
    assert ada.ask(token, "POST", "/runs", SLOW).status == 403
    assert ada.server.ask("GET", f"{V1}/runs", Authorization=f"Bearer {token}", Proctor_Project="other").status == 404
    assert ada.ask(token, "POST", "/auth/tokens", {}).status == 403  # nobody makes a longer one of it
    assert place[0].post(f"{V1}/auth/tokens", {"scopes": ["admin:full"]}, **ada.session).status == 403
    assert place[0].post(f"{V1}/auth/tokens", {"scopes": ["run:writ"]}, **ada.session).status == 422

    listed = ada.ask(token, "GET", "/auth/tokens")
    assert [one["scopes"] for one in listed.json] == [["project:admin", "run:read"]]
    for secret in (token, made["refresh_token"]):
        assert secret.encode() not in listed.body
    assert ada.ask(token, "DELETE", "/auth/tokens/t-0000").status == 404
    assert ada.ask(token, "DELETE", f"/auth/tokens/{listed.json[0]['token_id']}").status == 204
    assert ada.ask(token, "GET", "/runs").status == 401


def test_a_refresh_token_that_comes_twice_ends_the_family(place: tuple[Server, Database]) -> None:
    bob = Signed(*place, "bob")
    first = bob.issue()
    second = place[0].post(f"{V1}/auth/refresh", {"refresh_token": first["refresh_token"]}).json
    assert bob.ask(second["access_token"], "GET", "/runs").status == 200
    assert bob.ask(first["access_token"], "GET", "/runs").status == 200  # it was stolen by nobody yet
    assert place[0].post(f"{V1}/auth/refresh", {"refresh_token": first["refresh_token"]}).status == 401
    for token in (first["access_token"], second["access_token"]):
        assert bob.ask(token, "GET", "/runs").status == 401
    assert place[0].post(f"{V1}/auth/refresh", {"refresh_token": second["refresh_token"]}).status == 401


def test_a_disabled_users_tokens_and_streams_end(place: tuple[Server, Database]) -> None:
    eve = Signed(*place, "eve")
    token = eve.issue()["access_token"]
    run_id = eve.ask(token, "POST", "/runs", SLOW).json["run_id"]
    connection, stream = place[0].open(
        "GET", f"{V1}/runs/{run_id}/events", headers={"Authorization": f"Bearer {token}"}
    )
    assert stream.status == 200
    set_disabled(place[1], "eve", is_disabled=True, by="test")
    assert eve.ask(token, "GET", "/runs").status == 401
    began = time.monotonic()
    assert b"event: finished" not in stream.read()  # to its end, which would be minutes away
    assert time.monotonic() - began < 30
    connection.close()
