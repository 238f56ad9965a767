"""Bandit, pip-audit and Trivy: what is dangerous in the program and in what it brings along."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from proctor.domain.message import Json
from proctor.programs.entry import is_test
from proctor.programs.tools.running import (
    Copy,
    ToolError,
    absent,
    found,
    installed,
    module,
    not_applicable,
    not_run,
    ran,
    relative,
    run_tool,
    script,
)
from proctor.programs.tools.scratch import scratch
from proctor.version import __version__

DATABASE_DAYS = 7
"""How old Trivy's database may be; it is made anew several times a day."""
_SECRETS_ANYWHERE = "disable-allow-rules: [tests, vendor, locale-dir, usr-dirs]\n"
"""Trivy looks for secrets in no test, and in none of these folders, unless it is told to."""
_ASSERT = "B101"


async def bandit(copy: Copy) -> dict[str, Json]:
    """Comments that silence it are not heeded; an assert in a test is what tests are made of, and no finding."""
    if not copy.files:
        return not_applicable("there is no Python")
    version = installed("bandit")
    if version is None:
        return absent("bandit")
    command = module("bandit", "-x", "", "-f", "json", "-q", "--exit-zero", "--ignore-nosec", *copy.paths)
    code, out, err = await run_tool(command, copy.folder)
    if code != 0:
        raise ToolError(err.decode("utf-8", "replace")[-300:])
    answer = json.loads(out)
    if answer["errors"]:
        raise ToolError(f"it could not read {answer['errors'][0]['filename']}: {answer['errors'][0]['reason']}")
    findings = [
        {
            "file": relative(one["filename"], copy.folder),
            "line": one["line_number"],
            "code": one["test_id"],
            "severity": one["issue_severity"],
            "confidence": one["issue_confidence"],
            "message": one["issue_text"],
        }
        for one in answer["results"]
    ]
    counted = [one for one in findings if one["code"] != _ASSERT or not is_test(one["file"])]
    return ran(version, **found(counted))


async def dangers(copy: Copy) -> dict[str, Json]:
    """Our own reader of JavaScript."""
    if not copy.files:
        return not_applicable("there is no JavaScript")
    code, out, err = await run_tool(script("dangers.py", *copy.files), copy.folder)
    if code != 0:
        raise ToolError(err.decode("utf-8", "replace")[-300:])
    return ran(__version__, **found(json.loads(out)))


async def pip_audit(copy: Copy, pins: Sequence[str]) -> dict[str, Json]:
    """Known vulnerabilities of exactly what was installed; without its database it says nothing."""
    if not pins:
        return not_applicable("the program brings no Python packages along")
    version = installed("pip-audit")
    if version is None:
        return absent("pip-audit")
    listed = copy.folder / "pins.txt"
    listed.write_text("\n".join(pins), encoding="utf-8")
    command = module(
        "pip_audit", "-r", str(listed), "--no-deps", "--disable-pip", "-f", "json", "--progress-spinner=off"
    )
    code, out, err = await run_tool(command, copy.folder)
    if code not in (0, 1) or not out.strip():
        words = " ".join(err.decode("utf-8", "replace").split())[-300:] or "it said nothing"
        return not_run(f"it ended with exit code {code}: {words}", version)
    return read_audit(json.loads(out)["dependencies"], len(pins), version)


def read_audit(packages: Sequence[Mapping[str, Any]], pins: int, version: str) -> dict[str, Json]:
    """What an audit found; packages it skipped are named and are not clean ones, and with all skipped it did not run.

    `share` is the part of the packages that was looked up, where that is not all of them.
    """
    audited = [package for package in packages if "skip_reason" not in package]
    skipped = {str(one["name"]): str(one["skip_reason"]) for one in packages if "skip_reason" in one}
    if not audited:
        why = "; ".join(dict.fromkeys(skipped.values())) or "it names none of the packages"
        return not_run(f"no package could be audited: {why}"[:300], version)
    findings = [
        {"file": "requirements.txt", "line": 0, "code": one["id"], "message": f"{package['name']} {package['version']}"}
        for package in audited
        for one in package.get("vulns", ())
    ]
    partial = {"share": len(audited) / pins, "skipped": skipped} if len(audited) < pins else {}
    return ran(version, **found(findings), **partial)


async def trivy(copy: Copy) -> dict[str, Json]:
    """Secrets and known vulnerabilities, with the database that is there; an old one says nothing about today."""
    path = shutil.which("trivy")
    if path is None:
        return not_run("trivy is not on this machine")
    # Started elsewhere: it takes settings, and what to ignore, from the folder it is started in.
    with scratch() as elsewhere:
        cache = ("--cache-dir", str(_trivy_cache()))
        _, about, _ = await run_tool((path, "version", "--format", "json", *cache), elsewhere)
        known = json.loads(about)
        version, database = str(known.get("Version")), (known.get("VulnerabilityDB") or {}).get("UpdatedAt")
        stale = stale_database(database, DATABASE_DAYS)
        if stale:
            return {**not_run(stale, version), "database_updated": database}
        settings = elsewhere / "secrets.yaml"
        settings.write_text(_SECRETS_ANYWHERE, encoding="utf-8")
        where = (*cache, "--secret-config", str(settings))
        options = ("--scanners", "vuln,secret", "--format", "json", "--quiet", "--skip-db-update", "--offline-scan")
        code, out, err = await run_tool((path, "fs", *where, *options, str(copy.folder)), elsewhere)
    if code != 0:
        return not_run(err.decode("utf-8", "replace").strip()[-300:], version)
    return ran(version, database_updated=database, **found(_of_trivy(json.loads(out))))


def _of_trivy(report: Any) -> list[dict[str, Json]]:
    return [
        {
            "file": str(result.get("Target", "")),
            "line": int(one.get("StartLine") or 0),
            "code": str(one.get("VulnerabilityID") or one.get("RuleID")),
            "severity": str(one.get("Severity", "LOW")),
            "message": str(one.get("Title", "")),
        }
        for result in report.get("Results") or ()
        for kind in ("Vulnerabilities", "Secrets")
        for one in result.get(kind) or ()
    ]


def _trivy_cache() -> Path:
    """Where the user's own Trivy keeps its database; tools of ours have no home to find it from."""
    given = os.environ.get("TRIVY_CACHE_DIR")
    return Path(given) if given else Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "trivy"


def stale_database(updated: str | None, most_days: int) -> str:
    """Why this database is not to be relied on; empty when it is."""
    if not updated:
        return "it has no database of vulnerabilities"
    days = (datetime.now(UTC) - datetime.fromisoformat(updated)).days
    return f"its database is {days} days old; {most_days} are the most" if days > most_days else ""
