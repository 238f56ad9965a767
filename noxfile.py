"""`make matrix`: the tests on every supported Python, each with the versions of the lockfile."""

from __future__ import annotations

import sys
from pathlib import Path

import nox

PYTHONS = ["3.11", "3.12", "3.13", "3.14"]
nox.options.default_venv_backend = "uv"
nox.options.sessions = ["tests"]


@nox.session(python=PYTHONS)
def tests(session: nox.Session) -> None:
    """All tests; or those that are named: nox -s tests-3.11 -- tests/metrics."""
    session.install("--require-hashes", "--no-deps", "-r", "requirements/dev.lock")
    session.install("--no-deps", "-e", ".")
    # Tests that ask other frameworks install them with the uv beside nox; without it they would be skipped.
    session.env["UV"] = str(Path(sys.executable).with_name("uv"))
    session.run(
        "python", "-m", "pytest", "-p", "no:randomly", "--hypothesis-profile", "same", *(session.posargs or ["-n", "2"])
    )
