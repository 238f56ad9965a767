"""Access tokens for minutes and the refresh tokens that follow them, of whoever is signed in."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends
from msgspec import Meta, Struct
from starlette.requests import Request
from starlette.responses import Response

from proctor.accounts.access_tokens import MAX_TOKEN, end_tokens, issue_tokens, refresh_tokens
from proctor.accounts.people import LINK
from proctor.accounts.showing import list_tokens
from proctor.domain.documents.accounts import IssuedTokens, ListedTokens
from proctor.domain.errors import SignInError
from proctor.server.access import Caller, Me, Permission
from proctor.server.addresses import address_of
from proctor.server.bodies import body_of, takes
from proctor.server.documents import answers, json_answer
from proctor.server.problems import ProblemError
from proctor.server.routes.resource import resource
from proctor.server.service import service_of
from proctor.stores.accounts.users import UserRow, UserStore

router = resource("accounts")
ScopeName = Annotated[str, Meta(min_length=1, max_length=100)]


class TokenRequest(Struct, frozen=True, forbid_unknown_fields=True):
    scopes: Annotated[list[ScopeName], Meta(max_length=20)] = []
    """What they may do; all that the caller may do in the project, if left out."""


class RefreshRequest(Struct, frozen=True, forbid_unknown_fields=True):
    refresh_token: Annotated[str, Meta(max_length=MAX_TOKEN)]


@router.post(
    "/auth/tokens",
    status_code=201,
    operation_id="issueTokens",
    openapi_extra=takes(TokenRequest, {"scopes": ["run:read"]}),
    responses=answers(IssuedTokens, status=201, description="Shown once.", has_body=True),
)
def issue(request: Request, caller: Me, body: Annotated[TokenRequest, Depends(body_of(TokenRequest))]) -> Response:
    """Make an access token, and the refresh token that follows it, for the session's user in its project."""
    if caller.session is None:
        raise ProblemError(403, "forbidden", "Tokens are made by people who are signed in, not by keys or tokens.")
    for scope in body.scopes:
        if scope in set(Permission) and Permission(scope) not in caller.permissions:
            raise ProblemError(403, "forbidden", f"{caller.who} lacks {scope}, and so would the token.")
    service = service_of(request)
    made = issue_tokens(
        service.database,
        service.context.environment,
        caller.session.user,
        caller.project,
        body.scopes,
        address_of(request),
        request.headers.get("user-agent", ""),
    )
    return json_answer(made, 201)


@router.post(
    "/auth/refresh",
    operation_id="refreshTokens",
    openapi_extra=takes(RefreshRequest, {"refresh_token": "of-the-answer-before"}),
    responses=answers(IssuedTokens, description="The next two; shown once.", has_body=True),
)
def refresh(request: Request, body: Annotated[RefreshRequest, Depends(body_of(RefreshRequest))]) -> Response:
    """Exchange a refresh token for the next two. One that comes a second time ends all that came of its sign-in."""
    service, address = service_of(request), address_of(request)
    service.guesses.check(LINK, address)
    try:
        found = refresh_tokens(service.database, service.context.environment, body.refresh_token, address)
    except SignInError:
        service.guesses.failed(LINK, address)
        raise
    return json_answer(found)


@router.get("/auth/tokens", operation_id="listTokens", responses=answers(ListedTokens, is_list=True))
def tokens(request: Request, caller: Me) -> Response:
    """List the caller's tokens: when each was begun and used, from where; never a token."""
    user = _user(request, caller)
    return json_answer([] if user is None else list_tokens(service_of(request).database, user.id))


@router.delete(
    "/auth/tokens/{token_id}", status_code=204, operation_id="endTokens", responses=answers(status=204, problems=(404,))
)  # fmt: skip
def end(request: Request, token_id: str, caller: Me) -> Response:
    """End an access token and its refresh tokens: no later request is let through with them."""
    database, user = service_of(request).database, _user(request, caller)
    if user is None or not end_tokens(database, user, token_id, by=caller.who, address=address_of(request)):
        raise ProblemError(404, "not-found", f"No tokens {token_id!r}.")
    return Response(status_code=204)


def _user(request: Request, caller: Caller) -> UserRow | None:
    """Keys that the command line made are nobody's; those of users do not manage their maker's tokens."""
    is_key = caller.session is None and caller.who.startswith("key ")
    if caller.user_id is None or is_key:
        return None
    return UserStore(service_of(request).database).get(caller.user_id)
