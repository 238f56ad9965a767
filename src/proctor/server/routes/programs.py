"""Programs that people hand in for problems, and how they rank."""

from __future__ import annotations

from functools import partial
from typing import Annotated

from fastapi import Header, Path, Query
from pydantic import BaseModel, ConfigDict, Field
from starlette.requests import Request
from starlette.responses import Response

from proctor.benchmarks.problems.finding import all_problems, find_problem
from proctor.domain.documents.problem import ListedProblem
from proctor.domain.documents.submission import MarkedProgram, ProgramRanking, ServedSubmission, WaitingSubmissions
from proctor.domain.errors import NotFoundError
from proctor.domain.problem import Problem
from proctor.domain.submission import MAX_FILES
from proctor.programs.submissions import MAX_ARCHIVE_BYTES
from proctor.runs.storage.files import checked_name
from proctor.runs.submissions.marking import (
    accept_program,
    list_waiting,
    read_program,
    read_submission,
    remove_submission,
)
from proctor.runs.submissions.stored import list_submissions, ranking_of
from proctor.server.access import V1, Me, Store
from proctor.server.documents import answers, cached_answer, json_answer
from proctor.server.pages import next_link
from proctor.server.routes.files import artifacts_of, received_files
from proctor.server.routes.resource import resource
from proctor.server.service import Service, service_of
from proctor.server.uploads import Received, upload_body
from proctor.stores.database import Database

router = resource("problems")
SubmissionId = Annotated[str, Path(max_length=64)]
BODY = upload_body(
    "An archive (.zip, .tar, .tar.gz, .tar.bz2, .tar.xz), or a form with a part `file` for each "
    "file of the program, whose file name is its path."
)


def _problem(name: str) -> Problem:
    """Of those that come with Proctor: a path names none."""
    if not name.replace("-", "").isalnum():
        raise NotFoundError(f"There is no problem {name!r}.")
    return find_problem(name, None)


@router.get("/problems", operation_id="listProblems", responses=answers(ListedProblem, is_list=True))
def problems(request: Request) -> Response:
    """List the programs to build from written requirements."""
    return cached_answer(request, [ListedProblem.of(problem) for problem in all_problems(None)])


@router.get("/problems/{name}/ranking", operation_id="rankPrograms", responses=answers(ProgramRanking, problems=(404,)))
def ranking(request: Request, name: str, database: Store) -> Response:
    """Rank the programs that were built for a problem by their marks."""
    return cached_answer(request, ranking_of(database, _problem(name)))


@router.get("/submissions", operation_id="listSubmissions", responses=answers(MarkedProgram, is_list=True))
def submissions(
    request: Request, database: Store, problem: Annotated[str | None, Query(max_length=100)] = None
) -> Response:
    """List the programs that were marked."""
    return cached_answer(request, list_submissions(database, problem))


class WaitingQuery(BaseModel):
    model_config = ConfigDict(extra="forbid")

    after: str | None = Field(None, max_length=64)
    limit: int = Field(50, ge=1, le=500)


@router.get(
    "/submissions/waiting",
    operation_id="listWaitingSubmissions",
    responses=answers(
        WaitingSubmissions, description="Newest first.", headers={"Link": "The next page."}, problems=(404,)
    ),
)
def waiting(request: Request, database: Store, query: Annotated[WaitingQuery, Query()]) -> Response:
    """List the programs that wait to be marked, are being marked, or could not be."""
    page = list_waiting(database, after=query.after, limit=query.limit)
    return json_answer(page, headers=next_link(request, page.next))


class SubmissionQuery(BaseModel):
    model_config = ConfigDict(extra="forbid")

    problem: str = Field(max_length=100, description="What it is built for.")
    name: str = Field("program", min_length=1, max_length=200, description="What to call it.")
    load: bool = Field(True, description="Whether it is put under load and profiled; performance is not measured else.")


@router.post(
    "/submissions",
    status_code=202,
    operation_id="submitProgram",
    openapi_extra=BODY,
    responses=answers(
        ServedSubmission,
        status=202,
        description="It is kept; a worker marks it.",
        headers={"Location": "The submission's address."},
        problems=(404,),
        has_body=True,
    ),
)
async def submit_program(
    request: Request,
    caller: Me,
    database: Store,
    query: Annotated[SubmissionQuery, Query()],
    idempotency_key: Annotated[str | None, Header(min_length=1, max_length=200)] = None,
) -> Response:
    """Hand in a program for a problem: an archive, or files; it is marked as `proctor problems submit` marks it.

    It is looked into at once: an archive that leads out of its folder, that holds links or devices, or that inflates
    to too much is refused. Programs run in a sandbox only; where no worker has one, the submission fails and says so.
    """
    service = service_of(request)
    async with received_files(request, caller, MAX_ARCHIVE_BYTES, MAX_FILES) as received:
        work = partial(_accept, service, database, received, query, caller.who, idempotency_key)
        document = await service.uploads.look(work)
    return json_answer(document, 202, {"Location": f"{V1}/submissions/{document.submission_id}"})


def _accept(
    service: Service, database: Database, received: Received, query: SubmissionQuery, author: str, key: str | None
) -> ServedSubmission:
    problem, name = _problem(query.problem), checked_name(query.name)
    program = read_program([(file.name, file.content) for file in received.files])
    artifacts = artifacts_of(service)
    submission_id = accept_program(
        database, artifacts, problem, program, name=name, author=author, is_measuring=query.load, request_key=key
    )
    return read_submission(database, artifacts, submission_id)


@router.get(
    "/submissions/{submission_id}",
    operation_id="readSubmission",
    responses=answers(ServedSubmission, problems=(404,)),
)
def get_submission(request: Request, submission_id: SubmissionId, database: Store) -> Response:
    """How far a submission is, and its scorecard once it is marked."""
    return cached_answer(request, read_submission(database, artifacts_of(service_of(request)), submission_id))


@router.delete(
    "/submissions/{submission_id}",
    status_code=204,
    operation_id="deleteSubmission",
    responses=answers(status=204, description="It is gone.", problems=(404, 409)),
)
def delete_submission(request: Request, submission_id: SubmissionId, database: Store) -> Response:
    """Delete a submission with its scorecard, or one that waits to be marked."""
    remove_submission(database, artifacts_of(service_of(request)), submission_id)
    return Response(status_code=204)
