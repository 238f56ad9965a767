"""Who calls, and what he may do: one table says which permission each route needs, and what is not in it is refused.

The seam for accounts is `Service.identify`: given a request, it returns the `Caller` or raises a `ProblemError` (401).
Without accounts, on loopback, it is `local_person`: the operator of this machine, who may do everything. Nothing else
in the service looks at cookies, keys or tokens. A route takes `Me` to know who calls, and `Store` to read and write:
`Caller.database` is the database as far as this caller may see it, so accounts narrow it in one place.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from typing import Annotated

from fastapi import Depends
from fastapi.routing import APIRoute, APIWebSocketRoute
from msgspec import Struct
from starlette.concurrency import run_in_threadpool
from starlette.requests import HTTPConnection
from starlette.routing import BaseRoute, Mount, Route, WebSocketRoute

from proctor.accounts.sign_in import Session
from proctor.server.addresses import address_of
from proctor.server.headers import PROBES
from proctor.server.problems import ProblemError
from proctor.server.request_limit import RATE_LIMIT
from proctor.server.service import Service, service_of
from proctor.stores.accounts.budgets import Spender
from proctor.stores.database import Database


class Permission(StrEnum):
    """What a route needs; keys and tokens have some of these as their scopes."""

    PUBLIC = "public"
    """Anybody, signed in or not: nothing of anybody's data is in the answer."""
    SIGNED_IN = "signed-in"
    """Whoever is known, whatever his role."""
    BENCHMARK_READ = "benchmark:read"
    BENCHMARK_WRITE = "benchmark:write"
    RUN_READ = "run:read"
    RUN_WRITE = "run:write"
    RESULTS_READ = "results:read"
    PROJECT_ADMIN = "project:admin"
    ADMIN = "admin:full"


ALL = frozenset(Permission)


class Caller(Struct, frozen=True):
    """Who sent the request."""

    who: str
    """A name for records of what was done: a user's, or `local`."""
    project: str
    permissions: frozenset[Permission]
    database: Database
    """What he may see of it."""
    is_operator: bool = False
    """Whether plans may run programs and read files of this machine: the person at it, or whom the operator allows."""
    user_id: str | None = None
    """Whose session or key it is; None without accounts, and for keys that the command line made."""
    session: Session | None = None
    key_id: str | None = None

    @property
    def spender(self) -> Spender | None:
        """Whose budgets his runs are held to; the person at the machine has none."""
        return None if self.is_operator else Spender(self.project, self.user_id, self.key_id)

    @property
    def stream_user(self) -> str | None:
        """Whose streams are counted together; None without accounts, where they are not counted."""
        if self.is_operator and self.user_id is None:
            return None
        return self.user_id or self.who


def local_person(service: Service, connection: HTTPConnection) -> Caller:  # noqa: ARG001 - what every identifier is given
    """Without accounts: whoever reaches a server that listens on loopback only is the operator."""
    return Caller("local", "local", ALL, service.database, is_operator=True)


