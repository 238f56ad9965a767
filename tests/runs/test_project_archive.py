"""A project goes to another Proctor as one file: all of it, the same, and nothing that the file has no right to."""

from __future__ import annotations

import base64
import errno
import io
import os
import zipfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import orjson
import pytest

import proctor
from commands import Cli
from proctor.accounts.projects import add_project
from proctor.domain.artifacts import key_of
from proctor.domain.errors import ProctorError, RunError, StoreError, UserError
from proctor.domain.scope import Scope
from proctor.runs.chunks.content import restored
from proctor.runs.playground.turning import ranking_of_votes
from proctor.runs.resolve import PlanContext
from proctor.runs.results import read_rows
from proctor.runs.storage.project_archive import MANIFEST, ROWS, export_project, import_project
from proctor.runs.storage.project_deletion import delete_project
from proctor.stores.artifacts.folder import FolderArtifacts
from proctor.stores.backups.rows import TableDigest
from proctor.stores.backups.rows import read_rows as read_table_rows
from proctor.stores.backups.sealed_file import SealedReader, SealedWriter
from proctor.stores.backups.sealing import MARK, PIECE_BYTES, SALT_BYTES, TAG_BYTES, BackupKey
from proctor.stores.database import Database, open_database
from proctor.stores.project_content import CONTENT, SHARED
from proctor.stores.schema import metadata, stored_tables
from proctor.stores.tables.metadata import DERIVED
from runs.full_project import BENCHMARK, CANARY, PROJECT, give_away, run
from stores.parts import new_database

STAYS = {
    "api_keys", "audit", "batch_trials", "batches", "budgets", "cache", "chunks", "deliveries", "id_blocks",
    "idempotency_keys", "identities", "links", "listed_models", "members", "model_lists", "projects",
    "provider_keys", "queue", "refresh_tokens",
    "rescorings", "reservations", "sessions", "submission_queue", "token_families", "users", "webhooks", "workers",
}  # fmt: skip
"""Secrets, people and rights, money, work in progress, caches."""
Rows = dict[str, list[list[Any]]]


@pytest.fixture
def database(home: Path) -> Iterator[Database]:
    database = new_database(home)
    add_project(database, PROJECT, by="test")
    yield database
    database.dispose()


@pytest.fixture
def artifacts(home: Path) -> FolderArtifacts:
    return FolderArtifacts(home / "artifacts")


@pytest.fixture
def exported(database: Database, artifacts: FolderArtifacts, tmp_path: Path) -> Path:
    """A full project's archive; its run has two answers."""
    given = run(tmp_path / "theirs", f"{CANARY}-bench", CANARY, "shared")
    give_away(database, given, artifacts)
    file = tmp_path / "acme.zip"
    export_project(database, artifacts, PROJECT, file, by="test")
    return file


@pytest.fixture
def elsewhere(tmp_path: Path) -> Iterator[tuple[Database, FolderArtifacts]]:
    """Another Proctor, with a run of its own: its numbers are taken."""
    home = tmp_path / "elsewhere"
    proctor.evaluate("puzzles", models="demo/strong", limit=3, home=home)
    database = open_database(f"sqlite:///{home / 'proctor.db'}")
    database.open()
    yield database, FolderArtifacts(home / "artifacts")
    database.dispose()


def results(database: Database, project: str) -> list[dict[str, Any]]:
    mine = database.within(Scope(project))
    with mine.connection() as connection:
        ids = connection.execute("SELECT id FROM runs WHERE project = ? ORDER BY id", [project]).fetchall()
    return [orjson.loads(orjson.dumps(row.document)) for (run_id,) in ids for row in read_rows(mine, run_id)]


def unpacked(file: Path) -> tuple[dict[str, Any], Rows, dict[str, bytes]]:
    with zipfile.ZipFile(file) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    rows: Rows = {}
    for table, some in read_table_rows([parts[ROWS]]):
        rows.setdefault(table, []).extend(some)
    return orjson.loads(parts[MANIFEST]), rows, parts


