"""The security and quality phases: every tool side by side, each with its version or the reason why it did not run."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence

from proctor.domain.message import Json
from proctor.domain.place import Seen
from proctor.scorers.programs.entry import JAVASCRIPT, PYTHON, all_sources, sources
from proctor.scorers.programs.tools import javascript, linting, scanning
from proctor.scorers.programs.tools.running import (
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


async def security(files: Mapping[str, bytes], language: str, pins: Sequence[str], seen: Seen | None) -> Findings:
    """What scanners found, and what the place saw; `seen` is None where nobody watched.

    Everything is read, tests too: whatever a file is called, the program may load it.
    """
    with (
        copied(all_sources(files, PYTHON)) as python,
        copied(all_sources(files, JAVASCRIPT)) as javascript,
        copied(files) as everything,
    ):
        tools = {
            "bandit": scanning.bandit(python),
            "dangers": scanning.dangers(javascript),
            "pip-audit": _on_own_copy(lambda other: scanning.pip_audit(other, pins)),
            "npm-audit": _said(scanning.npm_audit(files, language)),
            "trivy": scanning.trivy(everything),
        }
        findings = await _side_by_side(tools)
    findings["place"] = _place(seen)
    return findings


async def quality(files: Mapping[str, bytes], language: str) -> Findings:
    """What readers of the source found."""
    own = sources(files, language)
    if not any(content.strip() for content in own.values()):
        return {name: not_applicable("there is no source") for name in _QUALITY}
    with copied(own) as copy:
        try:
            await _take_words_from_comments(copy)
        except ToolError as error:
            return {name: not_run(f"comments that silence it could not be found: {error}") for name in _QUALITY}
        tools: dict[str, Awaitable[dict[str, Json]]] = {"complexity": linting.complexity(copy), "read": _read(copy)}
        tools |= {name: reader(copy) for name, reader in _READERS[language].items()}
        findings = await _side_by_side(tools)
    both = findings.pop("read")
    for name in ("docstrings", "duplication"):
        findings[name] = both[name] if both["status"] == "ran" else both
    if language != PYTHON:
        findings["docstrings"] = not_applicable("it reads Python only")
    others = [name for name in _QUALITY if name not in findings]
    return findings | {name: not_applicable(f"it does not read {_WRITTEN[language]}") for name in others}


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
    answers = await asyncio.gather(*(_safely(tool) for tool in tools.values()))
    return dict(zip(tools, answers, strict=True))


async def _safely(tool: Awaitable[dict[str, Json]]) -> dict[str, Json]:
    """A tool that failed is stated and unscored, like one that is absent."""
    try:
        return await tool
    except ToolError as error:
        return not_run(f"it failed: {error}")
    except (ValueError, LookupError, TypeError) as error:
        return not_run(f"its answer could not be read: {type(error).__name__}: {error}")


async def _said(answer: dict[str, Json]) -> dict[str, Json]:
    return answer


async def _on_own_copy(tool: Callable[[Copy], Awaitable[dict[str, Json]]]) -> dict[str, Json]:
    with copied({}) as copy:
        return await tool(copy)


def _place(seen: Seen | None) -> dict[str, Json]:
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
