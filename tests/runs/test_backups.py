"""Backups: everything of one moment, whole or not at all, and the same when it is restored."""

from __future__ import annotations

import base64
import gzip
import os
import shutil
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import orjson
import pytest

import postgres
import proctor
from commands import Cli
from proctor.domain.documents.backup import MadeBackup
from proctor.domain.errors import ProctorError, StoreError, UserError
from proctor.runs.storage.backups import find_backup, list_backups, make_backup, prune_backups, verify_backup
from proctor.runs.storage.restoring import restore_backup
from proctor.stores.artifacts.folder import FolderArtifacts
from proctor.stores.backups.manifest import ROWS
from proctor.stores.backups.places import FolderPlace
from proctor.stores.backups.rows import TableDigest, lines_of, read_rows
from proctor.stores.backups.sealing import BackupKey
from proctor.stores.database import Database, locate_database, open_database
from proctor.stores.upgrade import HEAD
from stores.parts import new_database

KEY = BackupKey(bytes(range(32)))
OTHER_KEY = BackupKey(bytes(32))
SECRET_ANSWER = b"nobody may read this"


@pytest.fixture
def stored(home: Path) -> Iterator[tuple[Database, FolderArtifacts]]:
    """A run, and two artifacts."""
    proctor.evaluate("puzzles", models=["demo/strong", "demo/weak"], limit=6)
    artifacts = FolderArtifacts(home / "artifacts")
    artifacts.put("one", SECRET_ANSWER)
    artifacts.put("two", bytes(3_000_000))
    database = new_database(home)
    yield database, artifacts
    database.dispose()


@pytest.fixture
def place(tmp_path: Path) -> FolderPlace:
    return FolderPlace(tmp_path / "backups")


def elsewhere(tmp_path: Path) -> tuple[Database, FolderArtifacts]:
    """An empty place: a file that is not there yet."""
    return locate_database(f"sqlite:///{tmp_path / 'new' / 'proctor.db'}"), FolderArtifacts(tmp_path / "new-artifacts")


def rows(database: Database) -> list[str]:
    """Every result of every run, as an export has it."""
    with database.connection() as connection:
        runs = [row[0] for row in connection.execute("SELECT id FROM runs ORDER BY id").fetchall()]
    from proctor.runs.results import read_rows

    return [orjson.dumps(row.document).decode() for run in runs for row in read_rows(database, run)]


@pytest.mark.parametrize("key", [None, KEY], ids=["plain", "encrypted"])
def test_what_is_restored_is_what_was_there(
    stored: tuple[Database, FolderArtifacts], place: FolderPlace, tmp_path: Path, key: BackupKey | None
) -> None:
    database, artifacts = stored
    made = make_backup(database, artifacts, place, key)
    assert verify_backup(place, find_backup(place, None, key), key).faults == []
    restored, their_artifacts = elsewhere(tmp_path)
    restore_backup(restored, their_artifacts, place, key)
    assert rows(restored) == rows(database) != []
    assert sorted(their_artifacts.keys()) == sorted(artifacts.keys())
    assert made.backup.runs == 1
    assert make_backup(restored, their_artifacts, place, key).new_artifacts == 0  # bodies are kept once
    restored.dispose()


def test_a_file_is_restored_to_a_server_which_goes_on_counting(home: Path, place: FolderPlace) -> None:
    server = postgres.server()
    if server is None or "PROCTOR_DATABASE_URL" in os.environ:
        pytest.skip("there is no PostgreSQL server here, or nothing is in a file")
    run = proctor.evaluate("puzzles", models="demo/strong", limit=3)
    artifacts = FolderArtifacts(home / "artifacts")
    database = new_database(home)
    make_backup(database, artifacts, place, None)
    with server.new_database(is_empty=True) as url:
        target = locate_database(url)
        restore_backup(target, FolderArtifacts(home / "others"), place, None)
        assert rows(target) == rows(database)
        target.dispose()
        os.environ["PROCTOR_DATABASE_URL"] = url
        try:
            assert proctor.evaluate("puzzles", models="demo/strong", limit=3).id != run.id
        finally:
            del os.environ["PROCTOR_DATABASE_URL"]
    database.dispose()


