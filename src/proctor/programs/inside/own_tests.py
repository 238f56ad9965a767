"""Runs a program's own tests in its place, under coverage; what it says is the program's word, and never counted."""

from __future__ import annotations

import contextlib
import io
import json
import os
import sys
import zipfile
from pathlib import Path
from typing import Any

MAX_RESULTS, MAX_MESSAGE = 500, 500
_CUSTOMISE = "import coverage\ncoverage.process_startup()\n"
_SETTINGS = """[run]
source = {app}
omit = {omit}
parallel = true
data_file = {data}
[report]
exclude_lines = (?!)
"""
# Nothing is excluded: a program does not say which of its lines need no test.


class TestRecorder:
    """One result per test, as pytest reports it."""

    def __init__(self) -> None:
        self.results: list[dict[str, Any]] = []

    def pytest_runtest_logreport(self, report: Any) -> None:
        if len(self.results) >= MAX_RESULTS or (report.when != "call" and report.passed):
            return
        status = "not run" if report.skipped else "passed" if report.passed else "failed"
        status = "error" if report.when != "call" and report.failed else status
        message = "" if report.passed else str(report.longrepr)[-MAX_MESSAGE:]
        name = str(report.nodeid)[:200]
        self.results.append({"name": name, "status": status, "message": message, "seconds": report.duration})


def main(toolbox: str, app: str, work: str, *tests: str) -> None:
    """Unpack the tools, run the tests, write `report.json` into the working folder."""
    folder = Path(work)
    box = folder / "toolbox"
    with zipfile.ZipFile(toolbox) as archive:
        archive.extractall(box)
    (box / "sitecustomize.py").write_text(_CUSTOMISE)
    omit = ",".join([f"{app}/{path}" for path in tests] + [f"{app}/.*/**", f"{app}/tests/**", f"{app}/test/**"])
    settings = folder / "coverage.ini"
    settings.write_text(_SETTINGS.format(app=app, omit=omit, data=folder / "coverage.data"))
    os.environ["COVERAGE_PROCESS_START"] = str(settings)
    already = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = os.pathsep.join([str(box), app, *([already] if already else [])])
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    sys.path[:0] = [str(box), app]
    os.chdir(app)
    import coverage
    import pytest

    recorder = TestRecorder()
    measure = coverage.Coverage(config_file=str(settings))
    measure.start()
    options = ["-c", os.devnull, "--rootdir", app, "-q", "-p", "no:cacheprovider", "--import-mode=importlib"]
    code = pytest.main([*options, *tests], plugins=[recorder])
    measure.stop()
    measure.save()
    report = {"code": int(code), "results": recorder.results, "coverage": _coverage(measure, folder)}
    (folder / "report.json").write_text(json.dumps(report))


def _coverage(measure: Any, folder: Path) -> Any:
    """The report of coverage's own; None when there was nothing to cover."""
    import coverage

    try:
        measure.combine([str(folder)])
        with contextlib.redirect_stdout(io.StringIO()):
            measure.json_report(outfile=str(folder / "coverage.json"))
    except coverage.CoverageException:
        return None
    found = json.loads((folder / "coverage.json").read_text())
    files = {path: one["summary"] for path, one in found["files"].items()}
    kept = ("percent_covered", "covered_lines", "num_statements")
    return {
        "percent": found["totals"]["percent_covered"],
        "files": {path: {name: one[name] for name in kept} for path, one in list(files.items())[:MAX_RESULTS]},
    }