V1 = "/api/v1"
PERMISSIONS: dict[tuple[str, str], Permission] = {
    ("GET", "/health"): Permission.PUBLIC,
    ("GET", "/ready"): Permission.PUBLIC,
    ("GET", "/metrics"): Permission.ADMIN,
    ("GET", "/api/docs"): Permission.PUBLIC,
    ("GET", "/api/docs.js"): Permission.PUBLIC,
    ("GET", f"{V1}/openapi.json"): Permission.PUBLIC,
    ("GET", f"{V1}/version"): Permission.PUBLIC,
    ("GET", f"{V1}/runs"): Permission.RUN_READ,
    ("POST", f"{V1}/runs"): Permission.RUN_WRITE,
    ("GET", f"{V1}/runs/{{run_id}}"): Permission.RUN_READ,
    ("DELETE", f"{V1}/runs/{{run_id}}"): Permission.RUN_WRITE,
    ("GET", f"{V1}/runs/{{run_id}}/events"): Permission.RUN_READ,
    ("GET", f"{V1}/events"): Permission.RUN_READ,
    ("GET", f"{V1}/runs/{{run_id}}/results"): Permission.RESULTS_READ,
    ("GET", f"{V1}/runs/{{run_id}}/results/{{result_id}}"): Permission.RESULTS_READ,
    ("GET", f"{V1}/runs/{{run_id}}/results/{{result_id}}/response"): Permission.RESULTS_READ,
    ("GET", f"{V1}/runs/{{run_id}}/positions"): Permission.RESULTS_READ,
    ("GET", f"{V1}/runs/{{run_id}}/interim"): Permission.RESULTS_READ,
    ("GET", f"{V1}/runs/{{run_id}}/report"): Permission.RESULTS_READ,
    ("GET", f"{V1}/runs/{{run_id}}/export"): Permission.RESULTS_READ,
    ("POST", f"{V1}/runs/{{run_id}}/cancel"): Permission.RUN_WRITE,
    ("POST", f"{V1}/runs/{{run_id}}/resume"): Permission.RUN_WRITE,
    ("POST", f"{V1}/runs/{{run_id}}/rescore"): Permission.RUN_WRITE,
    ("GET", f"{V1}/runs/{{run_id}}/rescorings"): Permission.RESULTS_READ,
    ("GET", f"{V1}/runs/{{run_id}}/rescorings/{{rescoring_id}}"): Permission.RESULTS_READ,
    ("GET", f"{V1}/runs/{{run_id}}/rescorings/{{rescoring_id}}/events"): Permission.RUN_READ,
    ("POST", f"{V1}/runs/{{run_id}}/rescorings/{{rescoring_id}}/cancel"): Permission.RUN_WRITE,
    ("GET", f"{V1}/runs/{{run_id}}/comments"): Permission.RESULTS_READ,
    ("POST", f"{V1}/runs/{{run_id}}/comments"): Permission.RUN_WRITE,
    ("DELETE", f"{V1}/runs/{{run_id}}/comments/{{comment_id}}"): Permission.RUN_WRITE,
    ("GET", f"{V1}/runs/{{run_id}}/labels"): Permission.RESULTS_READ,
    ("PUT", f"{V1}/runs/{{run_id}}/results/{{result_id}}/label"): Permission.RUN_WRITE,
    ("DELETE", f"{V1}/runs/{{run_id}}/results/{{result_id}}/label"): Permission.RUN_WRITE,
    ("GET", f"{V1}/runs/{{run_id}}/review"): Permission.RESULTS_READ,
    ("GET", f"{V1}/plans"): Permission.RUN_READ,
    ("POST", f"{V1}/plans"): Permission.RUN_WRITE,
    ("GET", f"{V1}/plans/{{plan_id}}"): Permission.RUN_READ,
    ("PUT", f"{V1}/plans/{{plan_id}}"): Permission.RUN_WRITE,
    ("DELETE", f"{V1}/plans/{{plan_id}}"): Permission.RUN_WRITE,
    ("GET", f"{V1}/playground"): Permission.RESULTS_READ,
    ("POST", f"{V1}/playground"): Permission.RUN_WRITE,
    ("GET", f"{V1}/playground/ranking"): Permission.RESULTS_READ,
    ("GET", f"{V1}/playground/{{ask_id}}"): Permission.RESULTS_READ,
    ("DELETE", f"{V1}/playground/{{ask_id}}"): Permission.RUN_WRITE,
    ("GET", f"{V1}/playground/{{ask_id}}/events"): Permission.RESULTS_READ,
    ("POST", f"{V1}/playground/{{ask_id}}/stop"): Permission.RUN_WRITE,
    ("POST", f"{V1}/playground/{{ask_id}}/votes"): Permission.RUN_WRITE,
    ("POST", f"{V1}/playground/{{ask_id}}/reveal"): Permission.RUN_WRITE,
    ("GET", f"{V1}/playground/{{ask_id}}/sample"): Permission.RESULTS_READ,
    ("GET", f"{V1}/playground/{{ask_id}}/plan"): Permission.RESULTS_READ,
    ("GET", f"{V1}/playground/{{ask_id}}/files/{{position}}"): Permission.RESULTS_READ,
    ("POST", f"{V1}/estimate"): Permission.RUN_READ,
    ("POST", f"{V1}/plans/draft"): Permission.RUN_READ,
    ("GET", f"{V1}/recommendations"): Permission.BENCHMARK_READ,
    ("GET", f"{V1}/usage"): Permission.RUN_READ,
    ("GET", f"{V1}/compare"): Permission.RESULTS_READ,
    ("GET", f"{V1}/leaderboard"): Permission.RESULTS_READ,
    ("GET", f"{V1}/power"): Permission.RUN_READ,
    ("GET", f"{V1}/benchmarks"): Permission.BENCHMARK_READ,
    ("GET", f"{V1}/benchmarks/{{name}}"): Permission.BENCHMARK_READ,
    ("GET", f"{V1}/models"): Permission.BENCHMARK_READ,
    ("GET", f"{V1}/known-models"): Permission.BENCHMARK_READ,
    ("GET", f"{V1}/models/{{name:path}}"): Permission.BENCHMARK_READ,
    ("GET", f"{V1}/problems"): Permission.BENCHMARK_READ,
    ("GET", f"{V1}/problems/{{name}}"): Permission.BENCHMARK_READ,
    ("GET", f"{V1}/problems/{{name}}/ranking"): Permission.RESULTS_READ,
    ("GET", f"{V1}/scorecards"): Permission.RESULTS_READ,
    ("GET", f"{V1}/scorecards/{{reference:path}}"): Permission.RESULTS_READ,
    ("GET", f"{V1}/submissions"): Permission.RESULTS_READ,
    ("POST", f"{V1}/submissions"): Permission.RUN_WRITE,
    ("GET", f"{V1}/submissions/waiting"): Permission.RESULTS_READ,
    ("GET", f"{V1}/submissions/{{submission_id}}"): Permission.RESULTS_READ,
    ("DELETE", f"{V1}/submissions/{{submission_id}}"): Permission.RUN_WRITE,
    ("POST", f"{V1}/files"): Permission.RUN_WRITE,
    ("POST", f"{V1}/runs/{{run_id}}/files"): Permission.RUN_WRITE,
    ("GET", f"{V1}/files"): Permission.RESULTS_READ,
    ("GET", f"{V1}/files/{{file_id}}"): Permission.RESULTS_READ,
    ("GET", f"{V1}/files/{{file_id}}/content"): Permission.RESULTS_READ,
    ("GET", f"{V1}/files/{{file_id}}/text"): Permission.RESULTS_READ,
    ("GET", f"{V1}/files/{{file_id}}/link"): Permission.RESULTS_READ,
    ("DELETE", f"{V1}/files/{{file_id}}"): Permission.RUN_WRITE,
    ("POST", f"{V1}/benchmark-drafts/passages"): Permission.BENCHMARK_WRITE,
    ("POST", f"{V1}/benchmark-drafts/samples"): Permission.RUN_WRITE,
    ("POST", f"{V1}/benchmark-drafts"): Permission.BENCHMARK_WRITE,
    ("POST", f"{V1}/own-benchmarks"): Permission.BENCHMARK_WRITE,
    ("POST", f"{V1}/own-benchmarks/check"): Permission.BENCHMARK_WRITE,
    ("GET", f"{V1}/own-benchmarks"): Permission.BENCHMARK_READ,
    ("GET", f"{V1}/own-benchmarks/{{name}}"): Permission.BENCHMARK_READ,
    ("DELETE", f"{V1}/own-benchmarks/{{name}}"): Permission.BENCHMARK_WRITE,
    ("GET", f"{V1}/own-benchmarks/{{name}}/file"): Permission.BENCHMARK_READ,
    ("POST", f"{V1}/own-benchmarks/{{name}}/archive"): Permission.BENCHMARK_WRITE,
    ("GET", f"{V1}/webhooks"): Permission.PROJECT_ADMIN,
    ("POST", f"{V1}/webhooks"): Permission.PROJECT_ADMIN,
    ("GET", f"{V1}/webhooks/{{webhook_id}}"): Permission.PROJECT_ADMIN,
    ("DELETE", f"{V1}/webhooks/{{webhook_id}}"): Permission.PROJECT_ADMIN,
    ("POST", f"{V1}/webhooks/{{webhook_id}}/rotate"): Permission.PROJECT_ADMIN,
    ("GET", f"{V1}/webhooks/{{webhook_id}}/deliveries"): Permission.PROJECT_ADMIN,
    ("GET", f"{V1}/webhooks/{{webhook_id}}/deliveries/{{delivery_id}}"): Permission.PROJECT_ADMIN,
    ("POST", f"{V1}/webhooks/{{webhook_id}}/deliveries/{{delivery_id}}/resend"): Permission.PROJECT_ADMIN,
    ("POST", f"{V1}/auth/sign-in"): Permission.PUBLIC,
    ("POST", f"{V1}/auth/password"): Permission.PUBLIC,
    ("GET", f"{V1}/auth/me"): Permission.SIGNED_IN,
    ("POST", f"{V1}/auth/sign-out"): Permission.SIGNED_IN,
    ("GET", f"{V1}/auth/sessions"): Permission.SIGNED_IN,
    ("DELETE", f"{V1}/auth/sessions/{{session}}"): Permission.SIGNED_IN,
    ("GET", f"{V1}/auth/ways"): Permission.PUBLIC,
    ("GET", f"{V1}/auth/ways/{{way}}"): Permission.PUBLIC,
    ("GET", f"{V1}/auth/ways/{{way}}/callback"): Permission.PUBLIC,
    ("POST", f"{V1}/auth/tokens"): Permission.SIGNED_IN,
    ("GET", f"{V1}/auth/tokens"): Permission.SIGNED_IN,
    ("DELETE", f"{V1}/auth/tokens/{{token_id}}"): Permission.SIGNED_IN,
    ("POST", f"{V1}/auth/refresh"): Permission.PUBLIC,
    ("GET", f"{V1}/users"): Permission.ADMIN,
    ("POST", f"{V1}/users"): Permission.ADMIN,
    ("PATCH", f"{V1}/users/{{name}}"): Permission.ADMIN,
    ("POST", f"{V1}/users/{{name}}/link"): Permission.ADMIN,
    ("GET", f"{V1}/projects"): Permission.SIGNED_IN,
    ("POST", f"{V1}/projects"): Permission.ADMIN,
    ("GET", f"{V1}/projects/{{project}}/members"): Permission.RUN_READ,
    ("PUT", f"{V1}/projects/{{project}}/members/{{user}}"): Permission.PROJECT_ADMIN,
    ("DELETE", f"{V1}/projects/{{project}}/members/{{user}}"): Permission.PROJECT_ADMIN,
    ("GET", f"{V1}/keys"): Permission.PROJECT_ADMIN,
    ("POST", f"{V1}/keys"): Permission.PROJECT_ADMIN,
    ("DELETE", f"{V1}/keys/{{key_id}}"): Permission.PROJECT_ADMIN,
    ("GET", f"{V1}/budgets"): Permission.RUN_READ,
    ("PUT", f"{V1}/budgets/{{kind}}/{{subject}}"): Permission.ADMIN,
    ("DELETE", f"{V1}/budgets/{{kind}}/{{subject}}"): Permission.ADMIN,
    ("GET", f"{V1}/provider-keys"): Permission.RUN_READ,
    ("POST", f"{V1}/provider-keys"): Permission.PROJECT_ADMIN,
    ("DELETE", f"{V1}/provider-keys/{{connection_id}}"): Permission.PROJECT_ADMIN,
    ("GET", f"{V1}/audit"): Permission.ADMIN,
    ("GET", f"{V1}/workers"): Permission.ADMIN,
    ("GET", f"{V1}/status"): Permission.ADMIN,
    ("POST", "/benchmark/run"): Permission.RUN_WRITE,
    ("POST", f"{V1}/leaderboard/generate"): Permission.RUN_WRITE,
    ("GET", f"{V1}/tasks/{{run_id}}"): Permission.RESULTS_READ,
    ("GET", "/api/models"): Permission.BENCHMARK_READ,
    ("POST", "/api/execute"): Permission.RUN_WRITE,
    ("GET", "/api/results"): Permission.RESULTS_READ,
    ("POST", "/api/export"): Permission.RESULTS_READ,
}
"""Every route by method and path, and what it needs. A route that is not here stops the server from starting."""

