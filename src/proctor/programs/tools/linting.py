"""Ruff, mypy, Black and complexity: what a reader of the program would trip over."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Mapping

from proctor.domain.message import Json
from proctor.programs.tools.running import (
    Copy,
    ToolError,
    absent,
    copied,
    found,
    installed,
    module,
    ran,
    relative,
    run_tool,
    script,
)

RULES = "E4,E7,E9,F,B,PLE,W6"
MAX_COMPLEXITY = 10
"""The cyclomatic complexity up to which a function is called simple."""
LINE_LENGTHS = (88, 79, 100, 120)
"""A program is formatted when it is what Black makes of it at one of these."""
_FORGIVING = re.compile(rb"lizard|GENERATED CODE")


async def ruff(copy: Copy) -> dict[str, Json]:
    version = installed("ruff")
    if version is None:
        return absent("ruff")
    options = ("--isolated", "--no-cache", "--ignore-noqa", "--exit-zero", "--output-format=json", f"--select={RULES}")
    code, out, err = await run_tool(module("ruff", "check", *options, *copy.paths), copy.folder)
    if code != 0:
        raise ToolError(err.decode("utf-8", "replace")[-300:])
    findings = [
        {
            "file": relative(one["filename"], copy.folder),
            "line": one["location"]["row"],
            "code": one["code"],
            "message": one["message"],
        }
        for one in json.loads(out)
    ]
    return ran(version, lines=copy.lines, **found(findings))


async def mypy(copy: Copy) -> dict[str, Json]:
    """Ordinary checking, not the strict one."""
    version = installed("mypy")
    if version is None:
        return absent("mypy")
    options = (
        *("--config-file=", "--no-incremental", "--cache-dir=/dev/null", "--no-site-packages"),
        *("--ignore-missing-imports", "--check-untyped-defs", "--explicit-package-bases", "--output=json"),
    )
    code, out, err = await run_tool(module("mypy", *options, *copy.paths), copy.folder)
    lines = [json.loads(line) for line in out.splitlines() if line.startswith(b"{")]
    if code not in (0, 1):  # it stopped before it had checked anything
        raise ToolError((err or out).decode("utf-8", "replace")[-300:])
    findings = [
        {
            "file": relative(one["file"], copy.folder),
            "line": one["line"],
            "code": one["code"] or "error",
            "message": one["message"],
        }
        for one in lines
        if one["severity"] == "error"
    ]
    return ran(version, lines=copy.lines, **found(findings))


async def black(copy: Copy) -> dict[str, Json]:
    version = installed("black")
    if version is None:
        return absent("black")
    lengths = ",".join(map(str, LINE_LENGTHS))
    code, out, err = await run_tool(script("formatting.py", lengths, *copy.files), copy.folder)
    if code != 0:
        raise ToolError(err.decode("utf-8", "replace")[-300:])
    answer: Mapping[str, Json] = json.loads(out)
    findings = [
        {"file": path, "line": 1, "code": "format", "message": "Black would write this file otherwise"}
        for path in answer["unformatted"]
    ]
    formatted = len(copy.files) - len(findings)
    return ran(
        version, files=len(copy.files), formatted=formatted, line_length=answer["line_length"], **found(findings)
    )


async def complexity(copy: Copy) -> dict[str, Json]:
    """Lizard's cyclomatic complexity, of Python and JavaScript alike; it is asked to forgive by its name, in vain."""
    version = installed("lizard")
    if version is None:
        return absent("lizard")
    unforgiven = {path: _FORGIVING.sub(b"reptile", content) for path, content in copy.files.items()}
    with copied(unforgiven) as other:
        code, out, err = await run_tool(module("lizard", "--csv", *other.paths), other.folder)
    if code not in (0, 1):  # 1 says that there are warnings
        raise ToolError(err.decode("utf-8", "replace")[-300:])
    rows = [row for row in csv.reader(io.StringIO(out.decode("utf-8", "replace"))) if len(row) >= 10]
    findings = [
        {
            "file": relative(row[6], copy.folder),
            "line": int(row[9]),
            "code": f"complexity {row[1]}",
            "message": f"{row[7]} is hard to follow",
        }
        for row in rows
        if int(row[1]) > MAX_COMPLEXITY
    ]
    most = max((int(row[1]) for row in rows), default=0)
    return ran(version, functions=len(rows), simple=len(rows) - len(findings), most=most, **found(findings))
