"""Two scorecards side by side, as sections."""

from __future__ import annotations

from collections.abc import Iterator

from proctor.domain.documents.scorecard_difference import MarkDifference, ScorecardDifference
from proctor.metrics.rounding import difference_text, figure_text
from proctor.reports.figures import NOT_MEASURED, number_text
from proctor.reports.sections import Detail, Page, Section, Table


def difference_page(document: ScorecardDifference) -> Page:
    problem = document.problem
    return Page(f"Two programs: {problem.title}", f"{problem.id}, A against B", tuple(_sections(document)))


def _sections(document: ScorecardDifference) -> Iterator[Section]:
    marks = tuple((one.name, number_text(one.a), number_text(one.b), _difference(one)) for one in document.dimensions)
    notes = list(document.remarks)
    if not document.is_comparable:
        notes.insert(0, "The problem has changed in between: the marks are not comparable.")
    elif not all(one.is_comparable for one in document.dimensions):
        notes.insert(0, "Not the same things were measured of A and B: only what both measured is subtracted.")
    text = (f"A: {document.a.verdict}", f"B: {document.b.verdict}")
    yield Section("Marks", text, (Table(("Mark", "A", "B", "B − A"), marks),), (), tuple(notes))
    flipped = tuple((one.id, one.level, one.a, one.b, one.text) for one in document.requirements)
    tables = (Table(("Id", "Level", "A", "B", "Requirement"), flipped, words=5),) if flipped else ()
    yield Section("Requirements that flipped", () if flipped else ("None.",), tables)
    if document.measures:
        rows = tuple((one.name, _figure(one.a), _figure(one.b)) for one in document.measures)
        yield Section("Measures", (), (Table(("Measure", "A", "B"), rows),))
    files = tuple((one.path, one.state) for one in document.files)
    details = tuple(Detail(f"{one.path}: {one.state}", one.diff) for one in document.files if one.diff)
    listed = (Table(("File", "State"), files, words=2),) if files else ()
    yield Section("Files", () if files else ("The programs are equal.",), listed, (), (), details)


def _difference(mark: MarkDifference) -> str:
    if not mark.is_comparable and mark.a is not None and mark.b is not None:
        return "not comparable"
    return NOT_MEASURED if mark.difference is None else difference_text(mark.difference)


def _figure(value: float | None) -> str:
    return NOT_MEASURED if value is None else figure_text(value, limits=(0.0,), form=",")
