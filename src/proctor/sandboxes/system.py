"""What a sandbox shows of this machine: its programs and libraries, one interpreter with its standard library.

Never what is installed into an interpreter, and nothing of ours: the packaged golds and hidden tests, the user's home.
"""

from __future__ import annotations

import contextlib
import os
import sys
import sysconfig
from collections.abc import Iterable
from pathlib import Path

from msgspec import Struct

from proctor.domain.errors import SandboxError

_LIBRARIES = ("lib", "lib32", "lib64", "libx32")
_SYSTEM = (
    *(f"/usr/{name}" for name in ("bin", "sbin", *_LIBRARIES, "libexec", "share")),
    *(f"/usr/local/{name}" for name in ("bin", "sbin", *_LIBRARIES)),
)
_TOP = tuple(f"/{name}" for name in ("bin", "sbin", *_LIBRARIES))
_FILES = ("/etc/ld.so.cache", "/etc/alternatives", "/etc/localtime")
REPLACED = ("/app", "/data", "/dev", "/proc", "/run/proctor", "/tmp", "/work")  # noqa: S108  the sandbox's own
"""Where a sandbox has folders of its own, whatever this machine has there."""


class Shown(Struct, frozen=True):
    """Folders and files that are seen read-only, links, and folders among them that are seen empty."""

    binds: tuple[tuple[str, str], ...]
    """What is shown, and where; in the order in which they are mounted."""
    links: tuple[tuple[str, str], ...]
    covered: tuple[str, ...]

    @property
    def paths(self) -> tuple[str, ...]:
        return tuple(target for _, target in self.binds) + tuple(path for path, _ in self.links)


def is_replaced(python: Path) -> bool:
    """Whether a folder of the sandbox's own would hide this interpreter."""
    return any(_is_below(str(place), top) for top in REPLACED for place in (python, python.resolve()))


def shown(python: Path) -> Shown:
    """The system and this interpreter; a SandboxError where a sandbox cannot show the interpreter."""
    if is_replaced(python):
        raise SandboxError(
            f"The interpreter {python} lies where every sandbox has a folder of its own ({', '.join(REPLACED)}): "
            "install Python elsewhere."
        )
    binds: list[tuple[str, str]] = []
    links: list[tuple[str, str]] = []
    for path in (*_SYSTEM, *_TOP):
        if Path(path).is_symlink() and _is_among(Path(path).resolve(), (*_SYSTEM, *_TOP)):
            links.append((path, str(Path(path).readlink())))
        elif Path(path).is_dir():
            binds.append((path, path))
    binds += [(path, path) for path in _FILES if Path(path).exists()]
    for source, target in _interpreter_folders(python):
        if not _is_among(target, [known for _, known in binds]):
            binds.append((source, target))
    return Shown(tuple(binds), tuple(links), _covered([target for _, target in binds], python))


def _interpreter_folders(python: Path) -> list[tuple[str, str]]:
    """Its programs and its libraries, by every name under which it looks for them."""
    prefixes = {python.resolve().parents[1], python.parents[1]}
    is_ours = os.path.realpath(python) == os.path.realpath(sys.executable)
    if is_ours:
        prefixes |= {Path(sys.base_prefix), Path(sys.base_exec_prefix), Path(sys.base_prefix).resolve()}
    folders = [prefix / name for prefix in sorted(prefixes) for name in ("bin", *_LIBRARIES)]
    return [(os.path.realpath(folder), str(folder)) for folder in folders if folder.is_dir()]


def _covered(folders: list[str], python: Path) -> tuple[str, ...]:
    """Every folder of installed packages, and whatever of ours lies below what is shown."""
    installed = [
        str(found)
        for folder in folders
        for name in ("site-packages", "dist-packages")
        for found in sorted(Path(folder).glob(f"*/{name}"))
        if found.is_dir() and not found.is_symlink()
    ]
    needed = [os.path.realpath(python), str(Path(os.__file__).parent.resolve()), *map(os.path.realpath, folders)]
    ours = [
        name
        for path in _ours()
        for name in {str(path), os.path.realpath(path)}
        if _is_among(name, folders) and not any(_is_below(one, name) for one in needed)
    ]
    found = sorted({*installed, *ours})
    return tuple(path for path in found if not any(path != other and _is_below(path, other) for other in found))


def _ours() -> list[Path]:
    """Our own package and what it is imported with, the user's home and working folder, where runs are kept."""
    standard = {os.path.realpath(sysconfig.get_path(name)) for name in ("stdlib", "platstdlib")}
    imported = [
        Path(entry)
        for entry in sys.path
        if entry and Path(entry).is_dir() and not _is_among(os.path.realpath(entry), standard)
    ]
    virtual = [Path(sys.prefix)] if sys.prefix != sys.base_prefix else []
    home = [Path(given) for given in (os.environ.get("PROCTOR_HOME"),) if given]
    with contextlib.suppress(RuntimeError):  # a user without a home
        home.append(Path.home())
    with contextlib.suppress(FileNotFoundError):  # a working folder that is gone
        home.append(Path.cwd())
    folders = [Path(__file__).parents[1], *imported, *virtual, *home]
    return [folder.absolute() for folder in folders if folder.is_dir()]


def _is_below(path: str | Path, folder: str | Path) -> bool:
    """The folder itself, too."""
    return f"{path}/".startswith(f"{str(folder).rstrip('/')}/")


def _is_among(path: str | Path, folders: Iterable[str]) -> bool:
    return any(_is_below(path, folder) for folder in folders)
