"""Who calls, where there are accounts: a session's cookie, a key or an access token; and in which project."""

from __future__ import annotations

import asyncio
import contextlib
import secrets
import time
from collections.abc import AsyncGenerator, Iterable
from typing import TypeVar

from starlette.requests import HTTPConnection
from starlette.responses import Response

from proctor.accounts.access_tokens import find_holder
from proctor.accounts.sign_in import (
    SESSION_SECONDS,
    Session,
    find_key,
    find_session,
    permissions_of,
    permissions_of_key,
    projects_of,
)
from proctor.domain.role import ADMIN
from proctor.domain.scope import LOCAL, Scope
from proctor.server.access import ALL, Caller, Permission
from proctor.server.headers import CHANGES, is_encrypted
from proctor.server.problems import ProblemError
from proctor.server.service import Service
from proctor.stores.accounts.credentials import KeyRow

T = TypeVar("T")
COOKIE, SECURE_COOKIE = "proctor_session", "__Host-proctor_session"
PROJECT_HEADER, PROJECT_COOKIE = "proctor-project", "proctor_project"
CSRF_HEADER = "x-csrf-token"
CHECK_SECONDS = 3.0
"""How often it is asked again whether whoever follows a stream may still do so."""
UNKNOWN = ProblemError(
    401,
    "unauthorised",
    "Sign in, or send a valid key or access token: Authorization: Bearer pk_… (of the command line: PROCTOR_KEY).",
    headers={"WWW-Authenticate": "Bearer"},
)


def identify(service: Service, connection: HTTPConnection) -> Caller:
    """The caller; or ProblemError: 401 for nobody, 403 for a change without CSRF token, 404 for a foreign project."""
    authorization = connection.headers.get("authorization")
    if authorization is not None:
        kind, _, text = authorization.partition(" ")
        return _caller_with_bearer(service, connection, text.strip() if kind.lower() == "bearer" else "")
    token = session_token(service, connection)
    session = None if token is None else find_session(service.database, token)
    if session is None:
        raise UNKNOWN
    if connection.scope.get("method") in CHANGES:
        given = connection.headers.get(CSRF_HEADER, "")
        if not secrets.compare_digest(given.encode(), session.csrf.encode()):
            raise ProblemError(403, "csrf", "A change needs the session's token in X-CSRF-Token; /auth/me gives it.")
    return _caller_with_session(service, connection, session)


def _caller_with_bearer(service: Service, connection: HTTPConnection, text: str) -> Caller:
    """With a key, or with an access token: those have dots, and no key has one."""
    if "." not in text:
        key = find_key(service.database, text)
        if key is None:
            raise UNKNOWN
        return _caller_with_key(service, connection, key)
    holder = find_holder(service.database, service.context.environment, text)
    if holder is None:
        raise UNKNOWN
    _refuse_other_project(connection, holder.project)
    database = service.database.within(Scope(holder.project))
    granted = _permissions(holder.permissions)
    return Caller(holder.user.name, holder.project, granted, database, user_id=holder.user.id)


def _caller_with_key(service: Service, connection: HTTPConnection, key: KeyRow) -> Caller:
    _refuse_other_project(connection, key.project)
    granted = permissions_of_key(service.database, key)
    database = service.database.within(Scope(key.project))
    return Caller(f"key {key.id}", key.project, _permissions(granted), database, user_id=key.user_id, key_id=key.id)


def _refuse_other_project(connection: HTTPConnection, project: str) -> None:
    """A key or a token opens one project, whatever else is asked for."""
    asked = connection.headers.get(PROJECT_HEADER)
    if asked not in (None, project):
        raise foreign_project(asked or "")


def _caller_with_session(service: Service, connection: HTTPConnection, session: Session) -> Caller:
    asked = connection.headers.get(PROJECT_HEADER) or connection.cookies.get(PROJECT_COOKIE)
    mine = projects_of(service.database, session.user)
    if asked is not None and asked not in mine:
        raise foreign_project(asked)
    project = asked or (LOCAL if LOCAL in mine or not mine else mine[0])
    granted = permissions_of(service.database, session.user, project)
    database = service.database.within(Scope(project))
    return Caller(session.user.name, project, _permissions(granted), database, user_id=session.user.id, session=session)


def foreign_project(name: str) -> ProblemError:
    """The same for a project that there is not and one that is not the caller's."""
    return ProblemError(404, "not-found", f"No project {name!r}.")


def _permissions(granted: Iterable[str]) -> frozenset[Permission]:
    found = frozenset(Permission(name) for name in granted)
    return ALL if Permission(ADMIN) in found else found


def session_token(service: Service, connection: HTTPConnection) -> str | None:
    """Behind TLS only the cookie that no neighbouring host and no page without TLS can set: nobody is signed in as
    somebody else without knowing it."""
    return connection.cookies.get(SECURE_COOKIE if is_encrypted(connection.scope, service.origin) else COOKIE)


def set_cookie(service: Service, connection: HTTPConnection, response: Response, session: Session) -> None:
    """Behind TLS the cookie is bound to this very host and never sent without TLS."""
    is_secure = is_encrypted(connection.scope, service.origin)
    response.set_cookie(
        SECURE_COOKIE if is_secure else COOKIE,
        session.token,
        max_age=int(SESSION_SECONDS),
        path="/",
        secure=is_secure,
        httponly=True,
        samesite="lax",
    )


def clear_cookies(response: Response) -> None:
    response.delete_cookie(SECURE_COOKIE, path="/", secure=True, httponly=True, samesite="lax")
    response.delete_cookie(COOKIE, path="/", httponly=True, samesite="lax")


async def while_allowed(
    stream: AsyncGenerator[T, None],
    service: Service,
    connection: HTTPConnection,
    permission: Permission,
    project: str,
) -> AsyncGenerator[T, None]:
    """The stream, until whoever follows it may not do so any more: then it ends within seconds."""
    pending = asyncio.ensure_future(anext(stream, None))
    checked = time.monotonic()
    try:
        while True:
            done, _ = await asyncio.wait({pending}, timeout=CHECK_SECONDS)
            if time.monotonic() - checked >= CHECK_SECONDS:
                try:
                    caller = await asyncio.to_thread(service.identify, service, connection)
                except ProblemError:
                    return
                if permission not in caller.permissions or caller.project != project:
                    return
                checked = time.monotonic()
            if not done:
                continue
            content = pending.result()
            if content is None:
                return
            yield content
            pending = asyncio.ensure_future(anext(stream, None))
    finally:
        pending.cancel()
        with contextlib.suppress(asyncio.CancelledError, StopAsyncIteration):
            await pending
        with contextlib.suppress(RuntimeError):
            await stream.aclose()
