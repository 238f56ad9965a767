"""npm packages: installed outside by `npm ci` without any script, looked through, and packed for the workspace."""

from __future__ import annotations

import io
import json
import os
import shutil
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from proctor.domain.errors import PackageSourceError
from proctor.programs.packages.npm_lock import DESCRIPTION, LOCK, NpmLock
from proctor.programs.packages.operator_tools import npm_user_settings, proxies, read_npm_registry, run_confined
from proctor.programs.packages.package_set import MAX_PACKED_BYTES, BuildError, PackageSet
from proctor.programs.tools.running import ToolError
from proctor.programs.tools.scratch import scratch

ARCHIVE = "node_modules.zip"
MAX_FILES = 20_000
MAX_UNPACKED_BYTES = 256 << 20
_EDGES = ("dependencies", "optionalDependencies", "peerDependencies")


async def npm_registry() -> str | None:
    """The registry of npm's user; None where none was chosen."""
    try:
        with scratch() as folder:
            return await read_npm_registry(folder)
    except ToolError as error:
        raise PackageSourceError(f"npm packages cannot be installed: {error}.") from error


async def install_npm_packages(lock: NpmLock, registry: str) -> PackageSet:
    """Exactly what the lock names; a registry that does not answer is no fault of the program's."""
    with scratch() as folder:
        write_lock(folder, lock)
        options = (
            "--ignore-scripts",
            "--no-bin-links",
            "--omit=dev",
            "--no-audit",
            "--no-fund",
            "--install-links=false",
        )
        code, said = await _npm(folder, registry, "ci", *options)
        if code != 0:
            raise await _whose_fault(folder, lock, registry, said)
        modules = folder / "node_modules"
        files = _files_in(modules)
        installed = _needed(lock, modules)
        archives = {ARCHIVE: _zip(modules, files)}
    return PackageSet(archives, tuple(sorted(f"{_name(path)}@{version}" for path, version in installed.items())))


def write_lock(folder: Path, lock: NpmLock) -> None:
    (folder / DESCRIPTION).write_text(lock.description, encoding="utf-8")
    (folder / LOCK).write_text(lock.text, encoding="utf-8")


async def npm_command(folder: Path, registry: str, *words: str) -> tuple[int, bytes, bytes]:
    """npm with its user's registry and keys, and nothing else of this machine's; ToolError as tools raise it."""
    path = shutil.which("npm")
    if path is None:
        raise ToolError("npm is needed to install packages; install it beside Proctor")
    options = (f"--registry={registry}", f"--userconfig={npm_user_settings()}", f"--cache={folder / '.npm'}")
    quiet = ("--no-update-notifier", "--loglevel=error", "--fetch-retries=1", "--fetch-timeout=60000")
    environment = {
        **proxies(),
        "PATH": os.environ.get("PATH", os.defpath),
        "NODE_OPTIONS": "--max-old-space-size=1024",
        **{name: os.environ[name] for name in ("NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE") if name in os.environ},
    }
    return await run_confined((path, *words, *options, *quiet), folder, environment=environment, memory_bytes=None)


async def _npm(folder: Path, registry: str, *words: str) -> tuple[int, str]:
    try:
        code, _, err = await npm_command(folder, registry, *words)
    except ToolError as error:
        return 1, f"npm: {error}"
    return code, " ".join(err.decode("utf-8", "replace").split())


async def _whose_fault(folder: Path, lock: NpmLock, registry: str, said: str) -> BuildError | PackageSourceError:
    """These names are the problem's own: where the registry knows them, the lock is to blame."""
    for name in lock.direct:
        code, why = await _npm(folder, registry, "view", name, "name")
        if code != 0:
            return PackageSourceError(f"The npm registry has no {name}, or does not answer: {why[-800:]}")
    return BuildError(f"the npm packages cannot be installed: {said[-800:]}")


def _files_in(modules: Path) -> list[Path]:
    found, size = [], 0
    for path in sorted(modules.rglob("*")):
        if path.is_symlink() or not path.is_file():
            continue
        found.append(path)
        size += path.stat().st_size
        if len(found) > MAX_FILES or size > MAX_UNPACKED_BYTES:
            most = f"{MAX_FILES:,} files or {MAX_UNPACKED_BYTES >> 20} MiB"
            raise BuildError(f"the npm packages have more than {most}")
    return found


def _zip(modules: Path, files: list[Path]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as made:
        for path in files:
            made.writestr(str(path.relative_to(modules)), path.read_bytes())
    if out.tell() > MAX_PACKED_BYTES:
        raise BuildError(f"the npm packages have {out.tell():,} bytes; at most {MAX_PACKED_BYTES:,} are used")
    return out.getvalue()


def _needed(lock: NpmLock, modules: Path) -> dict[str, str]:
    """The folders of what is installed, and its version; BuildError where something is there that nobody needs.

    What is installed says itself what it needs: the lock's own word for it could smuggle any package in.
    """
    installed = {path: found for path in lock.packages if (found := _manifest(modules.parent / path)) is not None}
    needed: set[str] = set()
    waiting = [("", name) for name in lock.direct]
    while waiting:
        user, name = waiting.pop()
        path = _resolve(user, name, installed)
        if path is not None and path not in needed:
            needed.add(path)
            waiting += [(path, other) for field in _EDGES for other in _names(installed[path].get(field))]
    for path, found in installed.items():
        name, version = _name(path), lock.packages[path]["version"]
        if (found.get("name"), found.get("version")) != (name, version):
            raise BuildError(f"{LOCK}: {path!r} is {found.get('name')}@{found.get('version')}, not {name}@{version}")
        if path not in needed:
            raise BuildError(f"{LOCK}: nothing that the problem allows needs {path!r}")
    return {path: str(lock.packages[path]["version"]) for path in installed}


def _name(path: str) -> str:
    return path.rpartition("node_modules/")[2]


def _manifest(folder: Path) -> Mapping[str, Any] | None:
    try:
        found = json.loads((folder / DESCRIPTION).read_bytes())
    except (OSError, ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _names(given: Any) -> list[str]:
    return list(given) if isinstance(given, dict) else []


def _resolve(user: str, name: str, installed: Mapping[str, Any]) -> str | None:
    """Where Node.js would find a package that one in this folder asks for."""
    while True:
        path = f"{user}/node_modules/{name}".lstrip("/")
        if path in installed:
            return path
        if not user:
            return None
        user = user.rpartition("node_modules/")[0].rstrip("/")
