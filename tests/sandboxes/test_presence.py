"""What is not installed is skipped; what is installed and does not work is not."""

from __future__ import annotations

from pathlib import Path

import pytest

from proctor import plugins
from sandboxes.presence import TOOLS, skip_unless_installed


def test_only_what_is_not_installed_is_skipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(pytest.skip.Exception, match="bubblewrap: bwrap is not installed"):
        skip_unless_installed("bubblewrap")
    broken = tmp_path / "bwrap"
    broken.write_text("#!/bin/false\n")
    broken.chmod(0o755)
    skip_unless_installed("bubblewrap")
    skip_unless_installed("namespaces")


def test_every_backend_and_runner_that_is_built_in_has_its_tool_here_or_needs_none() -> None:
    known = {*plugins.names("sandboxes"), *plugins.names("runners")}
    assert known - TOOLS.keys() == {"namespaces", "none"}
    assert TOOLS.keys() <= known
