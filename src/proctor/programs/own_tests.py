"""Runs the tests a program brought along, in a workspace of their own: shown and labelled, never counted."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from proctor.domain.message import Json
from proctor.domain.problem import Problem
from proctor.domain.sandbox import SandboxResult
from proctor.domain.scorecard import CheckResult, CheckStatus
from proctor.domain.workspace import APP, WORK, Runner, Workspace
from proctor.programs import toolbox
from proctor.programs.entry import JAVASCRIPT, PYTHON, EntryPoint, all_sources, is_named_test
from proctor.programs.inside.sent import command
from proctor.programs.limits import command_limits, place_limits
from proctor.programs.options import MarkOptions
from proctor.programs.packages.package_set import BuildError
from proctor.programs.subject import Subject
from proctor.programs.tools.running import not_applicable, not_run, ran

SECONDS = 120.0
KIND = "own"
_REPORT = f"{WORK}/report.json"
_REPORTER = Path(__file__).parent / "inside" / "own_tests.mjs"
_MAX_RESULTS, _MAX_TEXT = 500, 500


@dataclass(frozen=True, slots=True)
class OwnTests:
    checks: tuple[CheckResult, ...] = ()
    coverage: dict[str, Json] = field(default_factory=dict)


def own_test_files(files: Mapping[str, bytes], language: str) -> list[str]:
    return [path for path in all_sources(files, language) if is_named_test(path)]


async def run_own_tests(
    problem: Problem, files: Mapping[str, bytes], entry: EntryPoint, runner: Runner, options: MarkOptions
) -> OwnTests:
    """Their results, each marked as the program's own, and what share of the program they reach."""
    tests = own_test_files(files, entry.language)
    if not tests:
        return OwnTests(coverage=not_applicable("the program has no tests of its own"))
    subject = await Subject.open(problem, files, entry, runner, options)
    try:
        await subject.build()
        version, done = await _RUN[entry.language](subject, tests)
        report = await _report(subject.workspace)
    except (BuildError, toolbox.NoToolboxError) as error:
        return OwnTests(coverage=not_run(str(error)))
    finally:
        await subject.close()
    if report is None:
        words = (done.stderr or done.stdout).decode("utf-8", "replace").strip()[-_MAX_TEXT:]
        return OwnTests(coverage=not_run(f"the tests did not end in order ({done.ending}): {words}", version))
    return _read(report, version)


async def _run_python(subject: Subject, tests: list[str]) -> tuple[str, SandboxResult]:
    tools = toolbox.versions()
    await subject.workspace.write({"toolbox.zip": toolbox.archive()}, under=WORK)
    done = await _execute(subject, command("own_tests:main", f"{WORK}/toolbox.zip", APP, WORK, *tests))
    return ", ".join(f"{name} {tools[name]}" for name in tools), done


async def _run_javascript(subject: Subject, tests: list[str]) -> tuple[str, SandboxResult]:
    await subject.workspace.write({"reporter.mjs": _REPORTER.read_bytes()}, under=WORK)
    reporting = (f"--test-reporter={WORK}/reporter.mjs", f"--test-reporter-destination={_REPORT}")
    # One file after the other: each has a process with many threads, and a workspace has room for a few.
    options = ("--test", "--test-concurrency=1", "--experimental-test-coverage")
    return f"Node.js {subject.builder.version}", await _execute(subject, ("node", *options, *reporting, *tests))


_RUN = {PYTHON: _run_python, JAVASCRIPT: _run_javascript}


async def _execute(subject: Subject, words: tuple[str, ...]) -> SandboxResult:
    # The runner, a test and the program it starts are three, each with threads: the whole workspace is theirs.
    most = place_limits(subject.problem, SECONDS).processes
    limits = replace(command_limits(subject.problem, SECONDS), processes=most)
    return await subject.workspace.execute(words, environment=subject.builder.environment(), folder=APP, limits=limits)


async def _report(workspace: Workspace) -> Any:
    """None where there is none that can be read."""
    content = (await workspace.read([_REPORT])).get(_REPORT)
    try:
        return json.loads(content) if content is not None else None
    except (ValueError, RecursionError):
        return None


def _read(report: Any, version: str) -> OwnTests:
    """A report is the program's word: taken apart with care, and nothing in it counts."""
    results = report.get("results") if isinstance(report, dict) else None
    checks = [_check(one) for one in (results if isinstance(results, list) else [])[:_MAX_RESULTS]]
    coverage = report.get("coverage") if isinstance(report, dict) else None
    kept = tuple(check for check in checks if check is not None)
    if not isinstance(coverage, dict) or not _is_percent(coverage.get("percent")):
        return OwnTests(kept, not_run("the tests reached none of the program's lines", version))
    files = coverage.get("files")
    shares = {
        str(path)[:_MAX_TEXT]: round(float(one["percent_covered"]), 4)
        for path, one in (files.items() if isinstance(files, dict) else ())
        if isinstance(one, dict) and _is_percent(one.get("percent_covered"))
    }
    percent = round(float(coverage["percent"]), 4)
    return OwnTests(kept, ran(version, percent=percent, files=shares, is_forgeable=True))


def _is_percent(value: Any) -> bool:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return is_number and math.isfinite(value) and 0 <= value <= 100


def _check(one: Any) -> CheckResult | None:
    try:
        return CheckResult(
            name=str(one["name"])[:_MAX_TEXT],
            kind=KIND,
            status=CheckStatus(one["status"]),
            message=str(one["message"])[:_MAX_TEXT],
            seconds=round(float(one["seconds"]), 4) if _is_percent(one["seconds"]) else 0.0,
            is_generated=True,
        )
    except (KeyError, TypeError, ValueError):
        return None