FILES = frozenset({"/{path:path}"})
"""Routes that serve the built dashboard: the same files for everybody."""


async def authorised(connection: HTTPConnection) -> Caller:
    """The caller, where the route's permission is among his; the table decides, and what it lacks is refused."""
    service = service_of(connection)
    if service.identify is local_person and service.requests is None:
        return _authorise(connection)  # nothing is looked up that would keep others waiting
    return await run_in_threadpool(_authorise, connection)


def _authorise(connection: HTTPConnection) -> Caller:
    path = connection.scope["route"].path
    needed = PERMISSIONS.get((connection.scope.get("method", "GET"), path))
    if needed is None:
        raise ProblemError(403, "forbidden", "Nobody may use this route.")
    service = service_of(connection)
    if path not in PROBES:  # a server that is flooded is not to be restarted for it
        _count(service, connection, f"address {address_of(connection)}")
    if needed is Permission.PUBLIC:
        return Caller("anybody", "", frozenset(), service.database)
    caller = service.identify(service, connection)
    connection.scope.setdefault("state", {}).update(user=caller.who, project=caller.project)
    if not caller.is_operator:
        _count(service, connection, f"key {caller.key_id}" if caller.key_id else f"user {caller.user_id or caller.who}")
    if needed is not Permission.SIGNED_IN and needed not in caller.permissions:
        raise ProblemError(403, "forbidden", f"This needs the permission {needed.value}, which {caller.who} lacks.")
    return caller


