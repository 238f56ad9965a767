from __future__ import annotations

import re
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from alembic import command
from alembic.script import ScriptDirectory
from sqlalchemy import create_engine

from proctor.domain.errors import StoreError, UserError
from proctor.stores.database import NewerDatabaseError, open_database
from proctor.stores.schema import as_sqlite_script, metadata
from proctor.stores.submissions import SubmissionStore
from proctor.stores.upgrade import HEAD, configuration, upgrade


def url(path: Path) -> str:
    return f"sqlite:///{path}"


def structure(path: Path) -> dict[str, str]:
    """What a database is made of, by name, white space and quotes apart."""
    with closing(sqlite3.connect(path)) as connection:
        rows = connection.execute(
            "SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite%'"
        ).fetchall()
    return {name: re.sub(r'[\s"]+', "", sql).lower() for name, sql in rows}


def columns(path: Path) -> dict[str, list[tuple[object, ...]]]:
    with closing(sqlite3.connect(path)) as connection:
        names = [
            row[0]
            for row in connection.execute(
                "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%'"
            )
        ]
        return {name: connection.execute(f"PRAGMA table_info({name})").fetchall() for name in sorted(names)}


def test_a_new_database_is_what_the_migrations_make(tmp_path: Path) -> None:
    open_database(url(tmp_path / "new.db"))
    upgrade(url(tmp_path / "migrated.db"))
    assert columns(tmp_path / "new.db") == columns(tmp_path / "migrated.db")
    assert set(structure(tmp_path / "new.db")) == set(structure(tmp_path / "migrated.db"))


def test_the_packaged_script_is_the_schema() -> None:
    packaged = (Path(__file__).parents[2] / "src/proctor/stores/schema.sql").read_text(encoding="utf-8")
    assert packaged == as_sqlite_script()


def test_the_schema_can_be_made_by_sqlalchemy_alone(tmp_path: Path) -> None:
    engine = create_engine(url(tmp_path / "made.db"))
    metadata.create_all(engine)
    engine.dispose()
    open_database(url(tmp_path / "new.db"))
    made, new = structure(tmp_path / "made.db"), structure(tmp_path / "new.db")
    new.pop("alembic_version")
    assert made == new


def test_head_is_the_newest_migration() -> None:
    assert ScriptDirectory.from_config(configuration()).get_current_head() == HEAD


def test_opening_twice_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    open_database(url(path))
    before = structure(path)
    open_database(url(path))
    assert structure(path) == before


def test_a_database_of_a_newer_version_is_refused_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    open_database(url(path))
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
    with pytest.raises(NewerDatabaseError, match=r"newer version of Proctor \(schema 9999"):
        open_database(url(path))
    assert NewerDatabaseError.exit_code == 2


def test_a_database_of_an_older_version_is_migrated_and_a_copy_is_kept(tmp_path: Path) -> None:
    """The oldest version is the empty one: Alembic's table and nothing else."""
    path = tmp_path / "a.db"
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL)")
    open_database(url(path))
    assert "responses" in structure(path)
    [copy] = tmp_path.glob("a.db.before-*")
    assert set(structure(copy)) == {"alembic_version"}


@pytest.mark.parametrize("version", ["0001", "0002", "0003", "0004", "0005"])
def test_a_database_of_any_earlier_version_keeps_its_data_and_takes_submissions(tmp_path: Path, version: str) -> None:
    path = tmp_path / "a.db"
    engine = create_engine(url(path))
    with engine.begin() as connection:
        command.upgrade(configuration(connection), version)
    engine.dispose()
    row = ("r1", "old", "completed", "{}", "/x", "0.1.0", "2026-01-01T00:00:00+00:00")
    with closing(sqlite3.connect(path)) as raw, raw:
        raw.execute(
            "INSERT INTO runs (id, name, status, plan, folder, version, created_at) VALUES (?,?,?,?,?,?,?)", row
        )
    database = open_database(url(path))
    with closing(sqlite3.connect(path)) as raw:
        kept = raw.execute("SELECT id, name, status, plan, folder, version, created_at FROM runs").fetchall()
    assert kept == [row]
    marking = {"total": 0.5, "covers": 1.0, "passed": False, "grade": None, "is_forgeable": False}
    added = SubmissionStore(database).add("mine", ("add-up", "d1"), None, "3", marking)
    assert SubmissionStore(database).listed("add-up") == [added]
    assert (added.marks.total, added.marks.passed, added.problem_folder) == (0.5, False, None)


def test_a_database_of_another_program_is_not_touched(tmp_path: Path) -> None:
    path = tmp_path / "theirs.db"
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("CREATE TABLE theirs (x)")
    with pytest.raises(UserError, match="another program"):
        open_database(url(path))
    assert set(structure(path)) == {"theirs"}


def test_a_damaged_file_is_named(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    path.write_bytes(b"this is not a database at all, not even nearly" * 100)
    with pytest.raises(StoreError, match=r"a\.db is damaged or is no database"):
        open_database(url(path))


def test_a_home_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(StoreError, match="Set PROCTOR_HOME"):
        open_database(url(tmp_path / "file" / "home" / "a.db"))


def test_a_lock_that_lasts_is_named(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    open_database(url(path))
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("PRAGMA journal_mode=DELETE")
        other.execute("BEGIN EXCLUSIVE")
        with pytest.raises(StoreError, match="locked by another program"):
            open_database(f"{url(path)}?timeout=0.1")


@pytest.mark.parametrize(
    "bad",
    [
        "mysql://host/db",
        "postgresql://host",
        "postgresql://host/db?pool_size=x",
        "sqlite:///",
        "sqlite:////x.db?timeout=soon",
        "sqlite:////x.db?a=b",
    ],
)
def test_an_address_that_cannot_be_used_is_refused(bad: str) -> None:
    with pytest.raises(UserError, match="PROCTOR_DATABASE_URL"):
        open_database(bad)