def packed(file: Path, manifest: dict[str, Any], rows: Rows, parts: dict[str, bytes]) -> Path:
    """An archive that is whole, as one who means ill would make it: with digests of what it says."""
    lines = b""
    for table in manifest["tables"]:
        digest = TableDigest()
        for row in rows[table["table"]]:
            digest.add(row)
        table |= {"rows": digest.rows, "digest": digest.text}
        lines += orjson.dumps({"table": table["table"]}) + b"\n" + orjson.dumps(rows[table["table"]]) + b"\n"
    packer = zlib.compressobj(wbits=31)
    parts = {**parts, ROWS: packer.compress(lines) + packer.flush(), MANIFEST: orjson.dumps(manifest)}
    with zipfile.ZipFile(file, "w") as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return file


@pytest.mark.sqlite
def test_every_table_travels_or_is_said_to_stay() -> None:
    derived = {table.name for table in metadata.sorted_tables if table.info == DERIVED}
    assert set(CONTENT) | STAYS | derived == set(metadata.tables)
    assert not set(CONTENT) & STAYS
    assert set(CONTENT) <= {table.name for table in stored_tables()}


def test_another_proctor_has_all_of_it_and_the_same(
    database: Database, exported: Path, elsewhere: tuple[Database, FolderArtifacts], tmp_path: Path
) -> None:
    target, their_artifacts = elsewhere
    before = results(target, "local")
    done = import_project(target, their_artifacts, exported, name="moved", is_own=True, by="test")
    assert set(done.rows) == set(CONTENT)  # a row of every table was there
    assert results(target, "moved") == results(database, PROJECT)
    assert len(results(target, "moved")) == 2
    assert results(target, "local") == before
    again = tmp_path / "again.zip"
    export_project(target, their_artifacts, "moved", again, by="test")
    first, second = unpacked(exported), unpacked(again)
    assert set(first[2]) == set(second[2])  # the same artifacts
    for one, other in zip(first[0]["tables"], second[0]["tables"], strict=True):
        assert one["rows"] == other["rows"]
        if one["table"] not in SHARED | {"evaluations", "responses", "bodies", "scores", "comments", "labels"}:
            assert one["digest"] == other["digest"], one["table"]
    assert proctor.evaluate("puzzles", models="demo/weak", limit=2, home=tmp_path / "elsewhere").status == "completed"


def test_a_project_that_was_deleted_comes_back_from_its_archive(
    database: Database, artifacts: FolderArtifacts, exported: Path
) -> None:
    before = results(database, PROJECT)
    with pytest.raises(UserError, match="There is a project 'acme' already"):
        import_project(database, artifacts, exported, name=None, is_own=True, by="test")
    with pytest.raises(UserError, match="was imported before"):
        import_project(database, artifacts, exported, name="twice", is_own=True, by="test")
    delete_project(database, artifacts, PROJECT, by="test")
    import_project(database, artifacts, exported, name=None, is_own=True, by="test")
    assert results(database, PROJECT) == before != []


@pytest.mark.sqlite
def test_answers_that_nobody_here_saw_being_made_are_labelled(
    exported: Path, elsewhere: tuple[Database, FolderArtifacts], tmp_path: Path
) -> None:
    target, their_artifacts = elsewhere
    import_project(target, their_artifacts, exported, name=None, is_own=False, by="test")
    assert {row["model"] for row in results(target, PROJECT)} == {"imported/demo/weak"}
    with target.connection() as connection:
        assert (
            connection.execute(
                "SELECT count(*) FROM responses WHERE project = 'acme' AND cache_key IS NOT NULL"
            ).fetchone()[0]
            == 0
        )
        [[run_id]] = [tuple(row) for row in connection.execute("SELECT id FROM runs WHERE project = 'acme'").fetchall()]
        assert (
            "demo"
            not in orjson.loads(connection.execute("SELECT plan FROM runs WHERE id = ?", [run_id]).fetchone()[0])[
                "models"
            ][0]["provider"]
        )
        for table in ("comments", "labels", "files", "own_benchmarks", "saved_plans"):
            named = connection.execute(f"SELECT DISTINCT author FROM {table} WHERE project = 'acme'").fetchall()
            # Whoever is called the same here has not said it.
            assert [row[0] for row in named if not row[0].startswith("imported/")] == [], table
            assert named, table
    ranked = proctor.leaderboard(home=tmp_path / "elsewhere")
    assert "imported/" not in str(ranked)
    assert "imported=1" in str(ranked)  # it is said that one was left out


