"""Submissions of a problem as tables: listed, and ranked with models' programs."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import UNSET

from proctor.domain.documents.submission import MarkedProgram, ProgramRanking, ProgramsApart
from proctor.metrics.rounding import figure_text
from proctor.reports.figures import NOT_MEASURED, number_text
from proctor.reports.sections import Page, Section, Table
from proctor.reports.trust import FORGEABLE

LOWER_BOUND = "A mark that covers less than the whole weight is not scaled up: what was not measured could add to it"


def submissions_page(entries: Sequence[MarkedProgram]) -> Page:
    """Newest first, as they are given."""
    headers = ("Submission", "Name", "Problem", "Passed", "Date", "Mark", "Covers")
    rows = tuple((one.submission_id or NOT_MEASURED, one.name, one.problem, *_facts(one)) for one in entries)
    notes = ("Scorecards: proctor problems card SUBMISSION. Ranks: proctor problems ranking ID.",)
    return Page("Submissions", "", (Section("Submissions", (), (Table(headers, rows, words=5),), (), notes),))


def ranking_page(document: ProgramRanking) -> Page:
    """The ranks first; then marks that cannot be ranked with them, each under what it was made with."""
    problem = document.problem
    text = () if document.ranked else ("Nothing has been marked with this version of the problem and the formula.",)
    title = f"Ranking: {problem.title} ({problem.id})"
    sections = [_section(title, document.ranked, text)] + [
        _section(_apart_title(group, document), group.entries, ()) for group in document.apart
    ]
    return Page(title, problem.id, tuple(sections))


def _apart_title(group: ProgramsApart, document: ProgramRanking) -> str:
    changed = [] if group.problem_digest == document.problem.digest else ["of the problem before it changed"]
    others = [] if group.revision == document.revision else [f"of formula revision {group.revision}"]
    return f"Apart: marks {' and '.join([*others, *changed])}"


def _section(title: str, entries: Sequence[MarkedProgram], text: tuple[str, ...]) -> Section:
    headers = ("Rank", "Name", "From", "Passed", "Date", "Mark", "Covers")
    rows = tuple((_rank(one), one.name, _origin(one), *_facts(one)) for one in entries)
    tables = (Table(headers, rows, words=5),) if rows else ()
    notes = []
    if any(one.covers is not None and one.covers < 1 for one in entries):
        notes.append(f"{LOWER_BOUND}.")
    if any(one.is_forgeable for one in entries):
        notes.append(f"Forgeable: {FORGEABLE}.")
    return Section(title, text, tables, (), tuple(notes))


def _rank(entry: MarkedProgram) -> str:
    return NOT_MEASURED if entry.rank is None or entry.rank is UNSET else str(entry.rank)


def _origin(entry: MarkedProgram) -> str:
    if entry.kind == "submission":
        return f"submission {entry.submission_id}"
    epoch = f", epoch {entry.epoch}" if entry.epoch else ""
    return f"model, run {entry.run_id}{epoch}"


def _facts(entry: MarkedProgram) -> tuple[str, ...]:
    covers = "no program" if entry.covers is None else figure_text(entry.covers)
    passed = "yes" if entry.passed else "no"
    if entry.is_forgeable:
        passed += ", forgeable"
    when = f"{entry.created_at.astimezone():%Y-%m-%d %H:%M}"
    return passed, when, number_text(entry.total), covers
