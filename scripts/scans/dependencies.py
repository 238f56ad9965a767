"""Versions in the lockfiles: below a floor that is known, without a hash, or with an advisory against them."""

from __future__ import annotations

import json
import os
import re
import tempfile
from pathlib import Path

from scans.result import ROOT, ScanResult, call, find_tool, missing

LOCKS = ("requirements/image.lock", "requirements/build.lock", "requirements/dev.lock")
NPM_LOCK = "dashboard/package-lock.json"
FLOORS = {"starlette": "1.10", "python-multipart": "0.0.26", "jinja2": "3.1.6", "pyjwt": "2.13", "cryptography": "44"}
"""Older ones have known holes; looked up once, valid without any database."""
PINNED = re.compile(r"^([A-Za-z0-9._-]+)==([^\s;\\]+)", re.MULTILINE)
HOST = re.compile(r"https?://([\w.-]+)")
KNOWN_BAD = "jinja2==2.4.1"
"""An old version with advisories: who finds nothing against it has no database."""


def lock_findings(path: Path) -> list[str]:
    """What can be said without a database."""
    text, found = path.read_text(), []
    blocks = re.split(r"\n(?=[A-Za-z0-9])", text)
    for block in blocks:
        if (pinned := PINNED.match(block)) is None:
            continue
        name, version = pinned[1].lower().replace("_", "-"), pinned[2]
        if "--hash=sha256:" not in block:
            found.append(f"{path.name}: {name} {version} has no hash")
        floor = FLOORS.get(name)
        if floor is not None and _parts(version) < _parts(floor):
            found.append(f"{path.name}: {name} {version} is older than {floor}, which closed known holes")
    return found + [f"{path.name}: names the host {host}" for host in sorted(set(HOST.findall(text)))]


def _parts(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", version)[:4])


def npm_findings(path: Path) -> list[str]:
    packages = json.loads(path.read_text())["packages"]
    found = [
        f"{path.name}: {name} has no hash"
        for name, package in packages.items()
        if name and "integrity" not in package and not package.get("link")
    ]
    return found + [f"{path.name}: {name} names a host" for name, package in packages.items() if "resolved" in package]


def scan_locks(locks: tuple[str, ...] = LOCKS, npm_lock: str = NPM_LOCK) -> ScanResult:
    found = [line for lock in locks for line in lock_findings(ROOT / lock)] + npm_findings(ROOT / npm_lock)
    return ScanResult(tuple(found), f"{len(locks) + 1} lockfiles: hashes, hosts, floors")


def scan_advisories(lock: str = LOCKS[0], environment: dict[str, str] | None = None) -> ScanResult:
    """pip-audit says that all is well where it reaches no database: it is first asked about what is known to be bad."""
    tool = find_tool("pip-audit")
    if tool is None:
        return missing("pip-audit")
    with tempfile.TemporaryDirectory(prefix="proctor-scan-") as folder:
        control = Path(folder) / "control.txt"
        control.write_text(f"{KNOWN_BAD}\n")
        if not _audit(tool, control, environment):
            return ScanResult(
                not_measured=f"the database of advisories knows nothing against {KNOWN_BAD}: out of reach"
            )
        return ScanResult(tuple(_audit(tool, ROOT / lock, environment) or ()), f"advisories against {lock}")


def _audit(tool: str, path: Path, environment: dict[str, str] | None) -> list[str]:
    command = [
        tool,
        "-r",
        path,
        "--disable-pip",
        "--no-deps",
        "-f",
        "json",
        "--progress-spinner",
        "off",
        "--timeout",
        "20",
    ]
    done = call(command, environment={**os.environ, **(environment or {})})
    try:
        rows = json.loads(done.stdout)["dependencies"]
    except (ValueError, KeyError):
        return []
    return [f"{row['name']} {row['version']}: {one['id']}" for row in rows for one in row.get("vulns", ())]


def scan_npm_advisories() -> ScanResult:
    """npm's own audit; where the registry has no advisories it ends with an error, which is no all-clear."""
    npm = find_tool("npm")
    if npm is None:
        return missing("npm")
    done = call([npm, "audit", "--json", "--package-lock-only", "--prefix", ROOT / "dashboard"], seconds=120)
    try:
        said = json.loads(done.stdout)
    except ValueError:
        said = {}
    if "vulnerabilities" not in said:
        return ScanResult(not_measured="the npm registry gives no advisories")
    rows = said["vulnerabilities"].items()
    return ScanResult(
        tuple(f"{name}: {row['severity']}" for name, row in rows), "advisories against the dashboard's packages"
    )
