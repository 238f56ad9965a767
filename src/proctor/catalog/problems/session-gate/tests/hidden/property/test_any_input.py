import re

from hypothesis import given, settings
from hypothesis import strategies as st

VALID = re.compile(r"[a-z][a-z0-9_-]{2,31}")
TAKEN = set()


@settings(max_examples=20)
@given(st.from_regex(r"[a-z][a-z0-9_-]{5,20}", fullmatch=True), st.text(min_size=10, max_size=40))
def test_any_valid_account_can_log_in(program, name, password):
    password = password.encode("utf-8", "replace").decode()
    if name in TAKEN:
        return
    TAKEN.add(name)
    account = {"name": name, "password": password}
    assert program.post("/users", json=account).status == 201
    token = program.post("/sessions", json=account).json()["token"]
    assert program.get("/me", headers={"Authorization": f"Bearer {token}"}).json() == {"name": name}


@settings(max_examples=40)
@given(st.text(max_size=40).filter(lambda name: not VALID.fullmatch(name)))
def test_any_name_outside_the_rules_is_refused(program, name):
    assert program.post("/users", json={"name": name, "password": "correct horse"}).status == 422


@settings(max_examples=40)
@given(st.binary(max_size=200))
def test_any_bytes_are_answered(program, body):
    reply = program.post("/sessions", body=body)
    assert reply.status in (400, 401, 422)
    assert program.get("/health").json() == {"status": "ok"}
