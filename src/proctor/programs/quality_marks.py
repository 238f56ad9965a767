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


def _share_of(good: str, whole: str) -> Callable[[Mapping[str, Any]], float | None]:
    """None where there is nothing to have a share of."""
    return lambda tool: float(tool[good]) / float(tool[whole]) if tool[whole] else None


def _docstrings(tool: Mapping[str, Any]) -> float | None:
    share = _share_of("documented", "public")(tool)
    return None if share is None else share / DOCSTRINGS_FULL


def _duplication(tool: Mapping[str, Any]) -> float | None:
    share = _share_of("repeated", "lines")(tool)
    return None if share is None else 1.0 - (share - DUPLICATION_FREE) / (DUPLICATION_ZERO - DUPLICATION_FREE)


COMPONENTS: Mapping[str, Callable[[Mapping[str, Any]], float | None]] = {
    "ruff": _lint,
    "black": _share_of("formatted", "files"),
    "mypy": _types,
    "oxlint": _lint,
    "oxfmt": _share_of("formatted", "files"),
    "complexity": _share_of("simple", "functions"),
    "docstrings": _docstrings,
    "duplication": _duplication,
}


def quality_mark(evidence: Evidence, weight: float) -> DimensionMark:
    """Each tool counts the same; one that should have run and did not is named, and takes its part of the weight along.

    A program that makes a tool fail must not be better off than one that the tool has read, and one in two languages
    not by a few tidy lines in the other: a reader of one of them counts for its share of the lines.
    """
    asked = {name: tool for name in COMPONENTS if isinstance(tool := evidence.findings.get(name), Mapping)}
    marks = {name: COMPONENTS[name](tool) for name, tool in asked.items() if tool["status"] == "ran"}
    found = {name: round(max(0.0, min(1.0, mark)), 6) for name, mark in marks.items() if mark is not None}
    absent = [name for name, tool in asked.items() if tool["status"] == "not run"]
    reason = f"not run: {', '.join(absent)}" if absent else ""
    parts = {name: float(asked[name].get("share", 1.0)) for name in (*found, *absent)}
    whole = sum(parts[name] for name in found)
    if not whole:
        return DimensionMark("quality", None, weight, reason or _unread(evidence))
    mark = sum(parts[name] * value for name, value in found.items()) / whole
    return DimensionMark("quality", mark, weight * whole / sum(parts.values()), reason, dict(found))


def _unread(evidence: Evidence) -> str:
    log = next((phase.log for phase in evidence.phases if phase.name == "quality"), "") if not evidence.findings else ""
    return log.strip()[:500] or "there was nothing to read"
