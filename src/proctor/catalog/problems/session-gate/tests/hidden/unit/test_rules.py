import itertools
import re

import pytest

NUMBERS = itertools.count(1)


def account(program):
    made = {"name": f"unit-{next(NUMBERS)}", "password": "correct horse"}
    assert program.post("/users", json=made).status == 201
    return made


def login(program, made):
    return program.post("/sessions", json=made)


def bearer(token):
    return {"Authorization": f"Bearer {token}"}


@pytest.mark.parametrize(
    "name", ["", "ab", "a" * 33, "1abc", "-abc", "Abcd", "ab cd", "ab.cd", "äbcd", None, 12345, ["abc"], True]
)
def test_refuses_bad_names(program, name):
    reply = program.post("/users", json={"name": name, "password": "correct horse"})
    assert reply.status == 422
    assert isinstance(reply.json()["error"], str)


@pytest.mark.parametrize("password", ["", "123456789", "x" * 201, None, 1234567890, {"a": 1}])
def test_refuses_bad_passwords(program, password):
    name = f"unit-{next(NUMBERS)}"
    assert program.post("/users", json={"name": name, "password": password}).status == 422
    assert program.post("/users", json={"name": name, "password": "correct horse"}).status == 201


def test_refuses_a_name_that_is_taken(program):
    made = account(program)
    assert program.post("/users", json={**made, "password": "another horse"}).status == 409
    assert login(program, made).status == 201


def test_gives_a_token(program):
    reply = login(program, account(program))
    assert reply.status == 201
    assert re.fullmatch(r"[A-Za-z0-9_-]{32,}", reply.json()["token"])


def test_does_not_tell_whether_an_account_exists(program):
    made = account(program)
    wrong = login(program, {**made, "password": "wrong horse!"})
    unknown = login(program, {"name": f"stranger-{next(NUMBERS)}", "password": "wrong horse!"})
    assert (wrong.status, unknown.status) == (401, 401)
    assert wrong.json() == unknown.json()


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [("GET", "/me", None), ("DELETE", "/sessions/current", None), ("POST", "/password", {"old": "a", "new": "b"})],
)
def test_asks_for_a_token(program, method, path, body):
    reply = program.request(method, path, json=body)
    assert reply.status == 401
    assert reply.headers["WWW-Authenticate"].startswith("Bearer")


def test_refuses_forged_tokens(program):
    token = login(program, account(program)).json()["token"]
    changed = token[:-1] + ("A" if token[-1] != "A" else "B")
    for bad in (changed, token + "x", token[:-1], "x" * len(token)):
        reply = program.get("/me", headers=bearer(bad))
        assert reply.status == 401
        assert reply.headers["WWW-Authenticate"].startswith("Bearer")
    assert program.get("/me", headers={"Authorization": token}).status == 401
    assert program.get("/me", headers={"Authorization": f"Basic {token}"}).status == 401


def test_refuses_a_bad_change(program):
    made = account(program)
    token = login(program, made).json()["token"]
    change = {"old": "wrong horse!", "new": "another horse"}
    assert program.post("/password", json=change, headers=bearer(token)).status == 403
    assert program.post("/password", json={"old": "wrong horse!", "new": "short"}, headers=bearer(token)).status == 403
    assert program.post("/password", json={**change, "old": made["password"], "new": "short"}, headers=bearer(token)).status == 422
    assert login(program, made).status == 201
    assert program.get("/me", headers=bearer(token)).status == 200


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b'"text"', b"12", b"\xff\xfe", b"null"])
def test_refuses_what_is_no_json_object(program, body):
    for path in ("/users", "/sessions"):
        reply = program.post(path, body=body, headers={"content-type": "application/json"})
        assert reply.status == 400
        assert "error" in reply.json()


def test_refuses_large_bodies(program):
    fits = b'{"name": 1, "password": "' + b"x" * (16384 - 27) + b'"}'
    assert len(fits) == 16384
    assert program.post("/users", body=fits).status == 422
    assert program.post("/users", body=fits[:-2] + b'x"}').status == 413


def test_unknown_paths_and_methods(program):
    assert program.get("/nothing").status == 404
    assert program.post("/me/too", json={}).status == 404
    reply = program.put("/users", json={})
    assert reply.status == 405
    assert "POST" in reply.headers["Allow"]
    reply = program.post("/me", json={})
    assert reply.status == 405
    assert "GET" in reply.headers["Allow"]
