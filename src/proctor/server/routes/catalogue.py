"""What can be evaluated: benchmarks, models and problems, and what a plan would cost."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Depends, Query
from pydantic import BaseModel, ConfigDict, Field
from starlette.requests import Request
from starlette.responses import Response

from proctor.benchmarks.registry import BenchmarkInfo, is_installed, list_benchmarks
from proctor.domain.documents.benchmark import BenchmarkDescription
from proctor.domain.documents.dry_run import DryRun
from proctor.domain.documents.model import FoundModel, ModelDescription, ProviderDescription
from proctor.domain.errors import NotFoundError
from proctor.domain.taxonomy import TAXONOMY, refuse_foreign_words
from proctor.planning.matrix import expand_matrix
from proctor.planning.plan_file import benchmark_spec, model_spec
from proctor.runs.benchmarks.describe import describe_benchmark
from proctor.runs.benchmarks.own import find_own, list_offered, with_files, with_own_benchmarks
from proctor.runs.chunks.content import keep_content
from proctor.runs.models import describe_model, describe_providers, search_models
from proctor.runs.plans.dry_run import estimate_run
from proctor.runs.resolve import resolve_without_keys
from proctor.server.access import Me, Store
from proctor.server.bodies import json_value, takes
from proctor.server.documents import answers, cached_answer, json_answer
from proctor.server.plan_schema import EXAMPLE, PLAN
from proctor.server.plans import KeyHosts, located, read_plan, refuse_foreign_benchmark, refuse_foreign_model
from proctor.server.problems import ProblemError
from proctor.server.routes.resource import resource
from proctor.server.service import service_of
from proctor.stores.project_state import benchmarks_state

router = resource("catalogue")
A_DAY = "private, max-age=86400"


@router.post(
    "/estimate",
    operation_id="estimateRun",
    openapi_extra=takes(PLAN, EXAMPLE),
    responses=answers(DryRun, problems=(404,), has_body=True),
)
def estimate(
    request: Request,
    caller: Me,
    database: Store,
    body: Annotated[Any, Depends(json_value)],
    proctor_key_hosts: KeyHosts = None,
) -> Response:
    """What a plan would do and cost, as `proctor run --dry-run --json` says it; asks no model, writes nothing."""
    context = service_of(request).context.of_project(caller.project)
    plan, content = with_own_benchmarks(read_plan(body, caller, proctor_key_hosts), database)
    with located(plan), with_files({**keep_content(plan, context), **content} if content else {}, context) as here:
        plan = expand_matrix(plan, here.folder)
        evaluations, missing = resolve_without_keys(plan, here)
        return json_answer(estimate_run(plan, evaluations, database, missing_keys=missing))


class BenchmarkQuery(BaseModel):
    model_config = ConfigDict(extra="forbid")

    language: str | None = Field(None, max_length=100)
    subject: str | None = Field(None, max_length=100)
    task: str | None = Field(None, max_length=100)
    form: str | None = Field(None, max_length=100)


class ModelQuery(BaseModel):
    model_config = ConfigDict(extra="forbid")

    text: str = Field("", max_length=200, description="Every word of it is in the name.")
    limit: int = Field(30, ge=1, le=200)


@router.get("/benchmarks", operation_id="listBenchmarks", responses=answers(BenchmarkInfo, is_list=True))
def benchmarks(request: Request, database: Store, query: Annotated[BenchmarkQuery, Query()]) -> Response:
    """List the project's own benchmarks, and those that come with Proctor or are installed; needs no data."""
    given = {name: word for name in TAXONOMY if (word := getattr(query, name, None)) is not None}
    try:
        refuse_foreign_words(given)
    except ValueError as error:
        raise ProblemError(422, "parameters", f"{error}.") from None
    found = service_of(request).documents.document(
        "benchmarks",
        database,
        given,
        lambda: benchmarks_state(database),
        lambda: [item for item in [*list_offered(database), *list_benchmarks()] if given.items() <= item.tags.items()],
    )
    return cached_answer(request, found)


@router.get(
    "/benchmarks/{name}", operation_id="readBenchmark", responses=answers(BenchmarkDescription, problems=(404,))
)
def benchmark(request: Request, name: str, caller: Me) -> Response:
    """One benchmark: protocol, samples, first prompt, scorers and metrics; also of the project's own."""
    own = find_own(caller.database, name)
    if own is not None:
        return cached_answer(request, own.description)
    if not caller.is_operator:
        spec = benchmark_spec(name)
        if not is_installed(spec.benchmark):
            raise NotFoundError(f"There is no benchmark {name!r}.")
        refuse_foreign_benchmark(spec, [])
    return cached_answer(request, describe_benchmark(name, service_of(request).context))


@router.get("/models", operation_id="listProviders", responses=answers(ProviderDescription, is_list=True))
def providers(request: Request, caller: Me) -> Response:
    """List the providers, what they can do, and whether the project or the server has their key; never the key."""
    context = service_of(request).context.of_project(caller.project)
    return cached_answer(request, describe_providers(context.environment))


@router.get("/known-models", operation_id="searchModels", responses=answers(FoundModel, is_list=True))
def known_models(request: Request, caller: Me, query: Annotated[ModelQuery, Query()]) -> Response:
    """Search the models that can be named, with context window, price and what they can take; no provider is asked."""
    service = service_of(request)
    context = service.context.of_project(caller.project)
    keys = {one.provider: one.has_key for one in describe_providers(context.environment)}
    found = service.documents.document(
        "known-models",
        caller.database,
        [query.model_dump(), keys],
        lambda: "" if context.lists is None else context.lists.state(),
        lambda: search_models(query.text, context, query.limit),
    )
    return cached_answer(request, found)


@router.get("/models/{name:path}", operation_id="readModel", responses=answers(ModelDescription, problems=(404,)))
def model(request: Request, name: str, caller: Me) -> Response:
    """What is known of one model, written `provider/name`: context window, price, capabilities; nobody is asked."""
    if not caller.is_operator:
        refuse_foreign_model(model_spec(name), [], caller)
    context = service_of(request).context.of_project(caller.project)
    return cached_answer(request, describe_model(name, context, may_ask=False), A_DAY)
