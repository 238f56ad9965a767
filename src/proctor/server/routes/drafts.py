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
from proctor.runs.draft_plan import draft_plan
from proctor.runs.planner_catalogue import planner_catalogue
from proctor.runs.recommend import recommend
from proctor.server.access import Caller, Me, Store
from proctor.server.bodies import body_of
from proctor.server.documents import answers, json_answer
from proctor.server.plans import read_plan
from proctor.server.routes.resource import resource
from proctor.server.service import service_of
from proctor.server.sign_in import address_of
from proctor.stores.accounts.audit import AuditStore

router = resource("drafts")


class DraftQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """What is wanted, in words; `from` is a plan that it changes."""

    query: str
    base: dict[str, Any] | None = field(default=None, name="from")


@router.post("/plans/draft", operation_id="draftPlan", responses=answers(PlanDraft, has_body=True))
def draft(request: Request, caller: Me, body: Annotated[DraftQuery, Depends(body_of(DraftQuery))]) -> Response:
    """The plan that a sentence means, with what was understood, assumed and not understood; nothing is run.

    The query and what was made of it are in the audit log.
    """
    if body.base is not None:
        try:
            read_plan(body.base, caller)
        except PlanError as error:
            error.field = ("from", *error.field)
            raise
    return json_answer(draft_on_record(request, caller, body.query, base=body.base))


def draft_on_record(
    request: Request, caller: Caller, query: str, *, base: dict[str, Any] | None = None, what: str = "draft-plan"
) -> PlanDraft:
    """The draft of a query; what was asked and what was made of it are in the audit log, refusals too."""
    service = service_of(request)
    rows, address = AuditStore(service.database), address_of(request)
    try:
        made = draft_plan(query, planner_catalogue(service.context.environment), base=base)
    except UserError as error:
        rows.add(caller.who, what, of=query, project=caller.project, address=address, outcome=f"refused: {error}")
        raise
    plan = msgspec.json.encode(made.plan).decode()
    rows.add(caller.who, what, of=query, project=caller.project, address=address, outcome=f"drafted: {plan}")
    return made


class NeedQuery(BaseModel):
    model_config = ConfigDict(extra="forbid")

    need: str = Field(alias="for", max_length=4_000, description="What is needed, in words.")


@router.get("/recommendations", operation_id="recommendBenchmarks", responses=answers(Recommendations))
def recommendations(
    request: Request,
    database: Store,  # noqa: ARG001 - who calls is asked, as everywhere
    query: Annotated[NeedQuery, Query()],
) -> Response:
    """Benchmarks that fit, with why, their sizes, and what no benchmark covers."""
    return json_answer(recommend(query.need, planner_catalogue(service_of(request).context.environment)))
