"""package.json and package-lock.json of a program: read as untrusted text, rewritten to what npm is to install."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

from msgspec import Struct

from proctor.programs.packages.package_set import BuildError

DESCRIPTION, LOCK = "package.json", "package-lock.json"
MAX_PACKAGES = 2_000
PREFIX = "npm:"
"""What stands before an npm package among the dependencies that a problem allows."""
NAME = re.compile(r"(?:@[a-z0-9~-][a-z0-9._~-]*/)?[a-z0-9~-][a-z0-9._~-]*")
_VERSION = re.compile(r"\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?(?:\+[0-9A-Za-z.-]+)?")
_RANGE = re.compile(r"[\w.^~<>=|*+ -]*")
"""Versions only: no address, no path, no alias for another package."""
_INTEGRITY = re.compile(r"sha512-[A-Za-z0-9+/]{86}==")
_PUBLIC_REGISTRY = "https://registry.npmjs.org/"
_EDGES = ("dependencies", "optionalDependencies", "peerDependencies")
_TRAITS = ("optional", "peer", "os", "cpu", "libc", "peerDependenciesMeta")


class NpmLock(Struct, frozen=True):
    """What npm is given: nothing of the program's but names, versions and hashes."""

    direct: Mapping[str, str]
    packages: Mapping[str, Mapping[str, Any]]
    """By the folder that each is installed in."""

    @property
    def description(self) -> str:
        return json.dumps({**_ROOT, "private": True, "dependencies": dict(self.direct)})

    @property
    def text(self) -> str:
        root = {**_ROOT, "dependencies": dict(self.direct)}
        return json.dumps({**_ROOT, "lockfileVersion": 3, "requires": True, "packages": {"": root, **self.packages}})


_ROOT = {"name": "program", "version": "0.0.0"}


def read_npm_names(files: Mapping[str, bytes], allowed: Sequence[str]) -> dict[str, str]:
    """The packages that the program itself asks for; BuildError where the problem does not allow one."""
    direct = _direct(_parse(files, DESCRIPTION))
    permitted = {name.removeprefix(PREFIX) for name in allowed if name.startswith(PREFIX)}
    for name in direct:
        if name not in permitted:
            may = f"it allows {', '.join(sorted(permitted))}" if permitted else "it allows none"
            raise BuildError(f"{DESCRIPTION}: the problem does not allow the package {name[:80]!r}; {may}")
    return direct


def read_npm_lock(files: Mapping[str, bytes], direct: Mapping[str, str], registry: str | None) -> NpmLock:
    """Everything that is to be installed; BuildError where it is not pinned, or is to come from elsewhere."""
    if LOCK not in files:
        raise BuildError(f"{DESCRIPTION} asks for {', '.join(direct)}, which no {LOCK} pins: add it")
    locked = _parse(files, LOCK)
    entries = locked.get("packages")
    if locked.get("lockfileVersion") not in (2, 3) or not isinstance(entries, dict):
        raise BuildError(f"{LOCK} is not of version 2 or 3, which npm 7 and newer write")
    if len(entries) > MAX_PACKAGES:
        raise BuildError(f"{LOCK} has {len(entries):,} packages; at most {MAX_PACKAGES:,} are installed")
    return NpmLock(direct, {path: _entry(path, entry, registry) for path, entry in entries.items() if path})


def _parse(files: Mapping[str, bytes], name: str) -> dict[str, Any]:
    try:
        found = json.loads(files.get(name, b"{}"))
    except (ValueError, RecursionError) as error:
        raise BuildError(f"{name} is not JSON: {error}") from None
    if not isinstance(found, dict):
        raise BuildError(f"{name} is not a JSON object")
    return found


def _direct(described: Mapping[str, Any]) -> dict[str, str]:
    for field in ("optionalDependencies", "peerDependencies", "workspaces", "overrides", "bundleDependencies"):
        if described.get(field):
            raise BuildError(f"{DESCRIPTION}: {field!r} is not supported; list packages in 'dependencies'")
    return _ranges(described.get("dependencies"), f"{DESCRIPTION}: dependencies")


def _ranges(given: Any, where: str) -> dict[str, str]:
    if not given:
        return {}
    if not isinstance(given, dict):
        raise BuildError(f"{where}: {json.dumps(given)[:80]} is no object with a version for each name")
    for name, versions in given.items():
        if not NAME.fullmatch(name):
            raise BuildError(f"{where}: {name[:80]!r} is not the name of a package")
        if not isinstance(versions, str) or not _RANGE.fullmatch(versions):
            raise BuildError(f"{where}: {name}: {json.dumps(versions)[:80]} is not a version")
    return dict(given)


def _entry(path: str, entry: Any, registry: str | None) -> dict[str, Any]:
    where = f"{LOCK}: {path[:120]!r}"
    steps = path.split("node_modules/")
    if steps[0] or not all(NAME.fullmatch(step.removesuffix("/")) for step in steps[1:]) or path.endswith("/"):
        raise BuildError(f"{where} is not a folder of node_modules")
    if not isinstance(entry, dict) or not _VERSION.fullmatch(str(entry.get("version"))):
        raise BuildError(f"{where} has no exact version")
    if entry.get("link") or ("name" in entry and entry["name"] != steps[-1]):
        raise BuildError(f"{where} stands for something else; packages come from the registry only")
    made = {"version": entry["version"]}
    if entry.get("inBundle") is True:
        made["inBundle"] = True  # it comes in another's archive, under that one's hash
    else:
        _refuse_other_sources(where, steps[-1], entry.get("resolved"), registry)
        if not isinstance(entry.get("integrity"), str) or not _INTEGRITY.fullmatch(entry["integrity"]):
            raise BuildError(f"{where} has no sha512 hash ('integrity')")
        made["integrity"] = entry["integrity"]
    made |= {field: _ranges(entry[field], f"{where}: {field}") for field in _EDGES if entry.get(field)}
    return made | {field: entry[field] for field in _TRAITS if field in entry}


def _refuse_other_sources(where: str, name: str, resolved: Any, registry: str | None) -> None:
    """The address itself is never used: npm asks its user's registry for the name and the version."""
    if resolved is None:
        return
    hosts = {urlsplit(one).hostname for one in (_PUBLIC_REGISTRY, registry) if one}
    try:
        address = urlsplit(str(resolved))
        is_registry = address.scheme in ("https", "http") and address.hostname in hosts
    except ValueError:
        is_registry = False
    if not is_registry or f"/{name}/-/" not in address.path:
        raise BuildError(f"{where} is to come from {str(resolved)[:120]!r}; packages come from the registry only")
