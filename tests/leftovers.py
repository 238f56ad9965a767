"""What a run of the suite leaves behind outside of its own folders; one that leaves anything fails."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[1]
OF_TOOLS = (
    ".cache",
    ".coverage",
    ".hypothesis",
    ".mypy_cache",
    ".pytest_cache",
    ".ruff_cache",
    ".ses",  # onnxruntime's
    "__pycache__",
    "node_modules",
    "pymp-",  # of multiprocessing and billiard: a worker that is killed cannot remove its own
    "pytest-of-",
)
"""How the names of what pytest and the tools around it keep begin; git ignores all of them."""
OF_TOOLS_AT_HOME = (".cache", ".config", ".rustup")
"""What Chromium, Matplotlib and the stand-in for a Rust compiler keep in any home they are given."""
LOCKS = (f"proctor-{os.getuid()}", "proctor-tests-traces.lock")
"""Kept on purpose: whoever takes turns must find the same file."""


OF_THE_SYSTEM = (
    "/", "/etc", "/home", "/mnt", "/opt", "/srv", "/usr", "/usr/local", "/usr/local/bin", "/var", "/var/lib",
)  # fmt: skip
"""Where only a test that goes astray writes, and only as root; others use /tmp, /run and /dev/shm all the time."""


def watched_folders() -> list[Path]:
    """Where a test that goes astray writes, beside its home: folders of the system, and all of the repository."""
    return [*(path for name in OF_THE_SYSTEM if (path := Path(name)).is_dir()), *folders_below(REPOSITORY)]


def folders_below(top: Path) -> list[Path]:
    """The folder and all in it, but for hidden ones and what tools keep."""
    found = []
    for folder, below, _ in os.walk(top):
        below[:] = [name for name in below if not name.startswith((".", *OF_TOOLS))]
        found.append(Path(folder))
    return found


def names_in(folders: list[Path]) -> dict[Path, frozenset[str]]:
    # One that a test removed has nothing new in it.
    return {
        folder: frozenset(os.listdir(folder) if folder.is_dir() else ())  # noqa: PTH208 - names are compared
        for folder in folders
    }


class Leftovers:
    """Gives the suite a home and a folder for temporary files of its own, and finds what is new when it ends."""

    def __init__(self, folders: list[Path]) -> None:
        self._before = names_in(folders)
        self._kept = {name: os.environ.get(name) for name in ("TMPDIR", "HOME", "XDG_CACHE_HOME")}
        # Short, because paths of sockets are; open to others, because sandboxes run as other users.
        self.temporary, self.home = (Path(tempfile.mkdtemp(prefix=prefix)) for prefix in ("pt-", "ph-"))
        self.temporary.chmod(0o755)
        # Tools fill their caches once for all sessions; making them anew takes seconds.
        os.environ.setdefault("XDG_CACHE_HOME", str(Path.home() / ".cache"))
        # Others write to the user's home meanwhile: what is in this one, a test has left.
        os.environ |= {"TMPDIR": str(self.temporary), "HOME": str(self.home)}
        tempfile.tempdir = None  # it is looked up again

    def found(self) -> list[Path]:
        after = names_in(list(self._before))
        new = [folder / name for folder, names in after.items() for name in sorted(names - self._before[folder])]
        new += sorted(self.temporary.iterdir())
        new += sorted(path for path in self.home.iterdir() if path.name not in OF_TOOLS_AT_HOME)
        return [path for path in new if not path.name.startswith(OF_TOOLS) and path.name not in LOCKS]

    def close(self) -> None:
        """Remove the folders with what is in them."""
        for folder in (self.temporary, self.home):
            shutil.rmtree(folder, ignore_errors=True)
        tempfile.tempdir = None
        for name, value in self._kept.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def finish(leftovers: Leftovers, session: pytest.Session) -> None:
    """Fail a session that left something, with its paths."""
    found = leftovers.found()
    leftovers.close()
    if not found:
        return
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    lines = "\n".join(f"  {path}" for path in found)
    if reporter is not None:
        reporter.write_line(f"Tests left these behind outside of their folders:\n{lines}", red=True)
    session.exitstatus = pytest.ExitCode.TESTS_FAILED
