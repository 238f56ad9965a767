"""Packages with plugins: the example, installed once, and small ones made for a test."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from plugins.example import PACKAGE, install
from proctor import plugins as registry


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the example package is installed."""
    return install(PACKAGE, tmp_path_factory.mktemp("example"))


@contextmanager
def visible(folder: Path) -> Iterator[None]:
    """The packages of a folder, as if they were installed for this process."""
    before = set(sys.modules)
    sys.path.insert(0, str(folder))
    registry._installed.cache_clear()
    try:
        yield
    finally:
        sys.path.remove(str(folder))
        registry._installed.cache_clear()
        registry.take_left_out()
        for name in set(sys.modules) - before:
            if str(getattr(sys.modules[name], "__file__", "")).startswith(str(folder)):
                del sys.modules[name]


@pytest.fixture(scope="module")
def example(site: Path) -> Iterator[None]:
    """The example package can be used in this process."""
    with visible(site):
        yield


@pytest.fixture
def package(tmp_path: Path) -> Iterator[Callable[..., Path]]:
    """Makes a package visible: its module's text, and what its entry points name."""
    folder = tmp_path / "packages"
    folder.mkdir()

    def make(source: str, entries: dict[str, str], name: str = "broken") -> Path:
        (folder / f"{name}.py").write_text(source, encoding="utf-8")
        about = folder / f"{name}-1.0.dist-info"
        about.mkdir()
        (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n", encoding="utf-8")
        lines = "".join(f"{entry} = {target}\n" for entry, target in entries.items())
        (about / "entry_points.txt").write_text(f"[proctor.plugins]\n{lines}", encoding="utf-8")
        registry._installed.cache_clear()
        return folder

    with visible(folder):
        yield make
