"""A catalogue for tests of the planner: the one of this tree, with prices and keys that do not change."""

from __future__ import annotations

import importlib.util
import sys
from functools import cache
from pathlib import Path
from types import ModuleType

from proctor.planner.catalogue import PlannerCatalogue

BENCH = Path(__file__).parents[2] / "bench" / "planner"


@cache
def bench_module(name: str) -> ModuleType:
    """A module of bench/planner."""
    spec = importlib.util.spec_from_file_location(f"bench_planner_{name}", BENCH / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    if name == "measure":
        sys.modules.setdefault("world", bench_module("world"))
    spec.loader.exec_module(module)
    return module


@cache
def world() -> PlannerCatalogue:
    catalogue: PlannerCatalogue = bench_module("world").world()
    return catalogue
