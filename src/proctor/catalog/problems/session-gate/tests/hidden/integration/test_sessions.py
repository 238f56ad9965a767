import itertools
import time

NUMBERS = itertools.count(1)
PASSWORD = "correct horse"


def account(program):
    made = {"name": f"flow-{next(NUMBERS)}", "password": PASSWORD}
    assert program.post("/users", json=made).status == 201
    return made


def token_of(program, made):
    reply = program.post("/sessions", json=made)
    assert reply.status == 201
    return {"Authorization": f"Bearer {reply.json()['token']}"}


def fail(program, name, times):
    return [program.post("/sessions", json={"name": name, "password": "wrong horse!"}).status for _ in range(times)]


def test_keeps_accounts_apart(program):
    first, second = account(program), account(program)
    one, two = token_of(program, first), token_of(program, second)
    assert program.get("/me", headers=one).json() == {"name": first["name"]}
    assert program.get("/me", headers=two).json() == {"name": second["name"]}


def test_only_one_of_many_gets_a_name(program):
    body = {"name": f"race-{next(NUMBERS)}", "password": PASSWORD}
    replies = program.together([("POST", "/users", {"json": body})] * 12)
    assert sorted(reply.status for reply in replies) == [201] + [409] * 11


def test_tokens_never_repeat(program):
    made = account(program)
    replies = program.together([("POST", "/sessions", {"json": made})] * 8)
    assert len({reply.json()["token"] for reply in replies}) == 8


def test_ends_one_session(program):
    made = account(program)
    one, two = token_of(program, made), token_of(program, made)
    reply = program.delete("/sessions/current", headers=one)
    assert (reply.status, reply.body) == (204, b"")
    assert program.get("/me", headers=one).status == 401
    assert program.get("/me", headers=two).status == 200


def test_changes_a_password(program):
    made = account(program)
    mine = token_of(program, made)
    reply = program.post("/password", json={"old": PASSWORD, "new": "another horse"}, headers=mine)
    assert (reply.status, reply.body) == (204, b"")
    assert program.get("/me", headers=mine).status == 200
    assert fail(program, made["name"], 1) == [401]
    assert program.post("/sessions", json=made).status == 401
    token_of(program, {**made, "password": "another horse"})


def test_a_changed_password_ends_other_sessions(program):
    made, other = account(program), account(program)
    mine, elsewhere, foreign = token_of(program, made), token_of(program, made), token_of(program, other)
    assert program.post("/password", json={"old": PASSWORD, "new": "another horse"}, headers=mine).status == 204
    assert program.get("/me", headers=elsewhere).status == 401
    assert program.get("/me", headers=foreign).status == 200


def test_locks_a_name_after_five_failures(program):
    made = account(program)
    assert fail(program, made["name"], 5) == [401] * 5
    reply = program.post("/sessions", json=made)
    assert reply.status == 429
    assert 1 <= int(reply.headers["Retry-After"]) <= 3


def test_locks_unknown_names_as_well(program):
    name = f"nobody-{next(NUMBERS)}"
    assert fail(program, name, 7) == [401] * 5 + [429] * 2


def test_a_lock_is_for_one_name(program):
    locked, other = account(program), account(program)
    assert fail(program, locked["name"], 6)[-1] == 429
    token_of(program, other)


def test_a_lock_ends(program):
    """Also while somebody goes on guessing: what is answered with 429 is not counted."""
    made = account(program)
    assert fail(program, made["name"], 5) == [401] * 5
    time.sleep(2)
    assert fail(program, made["name"], 1) == [429]
    assert program.post("/sessions", json=made).status == 429
    time.sleep(1.5)
    token_of(program, made)


def test_a_success_forgets_failures(program):
    made = account(program)
    for _ in range(3):
        assert fail(program, made["name"], 4) == [401] * 4
        token_of(program, made)


def test_accounts_survive_a_restart(program):
    made = account(program)
    program.restart()
    token_of(program, made)
    assert program.post("/users", json=made).status == 409


def test_accounts_survive_a_kill(program):
    made = account(program)
    program.kill()
    program.restart()
    token_of(program, made)


def test_sessions_survive_a_restart(program):
    made = account(program)
    mine, ended = token_of(program, made), token_of(program, account(program))
    assert program.delete("/sessions/current", headers=ended).status == 204
    program.restart()
    assert program.get("/me", headers=mine).json() == {"name": made["name"]}
    assert program.get("/me", headers=ended).status == 401