def _count(service: Service, connection: HTTPConnection, who: str) -> None:
    """One more request of an address, a key or a user; what is left is said in the answer's headers."""
    if service.requests is not None:
        connection.scope["state"][RATE_LIMIT] = service.requests.take(who)


Me = Annotated[Caller, Depends(authorised)]


async def _store(caller: Me) -> Database:
    return caller.database


Store = Annotated[Database, Depends(_store)]
"""The database as far as the caller may see it."""


def refuse_unguarded(routes: Iterable[BaseRoute]) -> None:
    """Raises RuntimeError for a route that needs no permission: nothing is served by having been forgotten."""
    for route in routes:
        path = route.path if isinstance(route, Route | WebSocketRoute | Mount) else ""
        if path in FILES:
            continue
        if not isinstance(route, APIRoute | APIWebSocketRoute) or not any(
            part.call is authorised for part in route.dependant.dependencies
        ):
            raise RuntimeError(f"{path or repr(route)} does not ask who calls.")
        # A WebSocket begins as a GET and needs what that needs.
        methods = {"GET"} if isinstance(route, APIWebSocketRoute) else route.methods
        for method in methods or ():
            if (method, path) not in PERMISSIONS:
                raise RuntimeError(f"{method} {path} has no permission in proctor.server.access.PERMISSIONS.")
