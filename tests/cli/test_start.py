"""What a run of few trials does beside its work: start, figures and end are most of its time."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

import pytest

RUN = """
import atexit, gc, json, sys
from proctor.cli.main import main

searches = []
gc.callbacks.append(lambda phase, _: searches.append(phase) if phase == "start" else None)
atexit.register(lambda: print(json.dumps({"searches": len(searches), "modules": list(sys.modules)}), file=sys.stderr))
sys.argv = ["proctor", "run", "arithmetic", "-m", "demo/strong", "--limit", "5", "--json"]
main()
"""
SELDOM_NEEDED = {
    "altair",
    "fastapi",
    "jinja2",
    "numpy",
    "opentelemetry",
    "proctor.reports.charts",
    "proctor.scorers.judging.summary",
    "rich",
    "sqlalchemy",
    "structlog",
}


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What a run left to be seen when its process ended."""
    home = tmp_path_factory.mktemp("home")
    environment = {**os.environ, "PROCTOR_HOME": str(home), "PROCTOR_DATABASE_URL": ""}
    command = [sys.executable, "-c", RUN]
    done = subprocess.run(command, cwd=home, env=environment, capture_output=True, text=True, check=True)
    found: dict[str, Any] = json.loads(done.stderr.splitlines()[-1])
    return found


def test_nobody_searches_the_modules_of_a_command_for_cycles(seen: dict[str, Any]) -> None:
    """A search took 10 ms, a twentieth of all that the run of one trial computes, and there are none."""
    assert seen["searches"] == 0


def test_what_few_runs_need_is_not_imported(seen: dict[str, Any]) -> None:
    assert not SELDOM_NEEDED & set(seen["modules"])
