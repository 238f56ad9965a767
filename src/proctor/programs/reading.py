"""The security and quality phases: every tool side by side, each with its version or the reason why it did not run."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence

from proctor.domain.message import Json
from proctor.domain.workspace import Seen
from proctor.programs.code_files import Code, code_of
from proctor.programs.entry import JAVASCRIPT, PYTHON, all_sources
from proctor.programs.npm_audit import npm_audit
from proctor.programs.tools import javascript, linting, scanning
from proctor.programs.tools.running import (
    Copy,
    ToolError,
    copied,
    found,
    not_applicable,
    not_run,
    ran,
    run_tool,
    script,
)
from proctor.programs.tools.safety import safety
from proctor.version import __version__

Findings = dict[str, dict[str, Json]]
_UNSEEN = "attempts to write outside are not seen here"
_READERS: Mapping[str, Mapping[str, Callable[[Copy], Awaitable[dict[str, Json]]]]] = {
    PYTHON: {"ruff": linting.ruff, "black": linting.black, "mypy": linting.mypy},
    JAVASCRIPT: {"oxlint": javascript.oxlint, "oxfmt": javascript.oxfmt},
}
"""Those that read one language only."""
_WRITTEN = {PYTHON: "Python", JAVASCRIPT: "JavaScript"}
_QUALITY = (*(name for readers in _READERS.values() for name in readers), "complexity", "docstrings", "duplication")
_LANGUAGE = {name: language for language, readers in _READERS.items() for name in readers} | {"docstrings": PYTHON}
_SCANNERS = ("bandit", "dangers")


async def security(files: Mapping[str, bytes], language: str, pins: Sequence[str], seen: Seen | None) -> Findings:
    """What scanners found, and what the workspace saw; `seen` is None where nobody watched.

    Everything is read, tests too: whatever a file is called, the program may load it.
    """
    python_pins = pins if language == PYTHON else ()
    with copied(files) as everything:
        tools: dict[str, Awaitable[dict[str, Json]]] = {
            "source": _scanned(files),
            "pip-audit": _on_own_copy(lambda other: scanning.pip_audit(other, python_pins)),
            "safety": _on_own_copy(lambda other: safety(other, python_pins)),
            "npm-audit": npm_audit(files, language, pins),
            "trivy": scanning.trivy(everything),
        }
        findings = await _side_by_side(tools)
    return {**findings.pop("source"), **findings, "place": _workspace(seen)}


async def _scanned(files: Mapping[str, bytes]) -> Findings:
    """What stands in the source."""
    code = await _code(files)
    if isinstance(code, str):
        return {name: not_run(code) for name in _SCANNERS}
    with copied(code.written(PYTHON)) as python, copied(code.written(JAVASCRIPT)) as javascript:
        findings = await _side_by_side({"bandit": scanning.bandit(python), "dangers": scanning.dangers(javascript)})
    return _original(code, findings)


async def quality(files: Mapping[str, bytes], language: str) -> Findings:
    """What readers of the source found; where it is in two languages, a reader of one says its `share` of the lines."""
    code = await _code(files, is_own=True)
    if isinstance(code, str):
        return {name: not_run(code) for name in _QUALITY}
    parts = {one: part for one in _READERS if (part := code.written(one)) and any(map(bytes.strip, part.values()))}
    if not parts:
        return {name: not_applicable("there is no source") for name in _QUALITY}
    with copied({name: content for part in parts.values() for name, content in part.items()}) as copy:
        try:
            await _take_words_from_comments(copy)
        except ToolError as error:
            return {name: not_run(f"comments that silence it could not be found: {error}") for name in _QUALITY}
        tools: dict[str, Awaitable[dict[str, Json]]] = {"complexity": linting.complexity(copy), "read": _read(copy)}
        own = {one: copy.only(part) for one, part in parts.items()}
        tools |= {name: reader(own[one]) for one in own for name, reader in _READERS[one].items()}
        findings = await _side_by_side(tools)
    both = findings.pop("read")
    for name in ("docstrings", "duplication"):
        findings[name] = both[name] if both["status"] == "ran" else both
    if PYTHON not in parts:
        findings["docstrings"] = not_applicable("it reads Python only")
    others = [name for name in _QUALITY if name not in findings]
    findings |= {name: not_applicable(f"it does not read {_WRITTEN[language]}") for name in others}
    return _original(code, _with_shares(findings, {one: part.lines for one, part in own.items()}))


async def _code(files: Mapping[str, bytes], *, is_own: bool = False) -> Code | str:
    """What is code in it, tests among it unless only its own is asked for; or why nobody can say what it does."""
    try:
        code = await code_of(files)
    except (ToolError, ValueError, LookupError, TypeError) as error:
        return f"what is code could not be told: {error}"
    code = code.without_tests() if is_own else code
    return code.unreadable or code


def _with_shares(findings: Findings, lines: Mapping[str, int]) -> Findings:
    """A few tidy lines in another language say little about the program: its readers count for as much as it has."""
    if len(lines) < 2:
        return findings
    whole = max(sum(lines.values()), 1)
    shares = {name: round(lines[language] / whole, 6) for name, language in _LANGUAGE.items()}
    return {name: {**tool, "share": shares[name]} if name in shares else tool for name, tool in findings.items()}


def _original(code: Code, findings: Findings) -> Findings:
    """Findings name files as the program's author knows them, and not as tools were told."""
    return {
        name: {**tool, "findings": [code.original(one) for one in tool["findings"]]} if "findings" in tool else tool
        for name, tool in findings.items()
    }


