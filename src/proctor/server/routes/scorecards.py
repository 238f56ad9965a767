"""Problems in full, and the scorecards of programs that were built for them."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query
from pydantic import BaseModel, ConfigDict, Field
from starlette.requests import Request
from starlette.responses import Response

from proctor.benchmarks.problems.finding import find_problem
from proctor.domain.artifacts import Artifacts
from proctor.domain.documents.problem import ProblemDescription
from proctor.domain.documents.scorecard import ProgramCard
from proctor.domain.documents.scorecard_difference import ScorecardDifference
from proctor.domain.errors import NotFoundError
from proctor.runs.submissions.marked_programs import read_scorecard
from proctor.runs.submissions.scorecard_diff import compare_scorecards
from proctor.server.access import Store
from proctor.server.documents import answers, cached_answer
from proctor.server.problems import ProblemError
from proctor.server.routes.resource import resource
from proctor.server.service import service_of

router = resource("scorecards")


class CardPair(BaseModel):
    model_config = ConfigDict(extra="forbid")

    a: str = Field(max_length=1_000, description="A submission, or RUN/SAMPLE/EPOCH/MODEL.")
    b: str = Field(max_length=1_000)


@router.get("/problems/{name}", operation_id="readProblem", responses=answers(ProblemDescription, problems=(404,)))
def problem(request: Request, name: str) -> Response:
    """A problem: its brief, its requirements with their checks, thresholds and mutants; never its hidden tests."""
    if not name.replace("-", "").isalnum():
        raise NotFoundError(f"There is no problem {name!r}.")
    return cached_answer(request, ProblemDescription.of(find_problem(name, None)))


@router.get(
    "/scorecards", operation_id="compareScorecards", responses=answers(ScorecardDifference, problems=(404,))
)  # fmt: skip
def compare(request: Request, database: Store, query: Annotated[CardPair, Query()]) -> Response:
    """Two programs for one problem: marks, requirements that flipped, measures, files."""
    kept = _artifacts(request)
    a, b = (read_scorecard(database, kept, reference) for reference in (query.a, query.b))
    return cached_answer(request, compare_scorecards(a, b))


@router.get(
    "/scorecards/{reference:path}", operation_id="readScorecard", responses=answers(ProgramCard, problems=(404,))
)
def scorecard(request: Request, reference: str, database: Store) -> Response:
    """The scorecard of a submission, or of an answer in a run as RUN/SAMPLE/EPOCH/MODEL."""
    return cached_answer(request, read_scorecard(database, _artifacts(request), reference))


def _artifacts(request: Request) -> Artifacts:
    artifacts = service_of(request).context.artifacts
    if artifacts is None:
        raise ProblemError(503, "unavailable", "This server keeps no artifacts.")
    return artifacts
