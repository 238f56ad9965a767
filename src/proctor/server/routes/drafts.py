"""From words: plans drafted from a sentence, and benchmarks recommended for a need. No model is asked here."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from fastapi import Depends, Query
from msgspec import Struct, field
from pydantic import BaseModel, ConfigDict, Field
from starlette.requests import Request
from starlette.responses import Response

from proctor.domain.documents.draft import PlanDraft
from proctor.domain.documents.recommendation import Recommendations
from proctor.domain.errors import PlanError, UserError
from proctor.planning.plan_file import model_spec
from proctor.runs.benchmarks.own import offered_descriptions
from proctor.runs.plans.draft_plan import draft_plan
from proctor.runs.plans.planner_catalogue import planner_catalogue
from proctor.runs.plans.recommend import recommend, recommend_after, with_costs
from proctor.server.access import Caller, Me, Permission, Store
from proctor.server.addresses import address_of
from proctor.server.bodies import body_of
from proctor.server.documents import answers, json_answer
from proctor.server.plans import read_plan, refuse_foreign_model
from proctor.server.problems import ProblemError
from proctor.server.routes.resource import resource
from proctor.server.service import service_of
from proctor.stores.accounts.audit import AuditStore
from proctor.stores.database import Database

router = resource("drafts")


class DraftQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """What is wanted, in words; `from` is a plan that it changes."""

    query: str
    base: dict[str, Any] | None = field(default=None, name="from")


@router.post("/plans/draft", operation_id="draftPlan", responses=answers(PlanDraft, has_body=True))
def draft(
    request: Request, caller: Me, database: Store, body: Annotated[DraftQuery, Depends(body_of(DraftQuery))]
) -> Response:
    """The plan that a sentence means, with what was understood, assumed and not understood; nothing is run.

    The project's own benchmarks are understood by their names. What `gaps` names has no data here and is not in the
    plan, or the nearest benchmark is in its place: say so before the plan is run. The query and what was made of it
    are in the audit log.
    """
    if body.base is not None:
        try:
            read_plan(body.base, caller)
        except PlanError as error:
            error.field = ("from", *error.field)
            raise
    return json_answer(draft_on_record(request, caller, database, body.query, base=body.base))


def draft_on_record(
    request: Request,
    caller: Caller,
    database: Database,
    query: str,
    *,
    base: dict[str, Any] | None = None,
    what: str = "draft-plan",
) -> PlanDraft:
    """The draft of a query; what was asked and what was made of it are in the audit log, refusals too."""
    service = service_of(request)
    rows, address = AuditStore(service.database), address_of(request)
    try:
        catalogue = planner_catalogue(service.context.environment, offered_descriptions(database))
        made = draft_plan(query, catalogue, base=base)
    except UserError as error:
        rows.add(caller.who, what, of=query, project=caller.project, address=address, outcome=f"refused: {error}")
        raise
    if not caller.is_operator:
        try:
            read_plan(dict(made.plan), caller)  # what he could not hand in himself is not written for him
        except ProblemError as error:
            said = f"refused: {error.detail}"
            rows.add(caller.who, what, of=query, project=caller.project, address=address, outcome=said)
            raise
    plan = msgspec.json.encode(made.plan).decode()
    rows.add(caller.who, what, of=query, project=caller.project, address=address, outcome=f"drafted: {plan}")
    return made


class NeedQuery(BaseModel):
    """What is needed, in words, or the run after which to look; one of both."""

    model_config = ConfigDict(extra="forbid")

    need: str | None = Field(None, alias="for", max_length=4_000, description="What is needed, in words.")
    after: str | None = Field(None, max_length=64, description="Where this run's models are weak; needs results:read.")
    model: list[str] = Field(
        default_factory=list, max_length=5, description="Estimate what 100 samples cost with these models."
    )


@router.get("/recommendations", operation_id="recommendBenchmarks", responses=answers(Recommendations, problems=(404,)))
def recommendations(request: Request, caller: Me, database: Store, query: Annotated[NeedQuery, Query()]) -> Response:
    """Benchmarks that fit, with why, their sizes and costs, and what none covers; or where to look after a run."""
    if (query.need is None) == (query.after is None):
        raise ProblemError(422, "parameters", "Give 'for' or 'after', one of both.")
    context = service_of(request).context.of_project(caller.project)
    catalogue = planner_catalogue(context.environment, offered_descriptions(database))
    if query.after is not None:
        if Permission.RESULTS_READ not in caller.permissions:
            raise ProblemError(403, "forbidden", f"This needs the permission results:read, which {caller.who} lacks.")
        found = recommend_after(query.after, catalogue, database)
    else:
        found = recommend(query.need or "", catalogue)
    for index, name in enumerate(query.model):
        refuse_foreign_model(model_spec(name), ["model", index], caller)
    return json_answer(with_costs(found, query.model, context, database) if query.model else found)
