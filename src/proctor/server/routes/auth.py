"""Signing in and out, and the sessions of whoever is signed in."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends
from msgspec import Meta, Struct
from starlette.requests import Request
from starlette.responses import Response

from proctor.accounts.people import set_password
from proctor.accounts.showing import session_id, show_session
from proctor.accounts.sign_in import Session, begin_session, projects_of, sign_in
from proctor.accounts.tokens import hash_token
from proctor.domain.documents.accounts import ListedSession, SignedIn
from proctor.server.access import Caller, Me
from proctor.server.addresses import address_of
from proctor.server.bodies import body_of, takes
from proctor.server.documents import answers, json_answer
from proctor.server.problems import ProblemError
from proctor.server.routes.resource import resource
from proctor.server.service import Service, service_of
from proctor.server.sign_in import clear_cookies, set_cookie
from proctor.stores.accounts.audit import AuditStore
from proctor.stores.accounts.credentials import CredentialStore
from proctor.stores.accounts.users import UserStore

router = resource("accounts")
Name = Annotated[str, Meta(min_length=1, max_length=100)]
Password = Annotated[str, Meta(max_length=1_000)]


class Credentials(Struct, frozen=True, forbid_unknown_fields=True):
    name: Name
    password: Password


class NewPassword(Struct, frozen=True, forbid_unknown_fields=True):
    token: Annotated[str, Meta(max_length=100)]
    """What stands behind the # of the link."""
    password: Password


@router.post(
    "/auth/sign-in",
    operation_id="signIn",
    openapi_extra=takes(Credentials, {"name": "ada", "password": "correct horse battery"}),
    responses=answers(SignedIn, description="The session's cookie is set.", has_body=True),
)
def begin(request: Request, body: Annotated[Credentials, Depends(body_of(Credentials))]) -> Response:
    """Begin a session with a name and a password."""
    service = service_of(request)
    agent = request.headers.get("user-agent", "")
    session = sign_in(service.database, service.guesses, body.name, body.password, address_of(request), agent)
    return _signed_in(request, service, session)


@router.post(
    "/auth/password",
    operation_id="setPassword",
    openapi_extra=takes(NewPassword, {"token": "of-the-link", "password": "correct horse battery"}),
    responses=answers(SignedIn, description="The link is used up; the session's cookie is set.", has_body=True),
)
def use_link(request: Request, body: Annotated[NewPassword, Depends(body_of(NewPassword))]) -> Response:
    """Set a password with a one-time link, and sign in; all earlier sessions are over."""
    service, address = service_of(request), address_of(request)
    user = set_password(service.database, body.token, body.password, address, service.guesses)
    session = begin_session(service.database, user, address, request.headers.get("user-agent", ""))
    return _signed_in(request, service, session)


@router.get("/auth/me", operation_id="readMe", responses=answers(SignedIn, description="Who calls."))
def me(request: Request, caller: Me) -> Response:
    """Who calls, in which project, with which permissions; and the token that changes need."""
    return json_answer(_document(service_of(request), caller))


@router.post("/auth/sign-out", status_code=204, operation_id="signOut", responses=answers(status=204))
def end(request: Request, caller: Me) -> Response:
    """End this session."""
    service = service_of(request)
    response = Response(status_code=204)
    if caller.session is not None:
        CredentialStore(service.database).end_session(hash_token(caller.session.token), caller.session.user.id)
        AuditStore(service.database).add(caller.who, "sign-out", address=address_of(request))
    clear_cookies(response)
    return response


@router.get(
    "/auth/sessions", operation_id="listSessions", responses=answers(ListedSession, is_list=True, description="Yours.")
)  # fmt: skip
def list_sessions(request: Request, caller: Me) -> Response:
    """Where the caller is signed in."""
    if caller.session is None:
        return json_answer([])
    found = CredentialStore(service_of(request).database).sessions_of(caller.session.user)
    return json_answer([show_session(row, hash_token(caller.session.token)) for row in found])


@router.delete(
    "/auth/sessions/{session}",
    status_code=204,
    operation_id="endSession",
    responses=answers(status=204, problems=(404,)),
)
def end_one(request: Request, session: str, caller: Me) -> Response:
    """End one of the caller's sessions."""
    store = CredentialStore(service_of(request).database)
    if caller.session is not None:
        for row in store.sessions_of(caller.session.user):
            if session_id(row.hash) == session:
                store.end_session(row.hash, row.user.id)
                AuditStore(service_of(request).database).add(caller.who, "end-session", address=address_of(request))
                return Response(status_code=204)
    raise ProblemError(404, "not-found", f"No session {session!r}.")


def _signed_in(request: Request, service: Service, session: Session) -> Response:
    project = next(iter(projects_of(service.database, session.user)), "")
    document = SignedIn(
        session.user.name, session.user.is_admin, project, projects_of(service.database, session.user), (), session.csrf
    )
    response = json_answer(document)
    set_cookie(service, request, response, session)
    return response


def _document(service: Service, caller: Caller) -> SignedIn:
    user = None if caller.user_id is None else UserStore(service.database).get(caller.user_id)
    projects = [caller.project] if user is None or caller.session is None else projects_of(service.database, user)
    return SignedIn(
        caller.who,
        user is not None and user.is_admin,
        caller.project,
        projects,
        sorted(caller.permissions - {"public", "signed-in"}),
        "" if caller.session is None else caller.session.csrf,
    )
