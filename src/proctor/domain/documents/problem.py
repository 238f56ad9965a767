"""A problem: in a list, and as a whole."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from proctor.domain.documents.document import Document
from proctor.domain.message import Json
from proctor.domain.problem import Problem, Requirement, Threshold


class ListedProblem(Document, frozen=True):
    id: str
    title: str
    version: str
    difficulty: str
    area: str
    kind: str
    languages: Sequence[str]
    requirements: int
    checks: int
    mutants: int
    digest: str

    @classmethod
    def of(cls, problem: Problem) -> ListedProblem:
        return cls(
            id=problem.id,
            title=problem.title,
            version=problem.version,
            difficulty=problem.difficulty,
            area=problem.area,
            kind=str(problem.interface.kind),
            languages=problem.interface.languages,
            requirements=len(problem.requirements),
            checks=len(problem.checks),
            mutants=len(problem.mutants),
            digest=problem.digest,
        )


class MutantDescription(Document, frozen=True):
    name: str
    breaks: Sequence[str]
    note: str


class ProblemDescription(Document, frozen=True):
    id: str
    title: str
    version: str
    difficulty: str
    area: str
    kind: str
    languages: Sequence[str]
    requirements: Sequence[Requirement]
    checks: Mapping[str, str]
    """Their kinds by name."""
    mutants: Sequence[MutantDescription]
    digest: str
    brief: str
    thresholds: Sequence[Threshold]
    weights: Mapping[str, float]
    pass_score: float
    limits: Mapping[str, Json]
    load: Mapping[str, Json] | None
    dependencies: Sequence[str]
    visible: Mapping[str, str]
    """The tests that a model is shown, by path."""

    @classmethod
    def of(cls, problem: Problem) -> ProblemDescription:
        return cls(
            id=problem.id,
            title=problem.title,
            version=problem.version,
            difficulty=problem.difficulty,
            area=problem.area,
            kind=str(problem.interface.kind),
            languages=problem.interface.languages,
            requirements=problem.requirements,
            checks={name: str(kind) for name, kind in problem.checks.items()},
            mutants=[MutantDescription(one.name, one.breaks, one.note) for one in problem.mutants],
            digest=problem.digest,
            brief=problem.brief,
            thresholds=problem.thresholds,
            weights=problem.weights,
            pass_score=problem.pass_score,
            limits=problem.limits,
            load=problem.load,
            dependencies=problem.dependencies,
            visible=problem.visible,
        )