@pytest.mark.sqlite
def test_runs_that_asked_one_model_or_benchmark_in_several_ways_are_imported(tmp_path: Path) -> None:
    home, there = tmp_path / "home", tmp_path / "there"
    models = ["demo/weak?temperature=0", "demo/weak?temperature=1"]
    proctor.evaluate("puzzles", models=models, limit=3, home=home)
    proctor.evaluate(["arithmetic?level=1", "arithmetic?level=2"], models="demo/weak", limit=3, home=home)
    file = tmp_path / "local.zip"
    first, second = (open_database(f"sqlite:///{one / 'proctor.db'}") for one in (home, there))
    try:
        first.open()
        second.open()
        export_project(first, FolderArtifacts(home / "artifacts"), "local", file, by="test")
        import_project(second, FolderArtifacts(there / "artifacts"), file, name="moved", is_own=False, by="test")
        moved = results(second, "moved")
        assert {row["model"] for row in moved} == {"imported/demo/weak", *(f"imported/{one}" for one in models)}
        assert len(moved) == len(results(first, "local")) == 12
    finally:
        first.dispose()
        second.dispose()


class Archive:
    """What somebody might write into one; it is whole otherwise."""

    def __init__(self, file: Path) -> None:
        self.manifest, self.rows, self.parts = unpacked(file)

    def put(self, table: str, column: str, value: object, row: int = 0) -> None:
        columns = next(one["columns"] for one in self.manifest["tables"] if one["table"] == table)
        self.rows[table][row][columns.index(column)] = value

    def add_table(self, name: str) -> None:
        self.manifest["tables"].append({**self.manifest["tables"][0], "table": name})
        self.rows[name] = []

    def put_benchmark(self, files: dict[str, bytes], entry: str = "bench.yaml") -> None:
        """One of its own that has these files; artifacts that it brings are in the archive."""
        keys = {name: key_of(content) for name, content in files.items()}
        new = {f"artifacts/{keys[name]}": content for name, content in files.items()}
        self.manifest["artifacts"] += len(new.keys() - self.parts.keys())
        self.manifest["artifact_bytes"] += sum(len(new[one]) for one in new.keys() - self.parts.keys())
        self.parts.update(new)
        self.put("own_benchmarks", "files", orjson.dumps(keys).decode())
        self.put("own_benchmarks", "entry", entry)

    def change_artifact(self) -> None:
        key = next(name for name in self.parts if name.startswith("artifacts/"))
        self.parts[key] = b"evil".ljust(len(self.parts[key]))[: len(self.parts[key])]

    def write(self, file: Path) -> Path:
        return packed(file, self.manifest, self.rows, self.parts)


