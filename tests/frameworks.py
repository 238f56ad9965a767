"""Other evaluation frameworks, each in an environment of its own that lives as long as the tests."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

SECONDS = 240


class Framework:
    """A framework that can be asked; `python` is its interpreter."""

    def __init__(self, python: Path) -> None:
        self.python = python

    def run(self, code: str, *arguments: str, folder: Path) -> str:
        done = subprocess.run(
            [str(self.python), "-c", code, *arguments],
            cwd=folder,
            env={"PATH": "/usr/bin:/bin", "HOME": str(folder), "XDG_DATA_HOME": str(folder)},
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout


def _find_uv() -> str | None:
    """The one of this environment, the one that made it (nox names it in UV), or the machine's."""
    beside = Path(sys.executable).with_name("uv")
    return str(beside) if beside.exists() else os.environ.get("UV") or shutil.which("uv")


@cache
def _install(place: Path, packages: tuple[str, ...]) -> str | None:
    """Why they cannot be had; None where they are there."""
    uv = _find_uv()
    if uv is None:
        return "there is no uv here: scripts/install"
    python = place / "bin" / "python"
    for command in (["venv", "-q", str(place)], ["pip", "install", "-q", "--python", str(python), *packages]):
        try:
            done = subprocess.run([uv, *command], capture_output=True, text=True, timeout=SECONDS, check=False)
        except subprocess.TimeoutExpired:
            return f"installing takes longer than {SECONDS} s"
        if done.returncode != 0:
            return done.stderr.strip().splitlines()[-1]
    return None


def framework(factory: pytest.TempPathFactory, name: str, *packages: str) -> Framework:
    """The framework in an environment below the tests' own folder; where it cannot be had, the test is skipped."""
    place = factory.getbasetemp() / f"framework-{name}"
    if (reason := _install(place, packages)) is not None:
        pytest.skip(f"{', '.join(packages)} cannot be installed here: {reason}")
    return Framework(place / "bin" / "python")
