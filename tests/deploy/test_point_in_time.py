"""A real PostgreSQL archives its log, is lost with its disk, and is recovered to a moment or as far as it goes."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

import proctor
from deploy.local_processes import ROOT
from deploy.timers import elapses
from postgres_archive import ARCHIVE, INSTALLED, SCRIPTS, ArchivingServer, installed_binaries
from proctor.stores.backups.manifest import TableContent
from proctor.stores.backups.rows import stored_digests, write_rows
from proctor.stores.database import Database, open_database
from proctor.telemetry.metrics import DatabaseCollector

NAME = "proctor"
OTHER_SYSTEM = b"another server's log"
pytestmark = [
    pytest.mark.sqlite,
    pytest.mark.skipif(installed_binaries() is None, reason="no PostgreSQL is installed here"),
]


@pytest.fixture
def server() -> Iterator[ArchivingServer]:
    """Archives only when it is told to: no clock decides what is lost."""
    started = ArchivingServer(archive_timeout_seconds=0)
    started.execute(f"CREATE DATABASE {NAME}")
    yield started
    started.close()


@pytest.fixture
def database(server: ArchivingServer, home: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Where this test's runs go; `home` holds nothing of theirs."""
    assert not home.exists()
    monkeypatch.setenv("PROCTOR_DATABASE_URL", server.url(NAME))
    return server.url(NAME)


def run() -> str:
    return proctor.evaluate("puzzles", models="demo/strong", limit=5, cache=False).id


def runs(server: ArchivingServer) -> list[str]:
    return [row[0] for row in server.execute("SELECT id FROM runs ORDER BY created_at", NAME)]


def digests(url: str) -> dict[str, str]:
    """Of the rows of every table."""

    def read(opened: Database) -> dict[str, str]:
        tables: list[TableContent] = []
        with opened.snapshot() as connection:
            for _ in write_rows(connection, tables):
                pass
        return {name: found.text for name, found in stored_digests(opened, tables).items()}

    opened = open_database(url)
    try:
        return read(opened)
    finally:
        opened.dispose()


def moment(server: ArchivingServer) -> str:
    """Now, as PostgreSQL counts it; what is committed after it is later."""
    [[at]] = server.execute("SELECT clock_timestamp()::text FROM pg_sleep(0.01)")
    server.execute("SELECT pg_sleep(0.01)")
    return str(at)


def test_a_server_that_is_lost_is_as_it_was_before_a_mistake(server: ArchivingServer, database: str) -> None:
    before = run()
    server.copy()
    after = run()
    expected, at = digests(database), moment(server)
    server.execute("DELETE FROM runs", NAME)
    run()
    server.archive_now()
    server.lose()
    server.recover(at)
    assert digests(database) == expected
    assert runs(server) == [before, after]
    later = run()  # it goes on, and what it writes is archived beside what was
    server.archive_now()
    server.lose()
    server.recover()
    assert runs(server) == [before, after, later]


def test_of_a_loss_remains_exactly_what_was_archived(server: ArchivingServer, database: str) -> None:
    run()
    server.copy()
    run()
    server.archive_now()
    archived = digests(database)
    lost = run()
    assert digests(database) != archived
    server.lose()
    server.recover()
    assert digests(database) == archived
    assert lost not in runs(server)


