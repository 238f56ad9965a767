"""Oxlint and Oxfmt: for JavaScript what Ruff and Black are for Python."""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Iterator, Sequence
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import PurePosixPath

from proctor.domain.message import Json
from proctor.programs.tools.running import (
    Copy,
    ToolError,
    absent,
    copied,
    found,
    installed,
    ran,
    relative,
    run_tool,
    script,
)

_SILENCING = re.compile(r"eslint|oxlint|prettier|oxfmt", re.IGNORECASE)
_CATEGORIES = ("--deny=correctness", "--deny=suspicious")
_OPTIONS = ("--disable-nested-config", "--no-ignore", "--threads=1", "--format=json")


async def oxlint(copy: Copy) -> dict[str, Json]:
    """What is wrong or most likely wrong; matters of taste are not asked for."""
    version, binary = installed("oxlint"), _binary("oxlint")
    if version is None or binary is None:
        return absent("oxlint")
    with _plainly_named(copy) as (other, names):
        said = await _said(binary, _CATEGORIES, other)
    findings = [
        {
            "file": names[PurePosixPath(one["filename"]).name],
            "line": one["labels"][0]["span"]["line"] if one["labels"] else 0,
            "code": one.get("code") or "error",
            "message": one["message"],
        }
        for one in said
    ]
    return ran(version, lines=copy.lines, **found(findings))


async def parsed(copy: Copy) -> list[str]:
    """Which of these files are JavaScript; ToolError where nobody can tell."""
    binary = _binary("oxlint")
    if binary is None:
        raise ToolError(str(absent("oxlint")["reason"]))
    said = await _said(binary, ("--allow=all",), copy)
    wrong = {relative(one["filename"], copy.folder) for one in said}  # without rules, only the parser speaks
    return [path for path in copy.files if path not in wrong]


async def _said(binary: str, rules: Sequence[str], copy: Copy) -> list[dict[str, Json]]:
    """What Oxlint says about each of these files; it must have read them all."""
    code, out, err = await run_tool((binary, *_OPTIONS, *rules, *copy.paths), copy.folder)
    answer = json.loads(out) if code in (0, 1) else {}  # 1 says that there are findings
    if answer.get("number_of_files") != len(copy.files):
        raise ToolError((err or out).decode("utf-8", "replace")[-300:])
    said: list[dict[str, Json]] = answer["diagnostics"]
    return said


async def oxfmt(copy: Copy) -> dict[str, Json]:
    """Which files are as Oxfmt writes them, in the layout that suits the program best."""
    version, binary = installed("oxfmt"), _binary("oxfmt")
    if version is None or binary is None:
        return absent("oxfmt")
    with _plainly_named(copy) as (other, names):
        code, out, err = await run_tool(script("layouts.py", binary, *other.paths), other.folder)
    if code != 0:
        raise ToolError(err.decode("utf-8", "replace")[-300:])
    answer = json.loads(out)
    findings = [
        {
            "file": names[PurePosixPath(name).name],
            "line": 1,
            "code": "format",
            "message": "Oxfmt would write it otherwise",
        }
        for name in answer["unformatted"]
    ]
    return ran(
        version, files=len(names), formatted=len(names) - len(findings), layout=answer["layout"], **found(findings)
    )


def _binary(package: str) -> str | None:
    """Where the package put its program: beside other scripts, wherever that is."""
    try:
        files = distribution(package).files or ()
    except PackageNotFoundError:
        return None
    return next((str(file.locate()) for file in files if file.name in (package, f"{package}.exe")), None)


@contextlib.contextmanager
def _plainly_named(copy: Copy) -> Iterator[tuple[Copy, dict[str, str]]]:
    """The files under names that no tool leaves out without a word, as it does `node_modules` and `x.min.js`."""
    names = {f"{number}{PurePosixPath(path).suffix}": path for number, path in enumerate(copy.files)}
    with copied({name: unsilenced(copy.files[path]) for name, path in names.items()}) as other:
        yield other, names


def unsilenced(content: bytes) -> bytes:
    """No comment tells a tool to look away; everything keeps its length, and is read as Node reads it."""
    text = _SILENCING.sub(lambda word: "x" * len(word[0]), content.decode("utf-8", "replace"))
    return text.replace("\r\n", "\n").encode()
