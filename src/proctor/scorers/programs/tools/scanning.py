"""Bandit, pip-audit, npm audit and Trivy: what is dangerous in the program and in what it brings along."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping, Sequence
from typing import Any

from proctor.domain.message import Json
from proctor.scorers.programs.tools.running import (
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
)


async def bandit(copy: Copy) -> dict[str, Json]:
    """Comments that silence it are not heeded."""
    version = installed("bandit")
    if version is None:
        return absent("bandit")
    command = module("bandit", "-r", ".", "-f", "json", "-q", "--exit-zero", "--ignore-nosec")
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
    return ran(version, **found(findings))


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
        last = err.decode("utf-8", "replace").strip().splitlines()[-1:] or ["it said nothing"]
        return not_run(f"its database could not be reached: {last[0][:300]}", version)
    findings = [
        {"file": "requirements.txt", "line": 0, "code": one["id"], "message": f"{package['name']} {package['version']}"}
        for package in json.loads(out)["dependencies"]
        for one in package.get("vulns", ())
    ]
    return ran(version, **found(findings))


def npm_audit(files: Mapping[str, bytes], language: str) -> dict[str, Json]:
    """Programs bring no npm packages along: nothing is installed from a registry."""
    if language != "javascript":
        return not_applicable("the program is not JavaScript")
    try:
        wanted: Any = json.loads(files.get("package.json", b"{}"))
        names = [*wanted.get("dependencies", {}), *wanted.get("optionalDependencies", {})]
    except (ValueError, AttributeError, TypeError):
        names = []
    if not names:
        return not_applicable("the program brings no npm packages along")
    return not_run("npm audit needs a package registry, and none is used")


async def trivy(copy: Copy) -> dict[str, Json]:
    """Secrets and known vulnerabilities, with the database that is there; its age is recorded."""
    path = shutil.which("trivy")
    if path is None:
        return not_run("trivy is not on this machine")
    _, about, _ = await run_tool((path, "version", "--format", "json"), copy.folder)
    known = json.loads(about)
    options = ("--scanners", "vuln,secret", "--format", "json", "--quiet", "--skip-db-update", "--offline-scan")
    code, out, err = await run_tool((path, "fs", *options, "."), copy.folder)
    if code != 0:
        return not_run(err.decode("utf-8", "replace").strip()[-300:], str(known.get("Version")))
    findings = [
        {
            "file": str(result.get("Target", "")),
            "line": int(one.get("StartLine") or 0),
            "code": str(one.get("VulnerabilityID") or one.get("RuleID")),
            "severity": str(one.get("Severity", "LOW")),
            "message": str(one.get("Title", "")),
        }
        for result in json.loads(out).get("Results") or ()
        for kind in ("Vulnerabilities", "Secrets")
        for one in result.get(kind) or ()
    ]
    database = (known.get("VulnerabilityDB") or {}).get("UpdatedAt")
    return ran(str(known.get("Version")), database_updated=database, **found(findings))
