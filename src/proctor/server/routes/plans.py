"""Saved plans: templates that runs are made from."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Depends, Header, Query
from msgspec import Meta, Struct
from pydantic import BaseModel, ConfigDict, Field
from starlette.requests import Request
from starlette.responses import Response

from proctor.domain.documents.annotation import SavedPlan, SavedPlanPage
from proctor.server.access import V1, Caller, Me, Store
from proctor.server.bodies import body_of, takes
from proctor.server.documents import answers, json_answer
from proctor.server.pages import next_link
from proctor.server.plan_schema import EXAMPLE
from proctor.server.plans import read_plan
from proctor.server.problems import ProblemError
from proctor.server.routes.resource import resource
from proctor.stores.saved_plans import SavedPlanRow, SavedPlanStore

router = resource("plans")
Name = Annotated[str, Meta(min_length=1, max_length=200)]


class PlanToSave(Struct, frozen=True, forbid_unknown_fields=True):
    """A name, and a plan as in a plan file."""

    name: Name
    plan: dict[str, Any]


class PageQuery(BaseModel):
    model_config = ConfigDict(extra="forbid")

    after: str | None = Field(None, max_length=64)
    limit: int = Field(50, ge=1, le=200)


Body = Annotated[PlanToSave, Depends(body_of(PlanToSave))]
TAG = {"ETag": "Its revision, for If-Match.", "Location": "Its address."}
SAVED = {"name": "weekly", "plan": EXAMPLE}


@router.post(
    "/plans",
    status_code=201,
    operation_id="savePlan",
    openapi_extra=takes(PlanToSave, SAVED),
    responses=answers(SavedPlan, status=201, description="It is saved.", headers=TAG, has_body=True),
)
def save_plan(caller: Me, database: Store, body: Body) -> Response:
    """Save a plan under a name; its form is checked as a run's is."""
    row = SavedPlanStore(database).add(body.name, _checked(body, caller), caller.who)
    return _answer(row, 201)


@router.get(
    "/plans",
    operation_id="listPlans",
    responses=answers(SavedPlanPage, description="Newest first.", headers={"Link": "The next page."}),
)
def list_plans(request: Request, database: Store, query: Annotated[PageQuery, Query()]) -> Response:
    """List the saved plans, newest first."""
    rows = SavedPlanStore(database).listed(after=query.after, limit=query.limit + 1)
    after = rows[query.limit - 1].id if len(rows) > query.limit else None
    page = SavedPlanPage([_document(row) for row in rows[: query.limit]], after)
    return json_answer(page, headers=next_link(request, after))


@router.get("/plans/{plan_id}", operation_id="readPlan", responses=answers(SavedPlan, problems=(404,), headers=TAG))
def get_plan(plan_id: str, database: Store) -> Response:
    """A saved plan."""
    return _answer(SavedPlanStore(database).get(plan_id))


@router.put(
    "/plans/{plan_id}",
    operation_id="replacePlan",
    openapi_extra=takes(PlanToSave),
    responses=answers(SavedPlan, problems=(404, 412, 428), headers=TAG, has_body=True),
)
def replace_plan(
    plan_id: str, caller: Me, database: Store, body: Body, if_match: Annotated[str | None, Header(max_length=40)] = None
) -> Response:
    """Change a saved plan; `If-Match` names the revision that was seen, so that nobody's change is lost."""
    store = SavedPlanStore(database)
    store.get(plan_id)
    if if_match is None:
        raise ProblemError(428, "revision-needed", "Send If-Match with the ETag of the plan that you change.")
    digits = if_match.strip('"')
    changed = None
    if digits.isascii() and digits.isdecimal() and len(digits) < 18:
        changed = store.replace(plan_id, int(digits), body.name, _checked(body, caller))
    if changed is None:
        raise ProblemError(412, "changed", f"Plan {plan_id} was changed meanwhile: read it again, then change it.")
    return _answer(changed)


@router.delete(
    "/plans/{plan_id}",
    status_code=204,
    operation_id="deletePlan",
    responses=answers(status=204, description="It is gone; runs made from it stay.", problems=(404,)),
)
def delete_plan(plan_id: str, database: Store) -> Response:
    """Delete a saved plan."""
    SavedPlanStore(database).delete(plan_id)
    return Response(status_code=204)


def _checked(body: PlanToSave, caller: Caller) -> dict[str, Any]:
    read_plan(body.plan, caller)
    return body.plan


def _document(row: SavedPlanRow) -> SavedPlan:
    return SavedPlan(
        plan_id=row.id,
        name=row.name,
        plan=row.plan,
        revision=row.revision,
        author=row.author,
        created_at=row.created_at,
        updated_at=row.updated_at,
    )


def _answer(row: SavedPlanRow, status: int = 200) -> Response:
    headers = {"ETag": f'"{row.revision}"', "Location": f"{V1}/plans/{row.id}"}
    return json_answer(_document(row), status, headers)
