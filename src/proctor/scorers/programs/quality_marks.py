"""The quality mark: the mean of what each tool's findings come to. Written out in docs/reference/scorecard.md."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from proctor.domain.scorecard import DimensionMark, Evidence

LINT_ZERO = 10.0
"""Findings per 100 lines of code at which nothing is left."""
TYPES_ZERO = 5.0
DOCSTRINGS_FULL = 0.5
DUPLICATION_FREE, DUPLICATION_ZERO = 0.05, 0.30


def _per_hundred(tool: Mapping[str, Any]) -> float:
    return 100.0 * float(tool["count"]) / max(float(tool["lines"]), 20.0)  # a short file's one finding is no disaster


def _lint(tool: Mapping[str, Any]) -> float:
    return 1.0 - _per_hundred(tool) / LINT_ZERO


def _types(tool: Mapping[str, Any]) -> float:
    return 1.0 - _per_hundred(tool) / TYPES_ZERO


def _share_of(good: str, whole: str) -> Callable[[Mapping[str, Any]], float]:
    return lambda tool: float(tool[good]) / float(tool[whole]) if tool[whole] else 1.0


def _docstrings(tool: Mapping[str, Any]) -> float:
    return _share_of("documented", "public")(tool) / DOCSTRINGS_FULL


def _duplication(tool: Mapping[str, Any]) -> float:
    share = _share_of("repeated", "lines")(tool) if tool["lines"] else 0.0
    return 1.0 - (share - DUPLICATION_FREE) / (DUPLICATION_ZERO - DUPLICATION_FREE)


COMPONENTS: Mapping[str, Callable[[Mapping[str, Any]], float]] = {
    "ruff": _lint,
    "black": _share_of("formatted", "files"),
    "mypy": _types,
    "complexity": _share_of("simple", "functions"),
    "docstrings": _docstrings,
    "duplication": _duplication,
}


def quality_mark(evidence: Evidence, weight: float) -> DimensionMark:
    """Each tool that ran counts the same; one that did not run counts for nothing, and is named."""
    found: dict[str, float] = {}
    absent: list[str] = []
    for name, component in COMPONENTS.items():
        tool = evidence.findings.get(name)
        if isinstance(tool, Mapping) and tool.get("status") == "ran":
            found[name] = round(max(0.0, min(1.0, component(tool))), 6)
        elif not isinstance(tool, Mapping) or tool.get("status") != "not applicable":
            absent.append(name)
    reason = f"not run: {', '.join(absent)}" if absent else ""
    if not found:
        return DimensionMark("quality", None, weight, reason)
    return DimensionMark("quality", sum(found.values()) / len(found), weight, reason, dict(found))
