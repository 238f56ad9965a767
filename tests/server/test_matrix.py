"""Each route that names an object, with another project's object, as each role: answered as if there were none.

On SQLite and on PostgreSQL, there as a user whom row-level security holds. The objects are real: their owner sees them.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from proctor.accounts.keys import create_key
from proctor.accounts.people import add_user, set_password
from proctor.accounts.projects import add_project, set_member
from proctor.domain.role import PERMISSIONS as OF_ROLE
from proctor.domain.role import Role
from proctor.server.access import PERMISSIONS, V1
from proctor.server.sign_in import COOKIE
from proctor.stores.database import open_database
from server.serving import SECRET, Answer, Server, serving
from stores.test_scope import ordinary_database

PASSWORD = "a marked password 7261"
PLAN: dict[str, Any] = {"models": ["demo/weak"], "benchmarks": [{"benchmark": "puzzles", "limit": 3}]}
UNKNOWN = {
    "run_id": "0000000000zz", "plan_id": "p-000", "comment_id": "c-000", "key_id": "nokeyatall0", "project": "nowhere",
    "connection_id": "c-000000000000", "webhook_id": "w-000", "delivery_id": "d-000", "file_id": "f-000",
    "ask_id": "a-000", "token_id": "t-000", "session": "0" * 16, "submission_id": "s-000", "result_id": "999999",
    "position": "0", "user": "viewer", "rescoring_id": "r-000",
}  # fmt: skip
"""What there is not, by the name that paths have for it."""
BODIES: dict[tuple[str, str], Any] = {
    ("POST", "comments"): {"text": "seen"},
    ("PUT", "label"): {"value": 1},
    ("PUT", "{user}"): {"role": "viewer"},
    ("PUT", "{plan_id}"): {"name": "taken", "plan": PLAN},
    ("POST", "rescore"): {"use": ["x"]},
    ("POST", "votes"): {"best": ["a"]},
    ("POST", "stop"): {},
}
"""What a request must say to be looked at, by its method and the end of its path."""
ROLES = ("viewer", "editor", "owner", "key")
OBJECTS = sorted(
    route for route in PERMISSIONS if set(re.findall(r"\{(\w+)\}", route[1])) & (UNKNOWN.keys() - {"user", "position"})
)


@dataclass
class Matrix:
    """A server, who calls it from acme, and what belongs to other."""

    server: Server
    callers: dict[str, dict[str, str]]
    theirs: dict[str, str]

    def ask(self, who: str, method: str, path: str, named: dict[str, str], body: Any = None) -> Answer:
        return self.server.ask(method, filled(path, named), body, **self.callers[who])


def filled(path: str, named: dict[str, str]) -> str:
    return re.sub(r"\{(\w+)\}", lambda part: named[part[1]], path)


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def matrix(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Matrix]:
    folder = tmp_path_factory.mktemp("matrix")
    if request.param == "sqlite":
        yield from serve(folder / "home", folder, f"sqlite:///{folder / 'a.db'}")
        return
    with ordinary_database() as url:
        yield from serve(folder / "home", folder, url)


def serve(home: Any, folder: Any, url: str) -> Iterator[Matrix]:
    given = {"PROCTOR_SECRET": SECRET, "PROCTOR_DATABASE_URL": url, "PROCTOR_WEBHOOK_HOSTS": "127.0.0.1"}
    with serving(home, folder, "--accounts", **given) as server:
        database = open_database(url)
        callers = {}
        try:
            for project in ("acme", "other"):
                add_project(database, project, by="test")
            scopes = ["benchmark:read", "benchmark:write", "run:read", "run:write", "results:read", "project:admin"]
            callers["key"] = {"Authorization": f"Bearer {create_key(database, 'acme', scopes, by='test').text}"}
            for name, project, role in (*((one, "acme", one) for one in ROLES[:3]), ("stranger", "other", "owner")):
                set_password(database, add_user(database, name, is_admin=False, by="test").token, PASSWORD)
                set_member(database, project, name, role, by="test")
        finally:
            database.dispose()
        for name in (*ROLES[:3], "stranger"):
            answer = server.post(f"{V1}/auth/sign-in", {"name": name, "password": PASSWORD})
            token = answer.headers["set-cookie"].split("=", 1)[1].split(";")[0]
            callers[name] = {"Cookie": f"{COOKIE}={token}", "X_CSRF_Token": answer.json["csrf_token"]}
        found = Matrix(server, callers, {})
        found.theirs |= UNKNOWN | made_by_stranger(found)
        yield found


def made_by_stranger(matrix: Matrix) -> dict[str, str]:
    """An object of each kind; what they are called is found as their owner finds it."""

    def make(path: str, body: Any) -> Any:
        answer = matrix.ask("stranger", "POST", f"{V1}{path}", {}, body)
        assert answer.status in (201, 202), (path, answer.body)
        return answer.json

    def read(path: str) -> Any:
        return matrix.ask("stranger", "GET", f"{V1}{path}", {}).json

    run_id = make("/runs", PLAN)["run_id"]
    until_ended(matrix, run_id)
    make("/auth/tokens", {})
    ask = make("/playground", {"models": ["demo/weak"], "prompt": "Hello"})
    return {
        "run_id": run_id,
        "project": "other",
        "result_id": str(read(f"/runs/{run_id}/results")["items"][0]["result_id"]),
        "rescoring_id": make(f"/runs/{run_id}/rescore", {"scorers": ["exact"], "keep": True})["rescoring_id"],
        "comment_id": make(f"/runs/{run_id}/comments", {"text": "ours"})["comment_id"],
        "plan_id": make("/plans", {"name": "weekly", "plan": PLAN})["plan_id"],
        "key_id": make("/keys", {"scopes": ["run:read"]})["key_id"],
        "connection_id": make("/provider-keys", {"provider": "openai", "key": "sk-1"})["connection_id"],
        "webhook_id": make("/webhooks", {"url": "http://127.0.0.1:9/hook", "events": []})["webhook_id"],
        "ask_id": ask["ask_id"],
        "token_id": read("/auth/tokens")[0]["token_id"],
        "session": read("/auth/sessions")[0]["session_id"],
    }


def until_ended(matrix: Matrix, run_id: str) -> None:
    until = time.monotonic() + 120
    while matrix.ask("stranger", "GET", f"{V1}/runs/{run_id}", {}).json["status"] != "completed":
        assert time.monotonic() < until
        time.sleep(0.2)


def masked(answer: Answer, named: dict[str, str]) -> str:
    """Without the names in it, and without what is different in each request."""
    text = re.sub(r'"request_id":"[^"]*"', "", answer.body.decode())
    text = re.sub(rf"result {named['result_id']} of", "result NAME of", text)
    for name in sorted(set(named.values()), key=len, reverse=True):
        text = text.replace(f"'{name}'", "NAME").replace(name, "NAME") if len(name) > 2 else text
    return text


@pytest.mark.parametrize(("method", "path"), OBJECTS)
def test_another_projects_object_is_as_unknown_as_none(matrix: Matrix, method: str, path: str) -> None:
    body = BODIES.get((method, path.rpartition("/")[2]), {} if method in ("POST", "PUT", "PATCH") else None)
    needed = PERMISSIONS[method, path]
    for role in ROLES:
        foreign = matrix.ask(role, method, path, matrix.theirs, body)
        unknown = matrix.ask(role, method, path, UNKNOWN, body)
        is_granted = role == "key" or needed == "signed-in" or needed in OF_ROLE[Role(role)]
        expected = (404, 422) if is_granted and method in ("POST", "PUT", "PATCH") else (404,) if is_granted else (403,)
        assert foreign.status == unknown.status, (role, foreign.body, unknown.body)
        assert foreign.status in expected, (role, foreign.body)
        assert masked(foreign, matrix.theirs) == masked(unknown, UNKNOWN), role


@pytest.mark.parametrize(("method", "path"), [one for one in OBJECTS if one[0] == "GET"])
def test_its_owner_sees_it(matrix: Matrix, method: str, path: str) -> None:
    """So that the others prove something."""
    known = {name for name, value in matrix.theirs.items() if value != UNKNOWN[name]}
    named = set(re.findall(r"\{(\w+)\}", path)) & UNKNOWN.keys()
    if not named <= known:
        pytest.skip(f"no {', '.join(sorted(named - known))} is made here")
    status = matrix.ask("stranger", method, path, matrix.theirs).status
    assert status in (200, 409, 422), status  # there, though not yet what is asked for, or asked for without a choice


def test_nothing_of_theirs_was_changed(matrix: Matrix) -> None:
    """After every request of the others."""
    assert matrix.ask("stranger", "GET", f"{V1}/runs/{{run_id}}", matrix.theirs).json["status"] == "completed"
    assert len(matrix.ask("stranger", "GET", f"{V1}/runs/{{run_id}}/comments", matrix.theirs).json["items"]) == 1
    assert matrix.ask("stranger", "GET", f"{V1}/plans/{{plan_id}}", matrix.theirs).json["name"] == "weekly"
    assert len(matrix.ask("stranger", "GET", f"{V1}/provider-keys", {}).json) == 1
    assert len(matrix.ask("stranger", "GET", f"{V1}/auth/tokens", {}).json) == 1
