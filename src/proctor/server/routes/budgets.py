"""Budgets of projects, users and keys: set by administrators, read by those for whom they hold."""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated

from fastapi import Depends
from msgspec import Meta, Struct
from starlette.requests import Request
from starlette.responses import Response

from proctor.accounts.budgets import list_budgets, remove_budget, set_budget
from proctor.domain.documents.budgets import ListedBudget
from proctor.server.access import Me, Permission
from proctor.server.addresses import address_of
from proctor.server.bodies import body_of, takes
from proctor.server.documents import answers, json_answer
from proctor.server.routes.resource import resource
from proctor.server.service import service_of

router = resource("accounts")


class NewBudget(Struct, frozen=True, forbid_unknown_fields=True):
    cost_usd: Annotated[float, Meta(ge=0, le=1_000_000)] | None = None
    per: Annotated[str, Meta(max_length=20)] = "month"
    """day, month or total."""
    runs_at_once: Annotated[int, Meta(ge=0, le=100_000)] | None = None
    storage_bytes: Annotated[int, Meta(ge=0, le=10**15)] | None = None
    """What is kept of what was sent to a project may be so much: files, benchmarks, programs."""


@router.get("/budgets", operation_id="listBudgets", responses=answers(ListedBudget, is_list=True))
def budgets(request: Request, caller: Me) -> Response:
    """List the budgets that hold for the caller, and what is left of them; all of them for an administrator."""
    spender = None if Permission.ADMIN in caller.permissions else caller.spender
    return json_answer(list_budgets(service_of(request).database, spender))


@router.put(
    "/budgets/{kind}/{subject}",
    operation_id="setBudget",
    openapi_extra=takes(NewBudget, {"cost_usd": 50, "per": "month", "runs_at_once": 4}),
    responses=answers(ListedBudget, problems=(404,), has_body=True),
)
def set_one(
    request: Request, kind: str, subject: str, caller: Me, body: Annotated[NewBudget, Depends(body_of(NewBudget))]
) -> Response:
    """Set the budget of a project or a user (by name) or of a key (by id)."""
    found = set_budget(
        service_of(request).database,
        kind,
        subject,
        cost_usd=None if body.cost_usd is None else Decimal(str(body.cost_usd)),
        per=body.per,
        runs_at_once=body.runs_at_once,
        storage_bytes=body.storage_bytes,
        by=caller.who,
        address=address_of(request),
    )
    return json_answer(found)


@router.delete(
    "/budgets/{kind}/{subject}", status_code=204, operation_id="removeBudget",
    responses=answers(status=204, problems=(404,)),
)  # fmt: skip
def remove_one(request: Request, kind: str, subject: str, caller: Me) -> Response:
    """Remove a budget: nothing limits what its subject spends any more."""
    remove_budget(service_of(request).database, kind, subject, by=caller.who, address=address_of(request))
    return Response(status_code=204)
