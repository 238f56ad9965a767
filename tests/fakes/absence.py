"""Packages that are not installed and tools that fail, as everybody who looks for them sees it."""

from __future__ import annotations

import sys
from importlib.metadata import Distribution, PackageNotFoundError
from pathlib import Path

import pytest


def hide_packages(monkeypatch: pytest.MonkeyPatch, *names: str) -> None:
    """Until the test ends, neither the installation nor the module of these packages is found."""
    find = Distribution.from_name

    def from_name(name: str) -> Distribution:
        if name in names:
            raise PackageNotFoundError(name)
        return find(name)

    monkeypatch.setattr(Distribution, "from_name", from_name)
    for name in names:
        monkeypatch.setitem(sys.modules, name, None)


def break_tools(monkeypatch: pytest.MonkeyPatch, folder: Path, *names: str) -> None:
    """Until the test ends, a command with one of these words in it says "it broke" and exits with 3."""
    python = folder / "python"
    cases = "|".join(f'*"{name}"*' for name in names)
    python.write_text(
        f'#!/bin/sh\ncase "$*" in {cases}) printf %s it\\ broke >&2; exit 3;; esac\nexec {sys.executable} "$@"\n',
        encoding="utf-8",
    )
    python.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(python))
