"""What is wrong or weak with a problem as it is written; nothing is run for it."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from proctor.benchmarks.problems.checks import find_checks
from proctor.benchmarks.problems.ears import read_sentence
from proctor.benchmarks.problems.folder import FILE
from proctor.domain.errors import BenchmarkError
from proctor.domain.problem import CheckKind, Problem
from proctor.yaml_document import LocatedDocument, load_yaml

MIN_REQUIREMENTS, MAX_REQUIREMENTS = 8, 20
MIN_MUTANTS = 4


class LintFinding(Struct, frozen=True):
    """One remark; an error keeps a problem from counting, a warning does not."""

    severity: Literal["error", "warning"]
    where: str
    """File and line."""
    rule: str
    message: str
    requirement: str | None = None


class Lint(Struct, frozen=True):
    findings: tuple[LintFinding, ...]
    patterns: dict[str, str | None]
    """The EARS pattern of each requirement's sentence."""
    untested: tuple[str, ...]
    """Requirements without a check or threshold."""

    @property
    def is_clean(self) -> bool:
        return not any(finding.severity == "error" for finding in self.findings)


def lint_problem(problem: Problem) -> Lint:
    """Every requirement's sentence, and whether the problem proves what it asks for."""
    document = load_yaml(problem.folder / FILE, name=f"{problem.folder.name}/{FILE}", error=BenchmarkError)
    findings: list[LintFinding] = []
    patterns: dict[str, str | None] = {}
    untested = []
    measured = {threshold.requirement for threshold in problem.thresholds}
    for place, requirement in enumerate(problem.requirements):
        where = f"{document.name}:{document.line_of(('requirements', place, 'text'))}"
        reading = read_sentence(requirement.text, requirement.level)
        patterns[requirement.id] = reading.pattern
        findings += [LintFinding("error", where, "ears", text, requirement.id) for text in reading.problems]
        findings += [LintFinding("warning", where, "wording", text, requirement.id) for text in reading.warnings]
        if not requirement.checks and requirement.id not in measured:
            untested.append(requirement.id)
            text = "no check names it: it is reported as untested"
            findings.append(LintFinding("warning", where, "untested", text, requirement.id))
    findings += _of_the_checks(problem)
    findings += _of_the_whole(problem, document)
    return Lint(tuple(findings), patterns, tuple(untested))


def _of_the_checks(problem: Problem) -> list[LintFinding]:
    named = {name for requirement in problem.requirements for name in requirement.checks}
    found = []
    for name, check in find_checks(problem.folder).items():
        where = f"{problem.folder.name}/{check.path}:{check.line}"
        if name not in named and check.kind is not CheckKind.VISIBLE:
            text = f"no requirement names test_{name}: it counts for the mark of tests only"
            found.append(LintFinding("warning", where, "unnamed check", text))
        if not check.uses_program:
            text = f"test_{name} does not take the fixture 'program': it cannot test the answer"
            found.append(LintFinding("error", where, "no program", text))
    return found


def _of_the_whole(problem: Problem, document: LocatedDocument) -> list[LintFinding]:
    found = []

    def warn(field: str, rule: str, text: str) -> None:
        found.append(LintFinding("warning", f"{document.name}:{document.line_of((field,))}", rule, text))

    count = len(problem.requirements)
    if not MIN_REQUIREMENTS <= count <= MAX_REQUIREMENTS:
        warn("requirements", "size", f"{count} requirements; {MIN_REQUIREMENTS} to {MAX_REQUIREMENTS} serve best")
    if len(problem.mutants) < MIN_MUTANTS:
        warn("mutants", "size", f"{len(problem.mutants)} mutants; fewer than {MIN_MUTANTS} prove little")
    if not problem.visible:
        warn("id", "visible", "there are no visible tests: a model is shown no example")
    blind = [one["path"] for one in (problem.load or {}).get("requests", ()) if "expect" not in one]
    if blind:
        warn("load", "expect", f"nothing is expected of {', '.join(blind)}: whatever is answered below 400 counts")
    for kind in (CheckKind.UNIT, CheckKind.INTEGRATION, CheckKind.PROPERTY):
        if kind not in problem.checks.values():
            warn("id", "kinds", f"there is no hidden check of the kind {kind}")
    return found
