"""Safety: a second opinion on known vulnerabilities of the Python packages that were installed."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from proctor.domain.message import Json
from proctor.programs.tools.running import Copy, found, installed, module, not_applicable, not_run, ran, run_tool
from proctor.programs.tools.scanning import stale_database

DATABASE_DAYS = 35
"""How old a database on this machine may be; the public one is made anew every month."""
_CLEAN, _VULNERABLE = 0, 64
"""The exit codes with a report."""


async def safety(copy: Copy, pins: Sequence[str]) -> dict[str, Json]:
    """Vulnerabilities by package; one that cannot be reached, is stale or left packages out did not run."""
    if not pins:
        return not_applicable("the program brings no Python packages along")
    command = _command()
    if command is None:
        return not_run("safety is not on this machine")
    folder = os.environ.get("SAFETY_DB_DIR")
    updated = _database_updated(Path(folder)) if folder else None
    if folder and (stale := stale_database(updated, DATABASE_DAYS)):
        return {**not_run(stale), "database_updated": updated}
    listed = copy.folder / "pins.txt"
    listed.write_text("\n".join(pins), encoding="utf-8")
    options = ("-r", str(listed), "--output", "json", "--disable-audit-and-monitor")
    local = ("--db", folder) if folder else ()
    kept = {name: os.environ[name] for name in ("SAFETY_API_KEY",) if name in os.environ}
    code, out, err = await run_tool((*command, "check", *options, *local), copy.folder, environment=kept)
    if code not in (_CLEAN, _VULNERABLE):
        lines = (err or out).decode("utf-8", "replace").strip().splitlines()
        return not_run(f"it ended with exit code {code}: {lines[-1][-300:] if lines else 'it said nothing'}")
    return {**read_report(_json_in(out), pins), "database_updated": updated}


def read_report(report: Any, pins: Sequence[str]) -> dict[str, Json]:
    """What its report says; a package that it does not name was not looked up, and one of those is no all-clear."""
    version = str(report["report_meta"]["safety_version"])
    scanned = {_key(str(name)) for name in report["scanned_packages"]}
    missed = [pin for pin in pins if _key(pin.partition("==")[0]) not in scanned]
    if missed:
        return not_run(f"it did not look up {', '.join(missed)}"[:300], version)
    findings = [
        {
            "file": "requirements.txt",
            "line": 0,
            "code": str(one.get("CVE") or one["vulnerability_id"]),
            "message": f"{one['package_name']} {one['analyzed_version']}",
        }
        for one in report["vulnerabilities"]
    ]
    return ran(version, **found(findings))


def _command() -> tuple[str, ...] | None:
    if installed("safety") is not None:
        return module("safety")
    path = shutil.which("safety")
    return (path,) if path else None


def _json_in(out: bytes) -> Any:
    """Its report; newer versions print notices around it."""
    text = out.decode("utf-8", "replace")
    return json.JSONDecoder().raw_decode(text, text.index("{"))[0]


def _database_updated(folder: Path) -> str | None:
    """When the database in a folder was made; None where it does not say."""
    try:
        known = json.loads((folder / "insecure.json").read_bytes())
        moment = (known.get("$meta") or known.get("meta"))["timestamp"]
        return datetime.fromtimestamp(int(moment), UTC).isoformat()
    except (OSError, ValueError, TypeError, LookupError, AttributeError, OverflowError):
        return None


def _key(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
