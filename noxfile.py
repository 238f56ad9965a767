"""`make matrix`: the tests on every supported Python, each with the versions of the lockfile."""

from __future__ import annotations

import nox

PYTHONS = ["3.11", "3.12", "3.13", "3.14"]
nox.options.default_venv_backend = "uv"
nox.options.sessions = ["tests"]


@nox.session(python=PYTHONS)
def tests(session: nox.Session) -> None:
    """All tests; or those that are named: nox -s tests-3.11 -- tests/metrics."""
    session.install("--require-hashes", "--no-deps", "-r", "requirements/dev.lock")
    session.install("--no-deps", "-e", ".")
    session.run(
        "python", "-m", "pytest", "-p", "no:randomly", "--hypothesis-profile", "same", *(session.posargs or ["-n", "2"])
    )
