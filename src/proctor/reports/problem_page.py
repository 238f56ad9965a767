"""A problem as sections: what is asked for, and what proves it."""

from __future__ import annotations

from proctor.domain.problem import Problem
from proctor.reports.figures import NOT_MEASURED
from proctor.reports.sections import Page, Section, Table


def problem_page(problem: Problem) -> Page:
    interface = problem.interface
    languages = " or ".join(interface.languages)
    facts = f"{problem.difficulty}, {problem.area}, a {interface.kind} in {languages}, version {problem.version}"
    sections = [
        Section(f"{problem.title} ({problem.id})", (facts, problem.brief)),
        Section("Requirements", (), (_requirements(problem),)),
        Section("Marks", _marks(problem), _thresholds(problem)),
    ]
    if problem.mutants:
        rows = tuple((one.name, ", ".join(one.breaks), one.note) for one in problem.mutants)
        sections.append(Section("Mutants", (), (Table(("Mutant", "Breaks", "What it does"), rows, words=3),)))
    return Page(problem.title, problem.id, tuple(sections))


def _requirements(problem: Problem) -> Table:
    rows = tuple(
        (
            one.id,
            str(one.level),
            one.text,
            ", ".join(f"{name} ({problem.checks.get(name, '?')})" for name in one.checks) or "untested",
        )
        for one in problem.requirements
    )
    return Table(("Id", "Level", "Requirement", "Checks"), rows, words=4)


def _marks(problem: Problem) -> tuple[str, ...]:
    weights = ", ".join(f"{name} {weight:g}" for name, weight in problem.weights.items() if weight)
    return (f"Weights: {weights}.", f"To pass: every MUST, and {problem.pass_score:g} in total.")


def _thresholds(problem: Problem) -> tuple[Table, ...]:
    if not problem.thresholds:
        return ()
    rows = tuple(
        (
            one.measure,
            f"{'at most' if one.is_upper else 'at least'} {one.value:g} {one.unit}",
            one.requirement or NOT_MEASURED,
        )
        for one in problem.thresholds
    )
    return (Table(("Measure", "Bound", "Requirement"), rows, words=3),)