BENCH = BENCHMARK.format(name=CANARY).replace("dataset", f"version: {CANARY}\ndataset", 1)
ROW = b'{"id": "1", "question": "?", "answer": "1"}'
FORGERIES: dict[str, Callable[[Archive], object]] = {
    "another project's run": lambda one: one.put("comments", "run_id", "1nfnotmine"),
    "a run that runs": lambda one: one.put("runs", "status", "running"),
    "a number for a text": lambda one: one.put("saved_plans", "name", 7),
    "no JSON": lambda one: one.put("evaluations", "tags", "{"),
    "another sample's name": lambda one: one.put("samples", "input", "What is 1 + 1?"),
    "an answer of no evaluation": lambda one: one.put("responses", "evaluation_id", 10**9),
    "a comment on another's answer": lambda one: one.put("comments", "response_id", 1 << 40),
    "a month that is none": lambda one: one.put("evaluations", "month", 1),
    "another column": lambda one: one.manifest["tables"][2]["columns"].append("project"),
    "another table": lambda one: one.add_table("users"),
    "a part outside": lambda one: one.parts.update({"../../evil": b"evil"}),
    "another artifact": lambda one: one.change_artifact(),
    "a name that cannot be one": lambda one: one.manifest.update({"project": "../../etc"}),
    "a newer schema": lambda one: one.manifest.update({"schema": "9999"}),
    "files outside of a benchmark's folder": lambda one: one.put_benchmark(
        {"bench.yaml": BENCH.encode(), "rows.jsonl": ROW, "../../../evil": b"evil"}
    ),
    "a benchmark that runs code": lambda one: one.put_benchmark(
        {"bench.yaml": BENCH.replace("[includes]", "['python://evil:f']").encode(), "rows.jsonl": ROW, "evil.py": b"1"}
    ),
    "a benchmark of the server's data": lambda one: one.put_benchmark(
        {"bench.yaml": BENCH.replace("rows.jsonl", "/etc/passwd").encode(), "rows.jsonl": ROW}
    ),
    "a benchmark by another name": lambda one: one.put("own_benchmarks", "name", "other"),
    "a benchmark that is not described": lambda one: one.put("own_benchmarks", "description", "{}"),
    "a time that is none": lambda one: one.put("runs", "finished_at", "2026-11-19T99"),
    "a list for scorers": lambda one: one.put("evaluations", "scorers", "[]"),
    "a number for metrics": lambda one: one.put("evaluations", "metrics", "7"),
    "a text for what a scorer noted": lambda one: one.put("scores", "details", '"x"'),
    "a score beyond all": lambda one: one.put("scores", "value", 1e300),
    "an answer before it was asked": lambda one: one.put("responses", "latency_seconds", -1.0),
    "a file that never expires": lambda one: one.put("files", "expires_at", 1e300),
    "an event without data": lambda one: one.put("events", "data", "none"),
    "a file smaller than nothing": lambda one: one.put("files", "size_bytes", -1),
    "a plan that is none": lambda one: one.put("runs", "plan", "[]"),
}


@pytest.mark.sqlite
@pytest.mark.parametrize("change", FORGERIES)
def test_a_forged_archive_is_refused_and_nothing_is_written(
    exported: Path, elsewhere: tuple[Database, FolderArtifacts], tmp_path: Path, change: str
) -> None:
    target, their_artifacts = elsewhere
    archive = Archive(exported)
    FORGERIES[change](archive)
    file = archive.write(tmp_path / "forged.zip")
    with pytest.raises(ProctorError):
        import_project(target, their_artifacts, file, name=None, is_own=False, by="test")
    with target.connection() as connection:
        assert connection.execute("SELECT count(*) FROM runs").fetchone()[0] == 1
        assert connection.execute("SELECT count(*) FROM projects WHERE name != 'local'").fetchone()[0] == 0


@pytest.mark.sqlite
@pytest.mark.parametrize(("is_own", "counted"), [(False, 0), (True, 1)])
def test_votes_that_nobody_here_saw_being_given_rank_no_model(
    exported: Path, elsewhere: tuple[Database, FolderArtifacts], tmp_path: Path, is_own: bool, counted: int
) -> None:
    target, their_artifacts = elsewhere
    archive = Archive(exported)
    answers = archive.rows["playground_answers"]
    answers.append(list(answers[0]))
    for place, name in enumerate(("openai/best", "openai/worst")):
        for column, value in (("state", "complete"), ("slot", "AB"[place]), ("position", place), ("model", name)):
            archive.put("playground_answers", column, value, place)
    archive.put("playground_votes", "best", '["A"]')
    file = archive.write(tmp_path / "forged.zip")
    import_project(target, their_artifacts, file, name=None, is_own=is_own, by="test")
    ranking = ranking_of_votes(target.within(Scope(PROJECT)), is_blind_only=False)
    assert ranking.votes == counted
    assert len(ranking.models) == 2 * counted


@pytest.mark.sqlite
@pytest.mark.parametrize(
    ("table", "column"), [("files", "artifact"), ("own_benchmarks", "files"), ("scores", "details")]
)
def test_an_archive_names_no_artifact_that_is_another_projects(
    exported: Path, elsewhere: tuple[Database, FolderArtifacts], tmp_path: Path, table: str, column: str
) -> None:
    target, their_artifacts = elsewhere
    secret = their_artifacts.put("secret", b"of another project")
    archive = Archive(exported)
    spelt = f"\\u{ord(secret[0]):04x}{secret[1:]}"  # as JSON may write it
    archive.put(table, column, secret if column == "artifact" else f'{{"a": "{spelt}"}}')
    file = archive.write(tmp_path / "forged.zip")
    with pytest.raises(ProctorError, match="which is not in it but is here"):
        import_project(target, their_artifacts, file, name=None, is_own=True, by="test")


