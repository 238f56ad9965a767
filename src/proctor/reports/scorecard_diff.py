"""Two scorecards of one problem side by side: marks, requirements that flipped, and what changed in the files."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from proctor.domain.errors import UserError
from proctor.metrics.rounding import difference_text, figure_text
from proctor.reports.figures import NOT_MEASURED, number_text
from proctor.reports.scorecard_page import verdict
from proctor.reports.sections import Detail, Page, Section, Table

Document = Mapping[str, Any]
MAX_LINES = 2_000
MEASURED_IN_PARTS = frozenset({"performance", "quality", "security"})
"""Dimensions of which a tool or a measure may be missing."""


def compare_scorecards(a: Document, b: Document) -> dict[str, Any]:
    """What differs from the first to the second; refuses cards of different problems."""
    if a["problem"]["id"] != b["problem"]["id"]:
        raise UserError(
            f"These are programs for different problems, {a['problem']['id']} and {b['problem']['id']}: "
            "their marks cannot be compared."
        )
    return {
        "problem": b["problem"],
        "is_comparable": a["problem"]["digest"] == b["problem"]["digest"],
        "remarks": [f"{name}: {text}" for name, one in (("A", a), ("B", b)) for text in one.get("remarks", ())],
        "a": _summary(a),
        "b": _summary(b),
        "dimensions": _marks(a, b),
        "requirements": _flipped(a, b),
        "measures": _measures(a, b),
        "files": _files(a, b),
    }


def _summary(document: Document) -> dict[str, Any]:
    return {name: document[name] for name in ("total", "covers", "passed", "grade", "reason")} | {
        "verdict": verdict(document)
    }


def _marks(a: Document, b: Document) -> list[dict[str, Any]]:
    """The totals, what both measured where that is not everything, and each dimension.

    Only like is subtracted: a mark with another coverage, or of a problem that has changed, is another quantity.
    """
    before = {one["name"]: one for one in a["dimensions"]}
    after = {one["name"]: one for one in b["dimensions"]}
    names = list({**before, **after})
    is_same_problem = a["problem"]["digest"] == b["problem"]["digest"]
    alike = [name for name in names if is_same_problem and _coverage(a, name) == _coverage(b, name)]
    shared = [name for name in alike if before[name]["value"] is not None]
    rows = [_row("total", a["total"], b["total"], is_comparable=len(alike) == len(names))]
    if shared and len(alike) < len(names):
        label = f"of what both measured ({', '.join(shared)})"
        rows.append(_row(label, _earned(before, shared), _earned(after, shared), is_comparable=True))
    for name in names:
        x, y = (side[name]["value"] if name in side else None for side in (before, after))
        rows.append(_row(name, x, y, is_comparable=name in alike))
    return rows


def _row(name: str, a: float | None, b: float | None, *, is_comparable: bool) -> dict[str, Any]:
    difference = b - a if is_comparable and a is not None and b is not None else None
    return {"name": name, "a": a, "b": b, "difference": difference, "is_comparable": is_comparable}


def _coverage(document: Document, name: str) -> tuple[Any, ...] | None:
    """What a dimension's mark is of: two marks can be subtracted where this is equal; None where there is no mark."""
    mark = next((one for one in document["dimensions"] if one["name"] == name), None)
    if mark is None or mark["value"] is None:
        return None
    if name == "functional":
        return mark["weight"], tuple(one["id"] for one in document["requirements"] if one["status"] == "untested")
    # The remark of the other dimensions says which of their parts were not measured.
    return mark["weight"], mark["reason"] if name in MEASURED_IN_PARTS else ""


def _earned(dimensions: Mapping[str, Document], names: Sequence[str]) -> float:
    return float(sum(dimensions[name]["value"] * dimensions[name]["weight"] for name in names))


def _flipped(a: Document, b: Document) -> list[dict[str, Any]]:
    before = {one["id"]: one for one in a["requirements"]}
    return [
        {
            "id": one["id"],
            "level": one["level"],
            "text": one["text"],
            "a": before[one["id"]]["status"],
            "b": one["status"],
        }
        for one in b["requirements"]
        if one["id"] in before and before[one["id"]]["status"] != one["status"]
    ]


def _measures(a: Document, b: Document) -> list[dict[str, Any]]:
    before, after = a["evidence"]["measures"], b["evidence"]["measures"]
    return [{"name": name, "a": before.get(name), "b": after.get(name)} for name in dict.fromkeys([*before, *after])]


def _files(a: Document, b: Document) -> list[dict[str, Any]]:
    """Every file that differs, with a unified diff where both are text."""
    before, after = a["program"], b["program"]
    found = []
    for path in sorted({*before, *after}):
        old, new = before.get(path), after.get(path)
        if old is not None and new is not None and old["digest"] == new["digest"]:
            continue
        state = "added" if old is None else "removed" if new is None else "changed"
        found.append({"path": path, "state": state, "diff": _unified(path, old, new)})
    return found


def _unified(path: str, old: Document | None, new: Document | None) -> str:
    texts = [one.get("text") if one is not None else "" for one in (old, new)]
    if texts[0] is None or texts[1] is None:
        return "The file is not text."
    lines = difflib.unified_diff(texts[0].splitlines(), texts[1].splitlines(), f"a/{path}", f"b/{path}", lineterm="")
    shown: list[str] = []
    for line in lines:
        if len(shown) == MAX_LINES:
            shown.append(f"[… more than {MAX_LINES:,} lines …]")
            break
        shown.append(line)
    return "\n".join(shown)


def difference_page(document: Document) -> Page:
    problem = document["problem"]
    return Page(f"Two programs: {problem['title']}", f"{problem['id']}, A against B", tuple(_sections(document)))


def _sections(document: Document) -> Iterator[Section]:
    marks = tuple(
        (one["name"], number_text(one["a"]), number_text(one["b"]), _difference(one)) for one in document["dimensions"]
    )
    notes = list(document["remarks"])
    if not document["is_comparable"]:
        notes.insert(0, "The problem has changed in between: the marks are not comparable.")
    elif not all(one["is_comparable"] for one in document["dimensions"]):
        notes.insert(0, "Not the same things were measured of A and B: only what both measured is subtracted.")
    text = (f"A: {document['a']['verdict']}", f"B: {document['b']['verdict']}")
    yield Section("Marks", text, (Table(("Mark", "A", "B", "B − A"), marks),), (), tuple(notes))
    flipped = tuple((one["id"], one["level"], one["a"], one["b"], one["text"]) for one in document["requirements"])
    tables = (Table(("Id", "Level", "A", "B", "Requirement"), flipped, words=5),) if flipped else ()
    yield Section("Requirements that flipped", () if flipped else ("None.",), tables)
    if document["measures"]:
        rows = tuple((one["name"], _figure(one["a"]), _figure(one["b"])) for one in document["measures"])
        yield Section("Measures", (), (Table(("Measure", "A", "B"), rows),))
    files = tuple((one["path"], one["state"]) for one in document["files"])
    details = tuple(Detail(f"{one['path']}: {one['state']}", one["diff"]) for one in document["files"] if one["diff"])
    listed = (Table(("File", "State"), files, words=2),) if files else ()
    yield Section("Files", () if files else ("The programs are equal.",), listed, (), (), details)


def _difference(mark: Document) -> str:
    if not mark["is_comparable"] and mark["a"] is not None and mark["b"] is not None:
        return "not comparable"
    return NOT_MEASURED if mark["difference"] is None else difference_text(mark["difference"])


def _figure(value: float | None) -> str:
    return NOT_MEASURED if value is None else figure_text(value, limits=(0.0,), form=",")