class WritingMeanwhile(FolderPlace):
    """A run is made, answered and finished after the first bytes of the rows were read."""

    def put(self, name: str, chunks: Iterable[bytes]) -> int:
        def read() -> Iterator[bytes]:
            source = iter(chunks)
            yield next(source)
            proctor.evaluate("puzzles", models="demo/average", limit=4, cache=False)
            yield from source

        return super().put(name, read() if name.endswith(".rows.gz") else chunks)


def test_a_run_that_is_made_meanwhile_is_in_the_next_backup(
    stored: tuple[Database, FolderArtifacts], tmp_path: Path
) -> None:
    database, artifacts = stored
    before = rows(database)
    make_backup(database, artifacts, WritingMeanwhile(tmp_path / "backups"), None)
    restored, their_artifacts = elsewhere(tmp_path)
    restore_backup(restored, their_artifacts, FolderPlace(tmp_path / "backups"), None)
    assert rows(restored) == before
    assert len(rows(database)) == len(before) + 4
    restored.dispose()


@pytest.mark.sqlite
def test_an_encrypted_backup_shows_nothing_and_opens_with_its_key_only(
    stored: tuple[Database, FolderArtifacts], place: FolderPlace, tmp_path: Path
) -> None:
    make_backup(*stored, place, KEY)
    files = [path for path in (tmp_path / "backups").rglob("*") if path.is_file()]
    names = " ".join(str(path) for path in files)
    assert all(SECRET_ANSWER not in path.read_bytes() for path in files)
    assert all(key[2:] not in names for key in stored[1].keys())  # noqa: SIM118
    for key, said in ((None, "is encrypted: set PROCTOR_BACKUP_KEY"), (OTHER_KEY, "encrypted with another key")):
        with pytest.raises(UserError, match=said):
            find_backup(place, None, key)


