"""A real PostgreSQL that archives its write-ahead log as deploy/postgresql says, and can lose its whole machine."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

from postgres import PostgresServer

SCRIPTS = Path(__file__).parents[1] / "deploy" / "postgresql"
INSTALLED = "/usr/local/lib/proctor/postgresql"
ARCHIVE = "/var/lib/proctor-wal"


def installed_binaries() -> Path | None:
    """Of the machine's own PostgreSQL, the newest: the pg_verifybackup of the one from the package index crashes."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/pg_verifybackup"), key=lambda path: int(path.parts[-3]))
    return found[-1].parent if found else None


class ArchivingServer(PostgresServer):
    off = ()

    def __init__(self, archive_timeout_seconds: int | None = None) -> None:
        """With the time that the file says, unless another one is given."""
        self._timeout = archive_timeout_seconds
        binaries = installed_binaries()
        assert binaries is not None, "no PostgreSQL is installed here"
        super().__init__(binaries)

    @property
    def archive(self) -> Path:
        return self.folder / "archive"

    @property
    def data(self) -> Path:
        return self.folder / "data"

    def configure(self) -> None:
        """The settings as they are delivered, with the places of this machine."""
        scripts = self.folder / "scripts"
        shutil.copytree(SCRIPTS, scripts)
        self._make(self.archive)
        text = (SCRIPTS / "wal.conf").read_text()
        for installed, here in ((INSTALLED, scripts), (ARCHIVE, self.archive)):
            assert installed in text
            text = text.replace(installed, str(here))
        if self._timeout is not None:
            assert "archive_timeout = 60" in text
            text = text.replace("archive_timeout = 60", f"archive_timeout = {self._timeout}")
        (scripts / "wal.conf").write_text(text)
        with (self.data / "postgresql.conf").open("a") as file:
            file.write(f"\ninclude = '{scripts}/wal.conf'\n")

    def script(self, name: str, *arguments: str, **more: str) -> subprocess.CompletedProcess[str]:
        """One of the scripts, by the user that PostgreSQL runs as; the caller looks at how it ended."""
        here = {"PGHOST": "127.0.0.1", "PGPORT": str(self.port), "PGUSER": "postgres"}
        environment = {**here, "PATH": f"{self._binaries}:{os.environ['PATH']}", **more}
        command = [self.folder / "scripts" / name, *arguments]
        return subprocess.run(
            command, env=environment, cwd=self.folder, capture_output=True, text=True, check=False, **self._as_user
        )

    def copy(self, days: int = 30) -> str:
        done = self.script("base-backup", str(self.archive), str(days))
        assert done.returncode == 0, done.stderr
        return done.stdout

    def copies(self) -> list[str]:
        return sorted(path.name for path in (self.archive / "base").iterdir())

    def segments(self) -> list[str]:
        """Files of the log itself; beside them are small ones that name a copy."""
        return sorted(path.name for path in (self.archive / "wal").glob("*.gz") if "." not in path.stem)

    def archive_now(self) -> None:
        """Wait until everything that is committed now is in the archive."""
        # A file of the log in which nothing is, is not switched.
        self.execute("SELECT pg_create_restore_point('written')")
        [[name]] = self.execute("SELECT pg_walfile_name(pg_switch_wal())")
        self.wait_for(lambda: f"{name}.gz" in self.segments())

    def wait_for(self, holds: Callable[[], bool], seconds: float = 120) -> None:
        until = time.monotonic() + seconds
        while not holds():
            assert time.monotonic() < until, (self.folder / "log").read_text()[-2000:]
            time.sleep(0.05)

    def lose(self) -> None:
        """The machine is gone: its processes at once, its disk with them. The archive was elsewhere."""
        self.end()
        shutil.rmtree(self.data)

    def recover(self, moment: str | None = None) -> None:
        """Bring it back from the archive, on a new disk."""
        self._make(self.data)
        arguments = [str(self.archive), str(self.data), *([] if moment is None else [moment])]
        done = self.script("recover", *arguments)
        assert done.returncode == 0, done.stderr
        self.start()
        # While it still reads the archive, it already answers what only reads.
        self.wait_for(lambda: self.execute("SELECT pg_is_in_recovery()") == [(False,)])

    def _make(self, folder: Path) -> None:
        folder.mkdir(mode=0o700)
        if self._as_user:
            os.chown(folder, self._as_user["user"], self._as_user["group"])