def test_what_is_committed_is_archived_without_more_to_come(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    quick = ArchivingServer(archive_timeout_seconds=1)
    try:
        quick.execute(f"CREATE DATABASE {NAME}")
        monkeypatch.setenv("PROCTOR_DATABASE_URL", quick.url(NAME))
        quick.copy()
        last = run()
        [[written]] = quick.execute("SELECT pg_walfile_name(pg_current_wal_lsn())")
        quick.wait_for(lambda: f"{written}.gz" in quick.segments())  # a server that writes little hands it over, too
        quick.lose()
        quick.recover()
        assert runs(quick) == [last]
    finally:
        quick.close()
    assert not (home / "proctor.db").exists()


def test_copies_are_kept_for_so_many_days_and_the_log_as_long_as_one_needs_it(server: ArchivingServer) -> None:
    server.copy()
    [old] = server.copies()
    server.archive_now()
    base = server.archive / "base"
    (base / old).rename(base / "20200101T000000Z")
    first = server.segments()
    assert first
    said = server.copy(days=30)
    [newest] = server.copies()
    assert "Removed 20200101T000000Z." in said
    assert f"every moment since {newest} can be recovered to" in said
    assert not set(first) & set(server.segments())
    (base / newest).rename(base / "20200102T000000Z")
    assert "Removed" in server.copy(days=30)
    [left] = server.copies()
    assert "Removed" not in server.copy(days=30)
    assert left in server.copies()


def test_the_newest_copy_stays_however_old_it_is(server: ArchivingServer) -> None:
    server.copy(days=0)
    assert len(server.copies()) == 1


def test_a_log_of_another_server_never_takes_the_place_of_one_that_is_kept(
    server: ArchivingServer, tmp_path: Path
) -> None:
    server.archive_now()
    [name, *_] = server.segments()
    kept = (server.archive / "wal" / name).read_bytes()
    other = server.folder / "other"
    other.write_bytes(OTHER_SYSTEM)
    other.chmod(0o644)
    done = server.script("archive-wal", str(other), name.removesuffix(".gz"), str(server.archive))
    assert done.returncode == 1
    assert "is there with another content" in done.stderr
    assert (server.archive / "wal" / name).read_bytes() == kept
    same = server.script("archive-wal", str(other), "new", str(server.archive))
    again = server.script("archive-wal", str(other), "new", str(server.archive))
    assert (same.returncode, again.returncode) == (0, 0)
    assert [path.name for path in (server.archive / "wal").iterdir() if path.name.startswith(".")] == []
    assert not list(tmp_path.glob("*.gz"))


def test_a_copy_beside_which_no_log_arrives_is_no_success_and_removes_nothing(server: ArchivingServer) -> None:
    server.copy()
    [old] = server.copies()
    (server.archive / "base" / old).rename(server.archive / "base" / "20200101T000000Z")
    server.execute("ALTER SYSTEM SET archive_command = 'false'")
    server.execute("SELECT pg_reload_conf()")
    done = server.script("base-backup", str(server.archive), "30", ARCHIVE_WAIT_SECONDS="0")
    assert (done.returncode, done.stdout) == (1, "")
    assert "does not arrive: see pg_stat_archiver" in done.stderr
    assert "20200101T000000Z" in server.copies()


def test_an_archive_that_is_late_is_told_as_a_metric_and_a_server_at_rest_is_not_late(
    server: ArchivingServer, database: str, home: Path
) -> None:
    run()
    opened = open_database(database)

    def metrics() -> dict[str, float]:
        found = DatabaseCollector(opened, home, lambda: None).collect()
        return {one.name: one.samples[0].value for one in found if one.name.startswith("proctor_wal")}

    server.archive_now()
    server.wait_for(lambda: metrics()["proctor_wal_files_waiting"] == 0)  # at rest: nothing more is coming
    first = metrics()["proctor_wal_archived_timestamp_seconds"]
    server.execute("ALTER SYSTEM SET archive_command = 'false'")
    server.execute("SELECT pg_reload_conf()")
    for _ in range(3):
        server.execute("SELECT pg_create_restore_point('written')")
        server.execute("SELECT pg_switch_wal()")
    assert metrics()["proctor_wal_files_waiting"] in (2, 3)  # the last one may be empty by now
    assert metrics()["proctor_wal_archived_timestamp_seconds"] == first
    server.execute("ALTER SYSTEM RESET archive_command")
    server.execute("SELECT pg_reload_conf()")
    server.archive_now()
    server.wait_for(lambda: metrics()["proctor_wal_files_waiting"] == 0)
    assert metrics()["proctor_wal_archived_timestamp_seconds"] > first
    server.copy()  # the last file in the archive is now one beside the log
    assert metrics()["proctor_wal_files_waiting"] == 0
    opened.dispose()


def test_a_gap_in_the_log_is_told_with_each_copy(server: ArchivingServer) -> None:
    server.copy()
    for _ in range(3):
        server.archive_now()
    middle = server.segments()[-2]
    (server.archive / "wal" / middle).unlink()
    done = server.script("base-backup", str(server.archive))
    assert done.returncode == 1
    assert "1 files are missing" in done.stderr
    assert "every moment" not in done.stdout


def test_a_damaged_log_is_not_taken_for_its_end(server: ArchivingServer) -> None:
    server.copy()
    server.archive_now()
    damaged = server.archive / "wal" / server.segments()[-1]
    server.archive_now()
    damaged.write_bytes(damaged.read_bytes()[:1000])
    server.lose()
    with pytest.raises((AssertionError, psycopg.OperationalError)):  # it ends before, or while, it answers what reads
        server.recover()
    assert "child process exited with exit code 255" in (server.folder / "log").read_text()


def test_a_moment_before_the_first_copy_and_a_full_folder_are_refused(server: ArchivingServer) -> None:
    server.copy()
    new = server.folder / "new"
    new.mkdir(mode=0o700)
    if os.geteuid() == 0:
        os.chown(new, *(server.data.stat().st_uid, server.data.stat().st_gid))
    early = server.script("recover", str(server.archive), str(new), "2020-01-01 00:00:00+00")
    assert (early.returncode, list(new.iterdir())) == (2, [])
    assert "no copy" in early.stderr
    full = server.script("recover", str(server.archive), str(server.data))
    assert full.returncode == 2
    assert "is not empty" in full.stderr
    strange = server.script("recover", str(server.archive), str(new), "'; DROP TABLE runs")
    assert strange.returncode != 0
    assert list(new.iterdir()) == []


def test_a_copy_that_was_changed_is_not_recovered(server: ArchivingServer) -> None:
    server.copy()
    [name] = server.copies()
    manifest = server.archive / "base" / name / "backup_manifest"
    manifest.write_text(manifest.read_text().replace('"Size": 3,', '"Size": 4,'))
    new = server.folder / "new"
    new.mkdir(mode=0o700)
    if os.geteuid() == 0:
        os.chown(new, *(server.data.stat().st_uid, server.data.stat().st_gid))
    assert server.script("recover", str(server.archive), str(new)).returncode != 0
    assert not (new / "recovery.signal").exists()


@pytest.mark.parametrize("name", ["archive-wal", "base-backup", "recover"])
def test_scripts_can_be_executed(name: str) -> None:
    assert os.access(SCRIPTS / name, os.X_OK)


def test_the_settings_lose_less_than_the_page_promises() -> None:
    settings = dict(line.split(" = ") for line in (SCRIPTS / "wal.conf").read_text().splitlines() if line[0] != "#")
    assert settings["archive_mode"] == "on"
    page = (ROOT / "docs" / "operations" / "recovery.md").read_text()
    assert f"{settings['archive_timeout']} seconds (`archive_timeout`)" in page
    assert int(settings["archive_timeout"]) < 15 * 60


def test_the_timer_copies_each_night_what_the_settings_archive(tmp_path: Path) -> None:
    service = SCRIPTS / "postgresql-base-backup.service"
    [line] = [line for line in service.read_text().splitlines() if line.startswith("ExecStart=")]
    program, archive, days = line.partition("=")[2].split()
    assert (program, archive, days) == (f"{INSTALLED}/base-backup", ARCHIVE, "30")
    assert f"ReadWritePaths={ARCHIVE}" in service.read_text().splitlines()
    assert len(elapses(SCRIPTS / "postgresql-base-backup.timer", 3)) == 3
    copied = tmp_path / service.name
    copied.write_text(service.read_text().replace(INSTALLED, str(SCRIPTS)).replace(f"ReadWritePaths={ARCHIVE}\n", ""))
    done = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", copied], capture_output=True, text=True, check=False
    )
    assert [line for line in done.stderr.splitlines() if service.name in line] == []
