"""Runs the tests a program brought along, in a place of their own: shown and labelled, never counted."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from proctor.domain.message import Json
from proctor.domain.place import APP, WORK, Place, Runner
from proctor.domain.problem import Problem
from proctor.domain.sandbox import Execution
from proctor.domain.scorecard import CheckResult, CheckStatus
from proctor.scorers.programs import toolbox
from proctor.scorers.programs.entry import PYTHON, Entry, is_test
from proctor.scorers.programs.inside.sent import command
from proctor.scorers.programs.limits import command_limits, place_limits
from proctor.scorers.programs.tools.running import not_applicable, not_run, ran

SECONDS = 120.0
KIND = "own"
_TOOLBOX = f"{WORK}/toolbox.zip"
_REPORT = f"{WORK}/report.json"
_MAX_RESULTS, _MAX_TEXT = 500, 500


@dataclass(frozen=True, slots=True)
class OwnTests:
    checks: tuple[CheckResult, ...] = ()
    coverage: dict[str, Json] = field(default_factory=dict)


def own_test_files(files: Mapping[str, bytes]) -> list[str]:
    names = ((path, path.rpartition("/")[2]) for path in sorted(files) if path.endswith(".py") and is_test(path))
    return [path for path, name in names if name.startswith("test_") or name.endswith("_test.py")]


async def run_own_tests(
    problem: Problem, files: Mapping[str, bytes], entry: Entry, runner: Runner, environment: Mapping[str, str]
) -> OwnTests:
    """Their results, each marked as the program's own, and what share of the program they reach."""
    if entry.language != PYTHON:
        return OwnTests(coverage=not_applicable("coverage is measured of Python programs only"))
    tests = own_test_files(files)
    if not tests:
        return OwnTests(coverage=not_applicable("the program has no tests of its own"))
    try:
        tools = toolbox.versions()
    except toolbox.NoToolboxError as error:
        return OwnTests(coverage=not_run(str(error)))
    place = await runner.open(place_limits(problem, SECONDS * 2))
    try:
        done, report = await _run(problem, files, tests, place, environment)
    finally:
        await place.close()
    version = ", ".join(f"{name} {tools[name]}" for name in tools)
    if report is None:
        words = (done.stderr or done.stdout).decode("utf-8", "replace").strip()[-_MAX_TEXT:]
        return OwnTests(coverage=not_run(f"the tests did not end in order ({done.ending}): {words}", version))
    return _read(report, version)


async def _run(
    problem: Problem, files: Mapping[str, bytes], tests: list[str], place: Place, environment: Mapping[str, str]
) -> tuple[Execution, Any]:
    await place.write(files)
    await place.write({"toolbox.zip": toolbox.archive()}, under=WORK)
    done = await place.execute(
        command("own_tests:main", _TOOLBOX, APP, WORK, *tests),
        environment={"LANG": "C.UTF-8", "PYTHONDONTWRITEBYTECODE": "1", **environment},
        limits=command_limits(problem, SECONDS),
    )
    content = (await place.read([_REPORT])).get(_REPORT)
    try:
        return done, json.loads(content) if content is not None else None
    except (ValueError, RecursionError):
        return done, None


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
