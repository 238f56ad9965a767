"""npm audit: known vulnerabilities of exactly the npm packages that were installed."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from proctor.domain.errors import PackageSourceError
from proctor.domain.message import Json
from proctor.programs.entry import JAVASCRIPT
from proctor.programs.packages.npm import npm_command, npm_registry, write_lock
from proctor.programs.packages.npm_lock import LOCK, read_npm_lock, read_npm_names
from proctor.programs.tools.running import found, not_applicable, not_run, ran
from proctor.programs.tools.scratch import scratch

_SEVERITIES = {"critical": "CRITICAL", "high": "HIGH", "moderate": "MEDIUM", "low": "LOW"}


async def npm_audit(files: Mapping[str, bytes], language: str, pins: Sequence[str]) -> dict[str, Json]:
    """What the registry knows; one that answers no such question leaves it unmeasured."""
    if language != JAVASCRIPT:
        return not_applicable("the program is not JavaScript")
    if not pins:
        return not_applicable("the program brings no npm packages along")
    try:
        registry = await npm_registry()
    except PackageSourceError as error:
        return not_run(str(error))
    if registry is None:
        return not_run("npm has no registry set")
    names = [pin.rpartition("@")[0] for pin in pins]  # as installed, so allowed
    lock = read_npm_lock(files, read_npm_names(files, [f"npm:{name}" for name in names]), registry)
    with scratch() as folder:
        write_lock(folder, lock)
        code, out, err = await npm_command(folder, registry, "audit", "--json", "--package-lock-only", "--omit=dev")
    answer = json.loads(out) if out.strip() else {}
    if code not in (0, 1) or "vulnerabilities" not in answer or "auditReportVersion" not in answer:
        words = answer.get("message") or " ".join(err.decode("utf-8", "replace").split()) or "it said nothing"
        return not_run(f"it ended with exit code {code}: {str(words)[-300:]}")
    return read_npm_audit(answer)


def read_npm_audit(answer: Mapping[str, Any]) -> dict[str, Json]:
    findings = [
        {
            "file": LOCK,
            "line": 0,
            "code": _advisory(one),
            "severity": _SEVERITIES.get(str(one.get("severity")), "LOW"),
            "message": f"{name} {one.get('range', '')}".strip(),
        }
        for name, one in answer["vulnerabilities"].items()
    ]
    return ran(None, **found(findings))


def _advisory(one: Mapping[str, Any]) -> str:
    """The first advisory about the package itself; where there is none, the package it is vulnerable through."""
    via = one.get("via") or ["unknown"]
    own = next((str(each.get("url", "")).rpartition("/")[2] for each in via if isinstance(each, Mapping)), "")
    return own or f"via {via[0]}"
