"""Signing in through an identity provider: the browser is sent there, and comes back with a code."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query
from pydantic import BaseModel, ConfigDict, Field
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from proctor.accounts.single_sign_on import MINUTES, begin_attempt, finish_attempt, require_way
from proctor.domain.documents.accounts import ListedWay
from proctor.server.access import V1
from proctor.server.addresses import address_of
from proctor.server.documents import answers, json_answer
from proctor.server.headers import is_encrypted
from proctor.server.routes.resource import resource
from proctor.server.service import Service, service_of
from proctor.server.sign_in import set_cookie

router = resource("accounts")
KEPT, SECURE_KEPT = "proctor_sign_in", "__Host-proctor_sign_in"
ELSEWHERE = {"Location": "Where the browser goes."}


class BeginQuery(BaseModel):
    model_config = ConfigDict(extra="forbid")

    next: str = Field("/", max_length=2_000, description="A path of this server, to go to afterwards.")


class CallbackQuery(BaseModel):
    """What identity providers send back; they may send more."""

    code: str = Field("", max_length=10_000)
    state: str = Field("", max_length=1_000)
    iss: str | None = Field(None, max_length=2_000)


@router.get("/auth/ways", operation_id="listWays", responses=answers(ListedWay, is_list=True))
def ways(request: Request) -> Response:
    """The identity providers through which people can sign in here."""
    found = service_of(request).ways.values()
    return json_answer([ListedWay(one.name, one.label, f"{V1}/auth/ways/{one.name}") for one in found])


@router.get(
    "/auth/ways/{way}",
    status_code=303,
    operation_id="beginWay",
    responses=answers(status=303, description="To the provider.", headers=ELSEWHERE, problems=(400, 404, 502)),
)
def begin(request: Request, way: str, query: Annotated[BeginQuery, Query()]) -> Response:
    """Send the browser to an identity provider."""
    service = service_of(request)
    address, kept = begin_attempt(
        service.ways, service.context.environment, way, query.next, _redirect_uri(request, service, way)
    )
    response = RedirectResponse(address, 303)
    is_secure = is_encrypted(request.scope, service.origin)
    response.set_cookie(
        SECURE_KEPT if is_secure else KEPT, kept, max_age=MINUTES * 60, path="/", secure=is_secure, httponly=True,
        samesite="lax",
    )  # fmt: skip
    return response


@router.get(
    "/auth/ways/{way}/callback",
    status_code=303,
    operation_id="finishWay",
    responses=answers(status=303, description="Signed in.", headers=ELSEWHERE, problems=(404, 502)),
)
def finish(request: Request, way: str, query: Annotated[CallbackQuery, Query()]) -> Response:
    """Where the provider sends the browser back to: begins the session of whoever it says has come."""
    service = service_of(request)
    is_secure = is_encrypted(request.scope, service.origin)
    name = SECURE_KEPT if is_secure else KEPT
    session, next_path = finish_attempt(
        service.database,
        service.ways,
        service.context.environment,
        way,
        request.cookies.get(name, ""),
        query.model_dump(exclude_none=True),
        _redirect_uri(request, service, way),
        address_of(request),
        request.headers.get("user-agent", ""),
    )
    response = RedirectResponse(next_path, 303)
    response.delete_cookie(name, path="/", secure=is_secure, httponly=True, samesite="lax")
    set_cookie(service, request, response, session)
    return response


def _redirect_uri(request: Request, service: Service, way: str) -> str:
    """This server as people call it; the guard has let no other host through."""
    require_way(service.ways, way)
    origin = service.origin or f"{request.url.scheme}://{request.headers['host']}"
    return f"{origin.rstrip('/')}{V1}/auth/ways/{way}/callback"
