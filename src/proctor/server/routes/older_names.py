"""Names that older services use: each leads to the route that took its place, and says so with `Deprecation`."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Query
from msgspec import Meta, Struct
from pydantic import Field
from starlette.requests import Request
from starlette.responses import Response

from proctor.domain.documents.accepted import AcceptedRun, ServedRun
from proctor.domain.documents.model import ProviderDescription
from proctor.domain.documents.older_names import ModelResult, SubmittedTask, TaskResult, TaskState, TaskStatus
from proctor.domain.documents.problem_details import FieldProblem
from proctor.domain.documents.served import ResultPage
from proctor.domain.run import RunStatus
from proctor.runs.chunks.served import served_run
from proctor.server.access import V1, Me, Store, authorised
from proctor.server.bodies import body_of, json_value, takes
from proctor.server.documents import answers, json_answer
from proctor.server.plan_schema import EXAMPLE, PLAN
from proctor.server.problems import DEPRECATED_SINCE, ProblemError
from proctor.server.routes.catalogue import providers
from proctor.server.routes.drafts import draft_on_record
from proctor.server.routes.results import EXPORTS, ExportQuery, ResultQuery, export, list_results
from proctor.server.routes.runs import accept_plan

router = APIRouter(tags=["older names"], dependencies=[Depends(authorised)])
HEADERS = {"Deprecation": "Since when.", "Link": "What took its place."}
STATES: dict[RunStatus, TaskStatus] = {
    RunStatus.QUEUED: "PENDING",
    RunStatus.RUNNING: "STARTED",
    RunStatus.COMPLETED: "SUCCESS",
    RunStatus.FAILED: "FAILURE",
    RunStatus.CANCELLED: "FAILURE",
}
Name = Annotated[str, Meta(min_length=1, max_length=500)]


class BenchmarkRequest(Struct, frozen=True, forbid_unknown_fields=True):
    agents: Annotated[list[Name], Meta(min_length=1, max_length=50)]
    """Models and agents, as in a plan."""
    benchmark: Name
    limit: Annotated[int, Meta(ge=1)] | None = None


class NamedModel(Struct, frozen=True, forbid_unknown_fields=True):
    name: Name
    model_type: Annotated[str, Meta(max_length=100)] = ""
    """The provider, where the name has none."""
    api_base: str = ""
    api_key: str = ""
    """Keys and addresses are the operator's: anything but an empty text is refused."""


class GenerateRequest(Struct, frozen=True, forbid_unknown_fields=True):
    query: Annotated[str, Meta(min_length=1, max_length=10_000)]
    models: Annotated[list[NamedModel], Meta(min_length=1, max_length=10)]


class ExportRequest(Struct, frozen=True, forbid_unknown_fields=True):
    run_id: Annotated[str, Meta(min_length=1, max_length=64)]
    format: Literal["jsonl", "csv", "parquet", "junit"] = "jsonl"


class ResultsOfRun(ResultQuery):
    run_id: str = Field("latest", max_length=64)


@router.post(
    "/benchmark/run", status_code=202, operation_id="olderRunBenchmark", deprecated=True,
    openapi_extra=takes(BenchmarkRequest, {"agents": ["demo/strong", "demo/weak"], "benchmark": "puzzles", "limit": 5}),
    responses=answers(AcceptedRun, status=202, headers=HEADERS, problems=(402, 404, 409), has_body=True),
)  # fmt: skip
def run_benchmark(
    request: Request, caller: Me, database: Store, body: Annotated[BenchmarkRequest, Depends(body_of(BenchmarkRequest))]
) -> Response:
    """Evaluate agents on a benchmark; use `POST /api/v1/runs`."""
    plan = {"models": body.agents, "benchmarks": [{"benchmark": body.benchmark, "limit": body.limit}]}
    accepted = accept_plan(request, caller, database, plan)
    return _deprecated(json_answer(AcceptedRun(accepted, RunStatus.QUEUED), 202), "/runs")


