"""A notebook's kernel with folders of its own."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture
def kernel_home(home: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Where a kernel works; nothing of it is kept outside this folder."""
    for name in ("IPYTHONDIR", "JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR"):
        monkeypatch.setenv(name, str(tmp_path / "jupyter" / name.lower()))
    (tmp_path / "jupyter").mkdir()
    return tmp_path / "work"
