"""Two scorecards of one problem side by side: marks, requirements that flipped, and what changed in the files."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping
from typing import Any

from proctor.domain.errors import UserError
from proctor.reports.figures import NOT_MEASURED, number_text
from proctor.reports.scorecard_page import verdict
from proctor.reports.sections import Detail, Page, Section, Table

Document = Mapping[str, Any]
MOST_LINES = 2_000


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
    before = {one["name"]: one["value"] for one in a["dimensions"]}
    after = {one["name"]: one["value"] for one in b["dimensions"]}
    rows = [("total", a["total"], b["total"])] + [
        (name, before.get(name), after.get(name)) for name in {**before, **after}
    ]
    return [
        {"name": name, "a": x, "b": y, "difference": None if x is None or y is None else y - x} for name, x, y in rows
    ]


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
        if len(shown) == MOST_LINES:
            shown.append(f"[… more than {MOST_LINES:,} lines …]")
            break
        shown.append(line)
    return "\n".join(shown)


def difference_page(document: Document) -> Page:
    problem = document["problem"]
    return Page(f"Two programs: {problem['title']}", f"{problem['id']}, A against B", tuple(_sections(document)))


def _sections(document: Document) -> Iterator[Section]:
    marks = tuple(
        (one["name"], number_text(one["a"]), number_text(one["b"]), _signed(one["difference"]))
        for one in document["dimensions"]
    )
    notes = () if document["is_comparable"] else ("The problem has changed in between: the marks are not comparable.",)
    notes += tuple(document["remarks"])
    text = (f"A: {document['a']['verdict']}", f"B: {document['b']['verdict']}")
    yield Section("Marks", text, (Table(("Mark", "A", "B", "B − A"), marks),), (), notes)
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


def _signed(value: float | None) -> str:
    return NOT_MEASURED if value is None else f"{value:+.3f}"


def _figure(value: float | None) -> str:
    return NOT_MEASURED if value is None else f"{value:,.4g}"
