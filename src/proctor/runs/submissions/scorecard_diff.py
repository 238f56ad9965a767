"""Two scorecards of one problem side by side: marks, requirements that flipped, and what changed in the files."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence

from proctor.domain.documents.scorecard import CardFile, ProgramCard
from proctor.domain.documents.scorecard_difference import (
    ComparedCard,
    FileDifference,
    FlippedRequirement,
    MarkDifference,
    MeasureDifference,
    ScorecardDifference,
)
from proctor.domain.errors import UserError
from proctor.domain.scorecard import DimensionMark, RequirementStatus
from proctor.reports.scorecard_page import verdict

MAX_LINES = 2_000
MEASURED_IN_PARTS = frozenset({"performance", "quality", "security"})
"""Dimensions of which a tool or a measure may be missing."""


def compare_scorecards(a: ProgramCard, b: ProgramCard) -> ScorecardDifference:
    """What differs from the first to the second; refuses cards of different problems."""
    if a.problem.id != b.problem.id:
        raise UserError(
            f"These are programs for different problems, {a.problem.id} and {b.problem.id}: "
            "their marks cannot be compared."
        )
    return ScorecardDifference(
        problem=b.problem,
        is_comparable=a.problem.digest == b.problem.digest,
        remarks=[f"{name}: {text}" for name, one in (("A", a), ("B", b)) for text in one.remarks or ()],
        a=_summary(a),
        b=_summary(b),
        dimensions=_marks(a, b),
        requirements=_flipped(a, b),
        measures=_measures(a, b),
        files=_files(a, b),
    )


def _summary(card: ProgramCard) -> ComparedCard:
    return ComparedCard(card.total, card.covers, card.passed, card.grade, card.reason, verdict(card))


def _marks(a: ProgramCard, b: ProgramCard) -> list[MarkDifference]:
    """The totals, what both measured where that is not everything, and each dimension.

    Only like is subtracted: a mark with another coverage, or of a problem that has changed, is another quantity.
    """
    before = {one.name: one for one in a.dimensions}
    after = {one.name: one for one in b.dimensions}
    names = list({**before, **after})
    is_same_problem = a.problem.digest == b.problem.digest
    alike = [name for name in names if is_same_problem and _coverage(a, name) == _coverage(b, name)]
    shared = [name for name in alike if before[name].value is not None]
    rows = [_row("total", a.total, b.total, is_comparable=len(alike) == len(names))]
    if shared and len(alike) < len(names):
        label = f"of what both measured ({', '.join(shared)})"
        rows.append(_row(label, _earned(before, shared), _earned(after, shared), is_comparable=True))
    for name in names:
        x, y = (side[name].value if name in side else None for side in (before, after))
        rows.append(_row(name, x, y, is_comparable=name in alike))
    return rows


def _row(name: str, a: float | None, b: float | None, *, is_comparable: bool) -> MarkDifference:
    difference = b - a if is_comparable and a is not None and b is not None else None
    return MarkDifference(name, a, b, difference, is_comparable)


def _coverage(card: ProgramCard, name: str) -> tuple[float, object] | None:
    """What a dimension's mark is of: two marks can be subtracted where this is equal; None where there is no mark."""
    mark = next((one for one in card.dimensions if one.name == name), None)
    if mark is None or mark.value is None:
        return None
    if name == "functional":
        untested = (one.id for one in card.requirements if one.status is RequirementStatus.UNTESTED)
        return mark.weight, tuple(untested)
    # The remark of the other dimensions says which of their parts were not measured.
    return mark.weight, mark.reason if name in MEASURED_IN_PARTS else ""


def _earned(dimensions: Mapping[str, DimensionMark], names: Sequence[str]) -> float:
    return float(sum((dimensions[name].value or 0.0) * dimensions[name].weight for name in names))


def _flipped(a: ProgramCard, b: ProgramCard) -> list[FlippedRequirement]:
    before = {one.id: one.status for one in a.requirements}
    return [
        FlippedRequirement(one.id, one.level, one.text, before[one.id], one.status)
        for one in b.requirements
        if one.id in before and before[one.id] != one.status
    ]


def _measures(a: ProgramCard, b: ProgramCard) -> list[MeasureDifference]:
    before, after = a.evidence.measures, b.evidence.measures
    return [MeasureDifference(name, before.get(name), after.get(name)) for name in dict.fromkeys([*before, *after])]


def _files(a: ProgramCard, b: ProgramCard) -> list[FileDifference]:
    """Every file that differs, with a unified diff where both are text."""
    found = []
    for path in sorted({*a.program, *b.program}):
        old, new = a.program.get(path), b.program.get(path)
        if old is not None and new is not None and old.digest == new.digest:
            continue
        diff = _unified(path, old, new)
        found.append(FileDifference(path, "added" if old is None else "removed" if new is None else "changed", diff))
    return found


def _unified(path: str, old: CardFile | None, new: CardFile | None) -> str:
    before, after = ("" if one is None else one.text for one in (old, new))
    if before is None or after is None:
        return "The file is not text."
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), f"a/{path}", f"b/{path}", lineterm="")
    shown: list[str] = []
    for line in lines:
        if len(shown) == MAX_LINES:
            shown.append(f"[… more than {MAX_LINES:,} lines …]")
            break
        shown.append(line)
    return "\n".join(shown)