@pytest.mark.sqlite
@pytest.mark.parametrize("key", [None, KEY], ids=["plain", "encrypted"])
def test_every_changed_byte_is_found(
    stored: tuple[Database, FolderArtifacts], place: FolderPlace, tmp_path: Path, key: BackupKey | None
) -> None:
    make_backup(*stored, place, key)
    manifest = find_backup(place, None, key)
    files = [path for path in (tmp_path / "backups").rglob("*") if path.is_file() and path.name != "manifest.json"]
    assert len(files) == 4
    for path in files:
        whole = path.read_bytes()
        for spoilt in (whole[: len(whole) // 2], whole[:-9] + bytes([whole[-9] ^ 1]) + whole[-8:], b""):
            path.write_bytes(spoilt)
            assert verify_backup(place, manifest, key).faults, path
            restored, their_artifacts = elsewhere(tmp_path / str(len(spoilt)) / path.name)
            with pytest.raises(ProctorError):
                restore_backup(restored, their_artifacts, place, key)
            restored.dispose()
        path.write_bytes(whole)
    assert verify_backup(place, manifest, key).faults == []


@pytest.mark.sqlite
def test_parts_of_encrypted_files_cannot_be_swapped() -> None:
    sealed = {name: list(KEY.seal(name, [bytes(1_500_000), b"end"])) for name in ("a", "b")}
    assert b"".join(KEY.open("a", sealed["a"])) == bytes(1_500_000) + b"end"
    for name, pieces in (("b", sealed["a"]), ("a", sealed["a"][:-1]), ("a", [sealed["a"][0], *sealed["a"][:0:-1]])):
        with pytest.raises(StoreError):
            list(KEY.open(name, pieces))
    assert list(KEY.open("empty", KEY.seal("empty", []))) == [b""]


@pytest.mark.sqlite
def test_only_an_empty_place_is_restored_to(
    stored: tuple[Database, FolderArtifacts], place: FolderPlace, tmp_path: Path
) -> None:
    database, artifacts = stored
    make_backup(database, artifacts, place, None)
    with pytest.raises(UserError, match="is not empty"):
        restore_backup(database, FolderArtifacts(tmp_path / "others"), place, None)
    restored, their_artifacts = elsewhere(tmp_path)
    their_artifacts.put("stranger", b"stranger")
    with pytest.raises(UserError, match="1 artifacts that the backup has not"):
        restore_backup(restored, their_artifacts, place, None)
    assert restored.version() is None
    their_artifacts.delete(next(their_artifacts.keys()))
    restore_backup(restored, their_artifacts, place, None)  # what was interrupted is started again
    restored.dispose()


@pytest.mark.sqlite
def test_a_backup_of_an_older_schema_is_upgraded_and_one_of_a_newer_refused(
    home: Path, place: FolderPlace, tmp_path: Path
) -> None:
    run = proctor.evaluate("puzzles", models="demo/strong", limit=3)
    database = new_database(home)
    version, columns = "0006", _columns_of("0006", tmp_path)
    made = make_backup(database, FolderArtifacts(tmp_path / "none"), place, None)
    path = tmp_path / "backups" / "backups" / made.backup.id / "manifest.json"
    manifest = orjson.loads(path.read_bytes())
    path.write_bytes(orjson.dumps({**manifest, "schema": "9999"}))
    restored, their_artifacts = elsewhere(tmp_path)
    with pytest.raises(UserError, match="newer version of Proctor"):
        restore_backup(restored, their_artifacts, place, None)
    # What that version would have written: its tables, and of each the columns that it had.
    folder = f"backups/{made.backup.id}"
    tables, lines = [], list[bytes]()
    for table, content in read_rows(place.read(f"{folder}/{ROWS}")):
        names = next(one["columns"] for one in manifest["tables"] if one["table"] == table)
        kept = [number for number, name in enumerate(names) if name in columns.get(table, ())]
        if table == "events" or table not in columns:  # migration 0007 made a new one of it
            continue
        if not content:
            digest = TableDigest()
            tables.append(({"table": table, "columns": [names[n] for n in kept], "booleans": []}, digest))
            lines.append(orjson.dumps({"table": table}) + b"\n")
            continue
        shown = [[row[number] for number in kept] for row in content]
        for row in shown:
            tables[-1][1].add(row)
        lines.append(orjson.dumps(shown) + b"\n")
    booleans = {one["table"]: one["booleans"] for one in manifest["tables"]}
    for table, digest in tables:
        table |= {"rows": digest.rows, "digest": digest.text, "booleans": booleans[table["table"]]}
    place.put(f"{folder}/{ROWS}", [gzip.compress(b"".join(lines))])
    path.write_bytes(orjson.dumps({**manifest, "schema": version, "tables": [table for table, _ in tables]}))
    restore_backup(restored, their_artifacts, place, None)
    assert restored.version() == HEAD
    assert rows(restored) == rows(database)
    assert find_backup(place, None, None).schema == version
    assert run.id in rows(restored)[0]
    restored.dispose()
    database.dispose()


def _columns_of(version: str, tmp_path: Path) -> dict[str, list[str]]:
    """The tables of a version, and their columns."""
    path = tmp_path / "old.db"
    old = locate_database(f"sqlite:///{path}")
    old.migrate(version)
    old.dispose()
    with closing(sqlite3.connect(path)) as connection:
        tables = [row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        return {name: [row[1] for row in connection.execute(f"PRAGMA table_info({name})")] for name in tables}


@pytest.mark.sqlite
def test_old_backups_go_and_what_others_refer_to_stays(
    stored: tuple[Database, FolderArtifacts], place: FolderPlace, tmp_path: Path
) -> None:
    database, artifacts = stored
    first = _aged(make_backup(database, artifacts, place, None), tmp_path, days=40)
    only_first = artifacts.put("only in the first", b"x")
    second = _aged(make_backup(database, artifacts, place, None), tmp_path, days=35)
    artifacts.delete(only_first)
    third = make_backup(database, artifacts, place, None).backup.id
    planned = prune_backups(place, 30, is_dry_run=True)
    assert (planned.removed, planned.kept, planned.artifacts) == (sorted([first, second]), [third], 1)
    assert len(list_backups(place).backups) == 3
    place.put("backups/29990101T000000Z-aaaaaa/started", [])
    during = prune_backups(place, 36, is_dry_run=False)
    assert (during.removed, during.artifacts, during.note) == (
        [first],
        0,
        "a backup is being made, which may refer to any of them",
    )
    place.delete("backups/29990101T000000Z-aaaaaa/started")
    place.put("backups/20200101T000000Z-aaaaaa/started", [])  # one that was killed
    done = prune_backups(place, 30, is_dry_run=False)
    assert (done.removed, done.artifacts) == (["20200101T000000Z-aaaaaa", second], 1)
    assert verify_backup(place, find_backup(place, None, None), None).faults == []
    assert prune_backups(place, 0, is_dry_run=False).kept == [third]  # the newest stays, however old


def _aged(made: MadeBackup, tmp_path: Path, *, days: int) -> str:
    """The id of the backup, as if it had been made so long ago."""
    path = tmp_path / "backups" / "backups" / made.backup.id / "manifest.json"
    moment = datetime.now(UTC) - timedelta(days=days)
    path.write_bytes(orjson.dumps({**orjson.loads(path.read_bytes()), "created_at": moment}))
    return made.backup.id


def change_manifest(tmp_path: Path, backup_id: str, **changes: object) -> None:
    path = tmp_path / "backups" / "backups" / backup_id / "manifest.json"
    path.write_bytes(orjson.dumps(orjson.loads(path.read_bytes()) | changes))


@pytest.mark.sqlite
def test_a_manifest_that_was_changed_removes_nothing_outside_its_backup(
    stored: tuple[Database, FolderArtifacts], place: FolderPlace, tmp_path: Path
) -> None:
    backup_id = make_backup(*stored, place, None).backup.id
    shutil.copytree(tmp_path / "backups" / "backups" / backup_id, tmp_path / "backups" / "backups" / "old")
    theirs = tmp_path / "theirs"
    theirs.mkdir()
    (theirs / "file").write_text("precious")
    change_manifest(tmp_path, "old", id="../../theirs", created_at="2020-01-01T00:00:00Z")
    with pytest.raises(StoreError, match="that of another backup"):
        prune_backups(place, 30, is_dry_run=False)
    assert (theirs / "file").read_text() == "precious"
    # The other one is still restored by its id.
    restored, artifacts = elsewhere(tmp_path)
    assert restore_backup(restored, artifacts, place, None, backup_id).backup.id == backup_id
    restored.dispose()


@pytest.mark.sqlite
@pytest.mark.parametrize(
    ("changes", "lines", "said"),
    [
        ({"schema": "0000"}, None, "there never was the schema 0000"),
        ({"schema": "0'; DROP"}, None, "names what no database"),
        ({"created_at": "2020-01-01T00:00:00"}, None, "cannot be read"),
        ({"artifacts": 1 << 62}, None, "damaged"),
        ({}, b'{"other":1}\n', "damaged"),
        ({}, b'{"table":"runs"}\n[5]\n', "damaged"),
        ({}, b'{"table":"runs"}\n[[1,2]]\n', "other columns"),
        ({}, b'{"table":"runs"}\n[[{"x":1}]]\n', "damaged"),
        ({}, b'{"table":"runs"}\n' + b" " * 3_000_000, "no end"),
    ],
)
def test_a_backup_that_somebody_else_made_is_refused_in_one_line(
    stored: tuple[Database, FolderArtifacts],
    place: FolderPlace,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    changes: dict[str, object],
    lines: bytes | None,
    said: str,
) -> None:
    monkeypatch.setattr("proctor.stores.backups.rows.MAX_LINE_BYTES", 1_000_000)
    backup_id = make_backup(*stored, place, None).backup.id
    change_manifest(tmp_path, backup_id, **changes)
    if lines is not None:
        (tmp_path / "backups" / "backups" / backup_id / ROWS).write_bytes(gzip.compress(lines))
    with pytest.raises(StoreError, match=said):
        restore_backup(*elsewhere(tmp_path), place, None)


@pytest.mark.sqlite
def test_tables_and_columns_of_a_manifest_are_names_of_ours(
    stored: tuple[Database, FolderArtifacts], place: FolderPlace, tmp_path: Path
) -> None:
    backup_id = make_backup(*stored, place, None).backup.id
    table = {"table": "pg_authid", "columns": ["rolname"], "booleans": [], "rows": 0, "digest": "0"}
    change_manifest(tmp_path, backup_id, tables=[table])
    with pytest.raises(StoreError, match="there never was a table pg_authid"):
        restore_backup(*elsewhere(tmp_path), place, None)
    change_manifest(tmp_path, backup_id, tables=[table | {"table": "runs", "columns": ["id) SELECT 1; --"]}])
    with pytest.raises(StoreError, match="names what no database"):
        restore_backup(*elsewhere(tmp_path), place, None)


def test_large_rows_are_lines_of_their_own_and_together_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two hundred answers of megabytes in one line would be more than whoever restores them reads."""
    rows = [[number, "x" * (number % 3) * 20] for number in range(9)]
    one, several = TableDigest(), TableDigest()
    assert [orjson.loads(line) for line in lines_of(rows, one)] == [rows]
    monkeypatch.setattr("proctor.stores.backups.rows.LINE_BYTES", 50)
    lines = list(lines_of(rows, several))
    assert len(lines) > 3
    assert all(len(line) <= 60 for line in lines)
    assert [row for line in lines for row in orjson.loads(line)] == rows
    assert several.text == one.text


def test_a_key_for_a_backup_that_is_not_encrypted_is_said(
    stored: tuple[Database, FolderArtifacts], place: FolderPlace, tmp_path: Path
) -> None:
    make_backup(*stored, place, None)
    with pytest.raises(UserError, match="is not encrypted: unset"):
        restore_backup(*elsewhere(tmp_path), place, KEY)


@pytest.mark.sqlite
def test_the_commands_say_what_they_did(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    proctor.evaluate("puzzles", models="demo/strong", limit=5)
    shown = cli("show", "latest", "--json").json
    monkeypatch.setenv("PROCTOR_BACKUP_KEY_FILE", str(tmp_path / "key"))
    assert "PROCTOR_BACKUP_KEY_FILE cannot be read" in cli("backup", tmp_path / "kept").error
    (tmp_path / "key").write_text("short")
    assert f"{tmp_path / 'key'} holds no key for backups." in cli("backup", tmp_path / "kept").error
    (tmp_path / "key").write_bytes(base64.b64encode(bytes(range(32))) + b"\n")
    made = cli("backup", tmp_path / "kept", "--json").json
    assert made["backup"]["is_encrypted"]
    assert "is whole" in cli("backup", "verify", tmp_path / "kept").out
    assert made["backup"]["id"] in cli("backup", "list", tmp_path / "kept").out
    monkeypatch.setenv("PROCTOR_HOME", str(tmp_path / "second"))
    assert "every table is the same" in cli("restore", tmp_path / "kept").out
    assert cli("show", "latest", "--json").json == shown
    again = cli("restore", tmp_path / "kept")
    assert again.code == 2
    assert "is not empty" in again.error
    assert "Did you mean 'verify'?" in cli("backup", "verfy").error
    assert "There is no backup in" in cli("backup", "verify", tmp_path / "nowhere").error
    assert "ftp:// is no place for backups" in cli("backup", "ftp://host/x").error
    (tmp_path / "file").write_text("")
    full = cli("backup", tmp_path / "file" / "x")
    assert (full.code, "cannot be written" in full.error) == (1, True)


def test_a_snapshot_sees_one_moment_whatever_is_committed_meanwhile(home: Path) -> None:
    database = open_database(os.environ.get("PROCTOR_DATABASE_URL") or f"sqlite:///{home / 'proctor.db'}")
    from sqlalchemy import text

    count = text("SELECT count(*) FROM runs")
    with database.snapshot() as seen:
        assert seen.execute(count).scalar_one() == 0
        proctor.evaluate("puzzles", models="demo/strong", limit=1)
        assert seen.execute(count).scalar_one() == 0
    with database.snapshot() as seen:
        assert seen.execute(count).scalar_one() == 1
    database.dispose()