@router.post(
    f"{V1}/leaderboard/generate", operation_id="olderGenerateLeaderboard", deprecated=True,
    openapi_extra=takes(
        GenerateRequest,
        {"query": "Compare both on 5 puzzles", "models": [{"name": "demo/strong"}, {"name": "demo/weak"}]},
    ),
    responses=answers(SubmittedTask, headers=HEADERS, problems=(402, 404, 409), has_body=True),
)  # fmt: skip
def generate_leaderboard(
    request: Request, caller: Me, database: Store, body: Annotated[GenerateRequest, Depends(body_of(GenerateRequest))]
) -> Response:
    """Draft a plan from words and run it; use `POST /api/v1/plans/draft`, then `POST /api/v1/runs`."""
    models = [_model_name(index, model) for index, model in enumerate(body.models)]
    drafted = draft_on_record(request, caller, database, body.query, what="generate-leaderboard")
    if drafted.gaps:
        detail = f"Nothing is run: {drafted.gaps[0].sentence}. Name one of them."
        raise ProblemError(422, "no-data", detail, [FieldProblem("/query", detail)])
    plan = {**drafted.plan, "models": models}
    accepted = accept_plan(request, caller, database, plan)
    left = [*drafted.not_understood, *(wish.text for wish in drafted.unsupported)]
    return _deprecated(json_answer(SubmittedTask(accepted, "PENDING", plan, left)), "/plans/draft")


@router.get(
    f"{V1}/tasks/{{run_id}}", operation_id="olderReadTask", deprecated=True,
    responses=answers(TaskState, headers=HEADERS, problems=(404,)),
)  # fmt: skip
def read_task(run_id: str, database: Store) -> Response:
    """How far a run is, and what it found; use `GET /api/v1/runs/{run_id}`."""
    run = served_run(database, run_id)
    return _deprecated(json_answer(_task(run)), f"/runs/{run.run_id}")


@router.get(
    "/api/models", operation_id="olderListModels", deprecated=True,
    responses=answers(ProviderDescription, is_list=True, headers=HEADERS),
)  # fmt: skip
def list_models(request: Request, caller: Me) -> Response:
    """List the providers; use `GET /api/v1/models`."""
    return _deprecated(providers(request, caller), "/models")


@router.post(
    "/api/execute", status_code=202, operation_id="olderExecute", deprecated=True, openapi_extra=takes(PLAN, EXAMPLE),
    responses=answers(AcceptedRun, status=202, headers=HEADERS, problems=(402, 404, 409), has_body=True),
)  # fmt: skip
def execute(request: Request, caller: Me, database: Store, body: Annotated[Any, Depends(json_value)]) -> Response:
    """Run a plan; use `POST /api/v1/runs`."""
    accepted = accept_plan(request, caller, database, body)
    return _deprecated(json_answer(AcceptedRun(accepted, RunStatus.QUEUED), 202), "/runs")


@router.get(
    "/api/results", operation_id="olderListResults", deprecated=True,
    responses=answers(ResultPage, headers=HEADERS, problems=(404,)),
)  # fmt: skip
def results(request: Request, database: Store, query: Annotated[ResultsOfRun, Query()]) -> Response:
    """List a run's results; use `GET /api/v1/runs/{run_id}/results`."""
    return _deprecated(list_results(request, query.run_id, database, query), "/runs")


@router.post(
    "/api/export", operation_id="olderExport", deprecated=True, openapi_extra=takes(ExportRequest),
    responses=answers(
        description="The file of `proctor export`, streamed.", headers=HEADERS, problems=(404,), has_body=True,
        content={kind.partition(";")[0]: {"schema": {"type": "string"}} for kind in EXPORTS.values()},
    ),
)  # fmt: skip
def export_run(database: Store, body: Annotated[ExportRequest, Depends(body_of(ExportRequest))]) -> Response:
    """Every result as a file; use `GET /api/v1/runs/{run_id}/export`."""
    query = ExportQuery.model_validate({"format": body.format})
    return _deprecated(export(body.run_id, database, query), "/runs")


def _deprecated(response: Response, successor: str) -> Response:
    response.headers["Deprecation"] = DEPRECATED_SINCE
    response.headers.append("Link", f'<{V1}{successor}>; rel="successor-version"')
    return response


def _model_name(index: int, model: NamedModel) -> str:
    for field in ("api_key", "api_base"):
        if getattr(model, field):
            detail = f"{field} is not a caller's to say: leave it out, the operator of the server has the keys."
            raise ProblemError(422, "secret-needed", detail, [FieldProblem(f"/models/{index}/{field}", detail)])
    return model.name if "/" in model.name or not model.model_type else f"{model.model_type}/{model.name}"


def _task(run: ServedRun) -> TaskState:
    found = None
    if run.status is RunStatus.COMPLETED:
        found = TaskResult([
            ModelResult(
                one.model, one.benchmark, next((metric.value for metric in one.metrics.values()), None), one.trials
            )
            for one in run.evaluations
        ])  # fmt: skip
    return TaskState(run.run_id, STATES[run.status], run.progress, found, run.error)