async def _take_words_from_comments(copy: Copy) -> None:
    """From here on no comment tells a tool to look away."""
    python = all_sources(copy.files, PYTHON)
    code, _, err = await run_tool(script("comments.py", *python), copy.folder)
    if code != 0:
        raise ToolError(err.decode("utf-8", "replace")[-300:])


async def _read(copy: Copy) -> dict[str, Json]:
    """Docstrings and duplication, both from one reading."""
    code, out, err = await run_tool(script("reading.py", *copy.files), copy.folder)
    if code != 0:
        raise ToolError(err.decode("utf-8", "replace")[-300:])
    answer = json.loads(out)
    words, repeated = answer["docstrings"], answer["duplication"]
    missing = [
        {"file": path, "line": line, "code": "docstring", "message": f"{name} does not say what it is"}
        for path, line, name in words["missing"]
    ]
    twice = [
        {"file": path, "line": 0, "code": "repeated", "message": f"{lines} lines stand somewhere else as well"}
        for path, lines in repeated["by_file"].items()
    ]
    return {
        "status": "ran",
        "docstrings": ran(__version__, public=words["public"], documented=words["documented"], **found(missing)),
        "duplication": ran(__version__, lines=repeated["lines"], repeated=repeated["repeated"], **found(twice)),
    }


async def _side_by_side(tools: Mapping[str, Awaitable[dict[str, Json]]]) -> Findings:
    # Not gather: cancelled, it is over with the first of its tasks, and leaves the processes of the others running.
    try:
        async with asyncio.TaskGroup() as group:
            tasks = {name: group.create_task(_safely(tool)) for name, tool in tools.items()}
    except ExceptionGroup as failed:
        first = failed.exceptions[0]
        raise first from first.__cause__
    return {name: task.result() for name, task in tasks.items()}


async def _safely(tool: Awaitable[dict[str, Json]]) -> dict[str, Json]:
    """A tool that failed is stated and unscored, like one that is absent."""
    try:
        return await tool
    except ToolError as error:
        return not_run(f"it failed: {error}")
    except (ValueError, LookupError, TypeError) as error:
        return not_run(f"its answer could not be read: {type(error).__name__}: {error}")


async def _on_own_copy(tool: Callable[[Copy], Awaitable[dict[str, Json]]]) -> dict[str, Json]:
    with copied({}) as copy:
        return await tool(copy)


def _workspace(seen: Seen | None) -> dict[str, Json]:
    if seen is None:
        return not_run("the program ran without a sandbox, so nobody watched it")
    attempts = {
        "forbidden system call": seen.violations,
        "address outside": seen.egress,
        "write outside": seen.writes or {},
    }
    findings = [
        {"file": "", "code": what, "message": f"{name} ({'once' if count == 1 else f'{count} times'})"}
        for what, tried in attempts.items()
        for name, count in tried.items()
    ]
    writes = dict(seen.writes) if seen.writes is not None else None
    unseen = {"reason": _UNSEEN} if writes is None else {}
    return ran(
        None, violations=dict(seen.violations), egress=dict(seen.egress), writes=writes, **unseen, **found(findings)
    )