@pytest.mark.sqlite
def test_an_archive_names_no_sample_that_is_another_projects(
    exported: Path, elsewhere: tuple[Database, FolderArtifacts], tmp_path: Path
) -> None:
    target, their_artifacts = elsewhere
    with target.connection() as connection:
        [digest] = connection.execute("SELECT digest FROM samples LIMIT 1").fetchone()
    archive = Archive(exported)
    archive.put("responses", "sample_digest", digest)
    with pytest.raises(ProctorError, match="a row of responses belongs to"):
        import_project(
            target, their_artifacts, archive.write(tmp_path / "forged.zip"), name=None, is_own=True, by="test"
        )


@pytest.mark.sqlite
def test_no_file_that_a_plan_travels_with_is_written_elsewhere(tmp_path: Path) -> None:
    artifacts = FolderArtifacts(tmp_path / "artifacts")
    key = artifacts.put("evil", b"evil")
    context = PlanContext(folder=tmp_path, environment={}, artifacts=artifacts)
    target = tmp_path / "written"
    for name in (f"own/x@1/{'../' * 20}{target}", str(target), f"(data)/{target}"):
        with pytest.raises(StoreError, match="leads out of the folder"), restored({name: key}, context):
            pass
        assert not target.exists()


@pytest.mark.sqlite
def test_a_damaged_or_packed_archive_is_refused(
    exported: Path, elsewhere: tuple[Database, FolderArtifacts], tmp_path: Path
) -> None:
    target, their_artifacts = elsewhere
    whole, file = exported.read_bytes(), tmp_path / "damaged.zip"
    _, _, parts = unpacked(exported)
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    flipped = [whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :] for place in range(40, len(whole), 997)]
    for spoilt in (b"", b"no zip", whole[: len(whole) // 2], stream.getvalue(), *flipped):
        file.write_bytes(spoilt)
        if spoilt in flipped and _is_same(spoilt, whole):
            continue
        with pytest.raises((ProctorError, msgspec.MsgspecError)):
            import_project(target, their_artifacts, file, name=None, is_own=True, by="test")
    with target.connection() as connection:
        assert connection.execute("SELECT count(*) FROM projects WHERE name != 'local'").fetchone()[0] == 0


@pytest.mark.sqlite
def test_a_file_that_is_no_archive_is_a_mistake_in_the_command(cli: Cli, home: Path, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("no archive")
    for given, said in (("notes.txt", "is no archive"), (".", "Is a directory"), ("none.zip", "There is no file")):
        ended = cli("projects", "import", tmp_path / given)
        assert ended.code == 2
        assert said in ended.err


@pytest.mark.sqlite
def test_a_line_that_unpacks_to_much_is_refused_and_nothing_is_written(
    exported: Path, elsewhere: tuple[Database, FolderArtifacts], tmp_path: Path
) -> None:
    target, their_artifacts = elsewhere
    manifest, _, parts = unpacked(exported)
    packer = zlib.compressobj(wbits=31)
    row = [packer.compress(b'{"table":"models"}\n[["'), *(packer.compress(b"x" * (1 << 20)) for _ in range(130))]
    bomb = tmp_path / "bomb.zip"
    with zipfile.ZipFile(bomb, "w") as archive:
        for name, content in {**parts, ROWS: b"".join([*row, packer.flush()])}.items():
            archive.writestr(name, content if name != MANIFEST else orjson.dumps(manifest))
    assert bomb.stat().st_size < 1_000_000
    with pytest.raises(StoreError, match="no end, or more than 128 MiB"):
        import_project(target, their_artifacts, bomb, name=None, is_own=True, by="test")
    with target.connection() as connection:
        assert connection.execute("SELECT count(*) FROM projects WHERE name != 'local'").fetchone()[0] == 0


@pytest.mark.sqlite
def test_a_row_that_no_archive_takes_is_named_when_it_is_exported(
    exported: Path, database: Database, artifacts: FolderArtifacts, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("proctor.stores.project_content.MAX_LINE_BYTES", 200)
    with pytest.raises(StoreError, match="'proctor backup' takes it"):
        export_project(database, artifacts, PROJECT, tmp_path / "again.zip", by="test")
    assert exported.exists()
    assert not (tmp_path / "again.zip").exists()
    assert not list(tmp_path.glob(".export-*"))


@pytest.mark.sqlite
def test_an_archive_that_its_disk_does_not_give_is_named_and_not_the_place_it_goes_to(
    exported: Path, elsewhere: tuple[Database, FolderArtifacts], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second time that an artifact is read it is being written to the artifacts' folder."""
    read, seen = zipfile.ZipExtFile.read, list[str]()

    def read_from_a_bad_disk(part: zipfile.ZipExtFile, n: int | None = -1) -> bytes:
        if (content := read(part, n)) and part.name.startswith("artifacts/"):
            if part.name in seen:
                raise OSError(errno.EIO, os.strerror(errno.EIO))
            seen.append(part.name)
        return content

    monkeypatch.setattr(zipfile.ZipExtFile, "read", read_from_a_bad_disk)
    with pytest.raises(StoreError, match=r"acme\.zip cannot be read: Input/output error"):
        import_project(*elsewhere, exported, name=None, is_own=True, by="test")


KEY, OTHER_KEY = BackupKey(bytes(range(32))), BackupKey(bytes(32))


def test_an_encrypted_archive_shows_nothing_and_is_the_same_project(
    database: Database, exported: Path, artifacts: FolderArtifacts, elsewhere: tuple[Database, FolderArtifacts]
) -> None:
    large = artifacts.put("large", bytes(range(256)) * 10_000)  # pieces of a megabyte each
    with database.connection() as connection, connection.transaction():
        connection.execute("UPDATE files SET artifact = ?, size_bytes = 2560000 WHERE project = ?", [large, PROJECT])
    sealed, open_to_all = exported.with_name("sealed"), exported.with_name("open.zip")
    done = export_project(database, artifacts, PROJECT, sealed, by="test", key=KEY)
    assert done.is_encrypted
    export_project(database, artifacts, PROJECT, open_to_all, by="test")
    for shown in (large, MANIFEST, '"project": "acme"'):
        assert shown.encode() in open_to_all.read_bytes()
        assert shown.encode() not in sealed.read_bytes()
    target, theirs = elsewhere
    for key, said in ((None, "is encrypted: set PROCTOR_BACKUP_KEY"), (OTHER_KEY, "another key, or is damaged")):
        with pytest.raises(UserError, match=said):
            import_project(target, theirs, sealed, name=None, is_own=True, by="test", key=key)
    import_project(target, theirs, sealed, name=None, is_own=True, by="test", key=KEY)
    assert results(target, PROJECT) == results(database, PROJECT)
    assert theirs.get(large) == artifacts.get(large)


@pytest.mark.sqlite
def test_every_changed_byte_of_an_encrypted_archive_is_found(
    database: Database, artifacts: FolderArtifacts, exported: Path, elsewhere: tuple[Database, FolderArtifacts]
) -> None:
    file = exported.with_name("sealed")
    export_project(database, artifacts, PROJECT, file, by="test", key=KEY)
    whole = file.read_bytes()
    spoilt = [whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :] for place in range(0, len(whole), 499)]
    for one in (*spoilt, whole[:-1], whole[: len(MARK)], whole + b"x"):
        file.write_bytes(one)
        with pytest.raises(UserError):
            import_project(*elsewhere, file, name=None, is_own=True, by="test", key=KEY)
    file.write_bytes(whole)
    import_project(*elsewhere, file, name=None, is_own=True, by="test", key=KEY)


@pytest.mark.sqlite
def test_pieces_of_an_encrypted_file_are_read_from_anywhere_and_cannot_change_places(tmp_path: Path) -> None:
    content = b"".join(bytes([number]) * PIECE_BYTES for number in range(3)) + b"end"
    file = tmp_path / "sealed"
    with file.open("wb") as opened:
        writer = SealedWriter(opened, KEY, "name")
        for start in range(0, len(content), 700_001):
            assert writer.write(content[start : start + 700_001]) > 0
        writer.end()
    assert b"".join(KEY.open("name", [file.read_bytes()])) == content  # the form is that of backups
    with io.BufferedReader(SealedReader(file, KEY, "name")) as read:
        for place in (len(content) - 5, 0, PIECE_BYTES - 2, 2 * PIECE_BYTES):
            read.seek(place)
            assert read.read(7) == content[place : place + 7]
        assert read.seek(-3, io.SEEK_END) == len(content) - 3
        assert read.read() == b"end"
    head, size = len(MARK) + SALT_BYTES, PIECE_BYTES + TAG_BYTES
    whole = file.read_bytes()
    first, second = whole[head : head + size], whole[head + size : head + 2 * size]
    for spoilt in (whole[:head] + second + first + whole[head + 2 * size :], whole[: head + 2 * size]):
        file.write_bytes(spoilt)
        with pytest.raises(UserError), SealedReader(file, KEY, "name") as cut:
            cut.read()


class NoMoreFiles(FolderArtifacts):
    def check(self) -> None:
        raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))


@pytest.mark.sqlite
def test_a_fault_of_this_machine_is_not_called_one_of_the_archive(
    exported: Path, elsewhere: tuple[Database, FolderArtifacts]
) -> None:
    target, theirs = elsewhere
    with pytest.raises(OSError, match="Too many open files"):
        import_project(target, NoMoreFiles(theirs.folder), exported, name=None, is_own=True, by="test")


def test_a_place_where_no_archive_can_be_written_is_a_mistake_in_the_command(cli: Cli, home: Path) -> None:
    assert home
    ended = cli("projects", "export", "local", "/proc/mine.zip")
    assert ended.code == 2
    assert "/proc/mine.zip cannot be written: No such file" in ended.err


def _is_same(one: bytes, other: bytes) -> bool:
    """Whether a changed byte is in what a zip says beside its content, such as times."""
    try:
        with zipfile.ZipFile(io.BytesIO(one)) as first, zipfile.ZipFile(io.BytesIO(other)) as second:
            return [(name, first.read(name)) for name in first.namelist()] == [
                (name, second.read(name)) for name in second.namelist()
            ]
    except (zipfile.BadZipFile, EOFError, ValueError, NotImplementedError, RuntimeError):
        return False


def test_a_project_with_a_run_that_has_not_ended_is_not_exported(
    database: Database, artifacts: FolderArtifacts, tmp_path: Path
) -> None:
    started = run(tmp_path / "work", "bench", "one")
    with database.connection() as connection, connection.transaction():
        connection.execute("UPDATE runs SET project = ?, status = 'queued' WHERE id = ?", [PROJECT, started])
    with pytest.raises(RunError, match="has not ended"):
        export_project(database, artifacts, PROJECT, tmp_path / "acme.zip", by="test")
    assert not list(tmp_path.glob("*.zip"))
    assert not list(tmp_path.glob(".export-*"))


def test_the_commands_say_what_went_and_came(
    cli: Cli, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    proctor.evaluate("puzzles", models="demo/strong", limit=3)
    file = tmp_path / "mine.zip"
    ended = cli("projects", "export", "local", file)
    assert ended.code == 0
    assert ended.out.startswith(f"Exported local to {file}")
    assert cli("projects", "export", "local", file).code == 2
    key = tmp_path / "key"
    key.write_text(base64.b64encode(bytes(32)).decode())
    monkeypatch.setenv("PROCTOR_BACKUP_KEY_FILE", str(key))
    for name, option, is_encrypted in (("sealed", (), True), ("plain", ("--plain",), False)):
        assert (", encrypted)" in cli("projects", "export", "local", tmp_path / name, *option).out) is is_encrypted
        assert zipfile.is_zipfile(tmp_path / name) is not is_encrypted
    assert cli("delete", "latest", "--yes").code == 0
    assert "There is a project 'local' already" in cli("projects", "import", file).err
    ended = cli("projects", "import", tmp_path / "sealed", "--as", "back")
    assert ended.code == 0
    assert "Imported back: 1 run" in ended.out
    monkeypatch.delenv("PROCTOR_BACKUP_KEY_FILE")
    assert "is encrypted: set PROCTOR_BACKUP_KEY" in cli("projects", "import", tmp_path / "sealed", "--as", "x").err
    assert "no leaderboard ranks them" in ended.out
    assert home.exists()
