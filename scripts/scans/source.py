"""The program's own source: ruff's security rules, and bandit, which sees some things that they do not."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path

from scans.result import ROOT, ScanResult, call, find_tool, missing

PLACES = ("src", "deploy", "hatch_build.py")
DATA = "src/proctor/catalog/problems"
"""Solutions and mutants of problems: read by nobody but a sandbox."""
ACCEPTED = {
    ("src/proctor/sandboxes/inside/", "B108"): "folders within the root that a sandbox makes for itself",
    (
        "src/proctor/sandboxes/inside/agent_files.py",
        "B103",
    ): "scripts of a workspace, which others than their owner start",
    ("src/proctor/stores/migrations/versions/", "B608"): "statements of our own; nothing that a caller sent is in them",
}
"""Where a rule of bandit's does not fit, and why; ruff's are explained where they are."""
EXPLAINED = re.compile(r"noqa: ?(?P<codes>[A-Z0-9, ]+)")


def scan_source(places: Sequence[str | Path] = PLACES) -> ScanResult:
    ruff, bandit = find_tool("ruff"), find_tool("bandit")
    if ruff is None or bandit is None:
        return missing("ruff or bandit")
    done = call([ruff, "check", "--no-cache", "--select", "S", "--ignore", "S311", "--output-format", "json", *places])
    rows = json.loads(done.stdout)
    found = [f"{_near(row['filename'])}:{row['location']['row']}: {row['code']} {row['message']}" for row in rows]
    excluded = ROOT / DATA
    done = call([bandit, "-q", "-r", *places, "-ll", "-ii", "-f", "json", "-x", str(excluded)], seconds=600)
    said = json.loads(done.stdout)
    # bandit gives back paths as they were given to it; what is excluded may be left in by how it is written.
    rows = [row for row in said["results"] if DATA not in row["filename"] and not _is_explained(row)]
    found += [f"{_near(row['filename'])}:{row['line_number']}: {row['test_id']} {row['issue_text']}" for row in rows]
    return ScanResult(tuple(found), "ruff's rules S, and bandit")


def _is_explained(row: dict[str, object]) -> bool:
    """Whether a line of it says that this rule was thought of: bandit's B603 is ruff's S603."""
    name, rule = _near(str(row["filename"])), str(row["test_id"])
    if any(name.startswith(place) and rule == code for place, code in ACCEPTED):
        return True
    path = ROOT / name
    lines = path.read_text().splitlines()
    numbers = row.get("line_range") or [row["line_number"]]
    assert isinstance(numbers, list)
    wanted = str(row["test_id"]).replace("B", "S", 1)
    first, last = min(numbers) - 1, max(numbers)
    texts = lines[max(0, first - 1) : last + 1]
    return any(wanted in match["codes"] for text in texts if (match := EXPLAINED.search(text)))


def _near(path: str) -> str:
    return path.removeprefix(f"{ROOT}/")
