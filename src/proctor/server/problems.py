"""Mistakes as RFC 9457 problems: the sentence that the command line prints, and where in the request it belongs."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from http import HTTPStatus

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import HTTPConnection, Request
from starlette.responses import Response
from starlette.websockets import WebSocket, WebSocketState

from proctor.accounts.single_sign_on import ForeignNextError
from proctor.domain.documents.document import json_bytes
from proctor.domain.documents.problem_details import FieldProblem, ProblemDetails
from proctor.domain.errors import (
    BudgetError,
    LimitReachedError,
    MissingKeyError,
    NotFoundError,
    PlanError,
    ProctorError,
    RunError,
    SignInError,
    StoreError,
    TooManyTriesError,
    UserError,
)
from proctor.stores.idempotency import ReusedKeyError

MEDIA_TYPE = "application/problem+json"
RETRY_SECONDS = 5
DEPRECATED_SINCE = "@1795046400"
"""2026-11-19, as RFC 9745 writes it: since then, names of older services lead to those of today."""
log = logging.getLogger("proctor.server")


class ProblemError(Exception):
    """A request that is refused: `kind` is a short name that programs can rely on."""

    def __init__(
        self,
        status: int,
        kind: str,
        detail: str,
        errors: Sequence[FieldProblem] = (),
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(detail)
        self.status, self.kind, self.detail, self.errors = status, kind, detail, errors
        self.headers = dict(headers or {})


def pointer(path: Sequence[str | int]) -> str:
    """A path through a document as a JSON pointer (RFC 6901)."""
    return "".join("/" + str(step).replace("~", "~0").replace("/", "~1") for step in path)


def problem_response(request: HTTPConnection, problem: ProblemError) -> Response:
    document = ProblemDetails(
        type=f"/api/docs#{problem.kind}",
        title=HTTPStatus(problem.status).phrase,
        status=problem.status,
        detail=problem.detail,
        errors=problem.errors,
        request_id=request.scope.get("state", {}).get("request_id", ""),
    )
    is_deprecated = getattr(request.scope.get("route"), "deprecated", None)
    headers = problem.headers | ({"Deprecation": DEPRECATED_SINCE} if is_deprecated else {})
    return Response(json_bytes(document), problem.status, headers, MEDIA_TYPE)


def problem_of(error: ProctorError) -> ProblemError:
    """An error of the use cases, as the service says it."""
    field = error.field if isinstance(error, UserError) else ()
    errors = [FieldProblem(pointer(field), str(error))] if field else []
    if isinstance(error, ForeignNextError):
        return ProblemError(400, "foreign-next", str(error))
    if isinstance(error, SignInError):
        return ProblemError(401, "unauthorised", str(error))
    if isinstance(error, BudgetError):
        return ProblemError(402, "budget", str(error))
    if isinstance(error, (TooManyTriesError, LimitReachedError)):
        kind = "too-many" if isinstance(error, TooManyTriesError) else "limit-reached"
        return ProblemError(
            429, kind, str(error), headers={"Retry-After": str(max(1, round(error.retry_after_seconds)))}
        )
    if isinstance(error, RunError):
        return ProblemError(409, "conflict", str(error))
    if isinstance(error, ReusedKeyError):
        return ProblemError(422, "idempotency-key", str(error))
    if isinstance(error, NotFoundError) and not field:
        return ProblemError(404, "not-found", str(error))
    if isinstance(error, MissingKeyError):
        return ProblemError(422, "key-missing", str(error), errors)
    if isinstance(error, PlanError):
        return ProblemError(422, "plan", str(error), errors)
    if isinstance(error, UserError):
        return ProblemError(422, "mistake", str(error), errors)
    if isinstance(error, StoreError):
        return ProblemError(503, "unavailable", str(error), headers={"Retry-After": str(RETRY_SECONDS)})
    status = error.http_status if error.http_status in (502, 503) else 502
    return ProblemError(status, "failed", str(error))


def _validation(error: RequestValidationError) -> ProblemError:
    """What FastAPI says of parameters in the path and the query."""
    found = []
    for item in error.errors():
        place, *path = item["loc"]
        name = ".".join(str(step) for step in path)
        what = "is not known here" if item["type"] == "extra_forbidden" else f": {item['msg'].lower()}"
        said = f"the {place} parameter {name}{' ' if what[0] != ':' else ''}{what}"
        found.append(FieldProblem(pointer([place, *path]), said))
    return ProblemError(422, "parameters", f"{found[0].detail[:1].upper()}{found[0].detail[1:]}.", found)


async def _answer(connection: Request | WebSocket, problem: ProblemError) -> Response | None:
    """A WebSocket that is not accepted yet is refused as a request is; later it is closed."""
    if isinstance(connection, WebSocket) and connection.application_state is not WebSocketState.CONNECTING:
        if connection.application_state is WebSocketState.CONNECTED:
            await connection.close(1008, problem.detail[:120])
        return None
    return problem_response(connection, problem)


def handle_problems(app: FastAPI) -> None:
    """Every error of the application becomes a problem; what is our own fault is logged and tells nothing."""

    @app.exception_handler(ProblemError)
    async def _problem(request: Request | WebSocket, error: ProblemError) -> Response | None:
        return await _answer(request, error)

    @app.exception_handler(ProctorError)
    async def _known(request: Request | WebSocket, error: ProctorError) -> Response | None:
        return await _answer(request, problem_of(error))

    @app.exception_handler(RequestValidationError)
    async def _invalid(request: Request, error: RequestValidationError) -> Response:
        return problem_response(request, _validation(error))

    @app.exception_handler(HTTPException)
    async def _http(request: Request, error: HTTPException) -> Response:
        kinds = {404: "not-found", 405: "method-not-allowed"}
        said = {404: "There is nothing at this address.", 405: f"{request.method} cannot be used here."}
        detail = said.get(error.status_code, str(error.detail))
        problem = ProblemError(
            error.status_code, kinds.get(error.status_code, "refused"), detail, headers=error.headers
        )
        return problem_response(request, problem)

    @app.exception_handler(Exception)
    async def _bug(request: Request, error: Exception) -> Response:
        log.error("%s %s failed", request.method, request.url.path, exc_info=error)
        return problem_response(request, ProblemError(500, "fault", "The server made a mistake; its log says which."))
