"""Runs: handed in, listed, read, cancelled, deleted."""

from __future__ import annotations

import hashlib
import json
import time
from datetime import datetime
from typing import Annotated, Any, Literal

from fastapi import Depends, Header, Query
from pydantic import BaseModel, ConfigDict, Field
from starlette.requests import Request
from starlette.responses import Response

from proctor.accounts.budgets import settle_ended_runs
from proctor.domain.documents.accepted import AcceptedRun, RunPage, ServedRun
from proctor.domain.documents.deletion import RunDeletion
from proctor.domain.documents.interim import InterimResults
from proctor.domain.documents.listing import ShownStatus
from proctor.domain.documents.run import StoppingRun
from proctor.domain.run import ENDED, RunStatus
from proctor.runs.benchmarks.own import with_files, with_own_benchmarks
from proctor.runs.cancel import cancel_run
from proctor.runs.chunks.accept import accept, requeue
from proctor.runs.chunks.content import keep_content
from proctor.runs.chunks.served import served_run
from proctor.runs.deleting import delete_run
from proctor.runs.interim import read_interim
from proctor.runs.listing import find_runs, kinds_of
from proctor.runs.resolve import check_names
from proctor.server.access import V1, Caller, Me, Permission, Store
from proctor.server.bodies import json_value, takes
from proctor.server.documents import answers, cached_answer, json_answer
from proctor.server.pages import next_link
from proctor.server.plan_schema import EXAMPLE, PLAN
from proctor.server.plans import KeyHosts, located, read_plan, refuse_assumed_price
from proctor.server.problems import ProblemError
from proctor.server.routes.resource import NamedRun, resource
from proctor.server.service import service_of
from proctor.server.voting import VotingReader
from proctor.stores.database import Database
from proctor.stores.deleting import referring_runs
from proctor.stores.idempotency import IdempotencyStore, RequestKey
from proctor.stores.listing import RunFilter
from proctor.stores.project_state import run_state
from proctor.stores.runs import RunStore
from proctor.stores.saved_plans import SavedPlanStore

INTERIM_SECONDS = 2.0
"""As often as pages ask: so often it is computed, however many look."""
router = resource("runs")


class RunQuery(BaseModel):
    """Which runs; each part that is given must hold."""

    model_config = ConfigDict(extra="forbid")

    status: ShownStatus | None = None
    model: list[str] = Field(default_factory=list, max_length=20, description="With all of these models.")
    benchmark: list[str] = Field(default_factory=list, max_length=20, description="With all of these benchmarks.")
    tag: list[str] = Field(default_factory=list, max_length=20, description="With all of these tags.")
    text: str | None = Field(None, max_length=200, description="A part of the run's name, or of an ask's prompt.")
    owner: str | None = Field(None, max_length=200, description="Who started it: a user's name, or `key ID`.")
    kind: Literal["evaluation", "playground", "all"] = Field(
        "evaluation", description="Runs on benchmarks, asks of the playground (read at /playground/ID), or both."
    )
    since: datetime | None = Field(None, description="Started then or later; an offset from UTC belongs to it.")
    until: datetime | None = Field(None, description="Started before.")
    after: str | None = Field(None, max_length=64, description="The last run of the page before.")
    limit: int = Field(50, ge=1, le=500)


class NewRunQuery(BaseModel):
    model_config = ConfigDict(extra="forbid")

    plan_id: str | None = Field(None, max_length=64, description="The saved plan that the run is made from.")


@router.post(
    "/runs",
    status_code=202,
    operation_id="createRun",
    openapi_extra=takes(PLAN, EXAMPLE),
    responses=answers(
        AcceptedRun,
        status=202,
        description="The run is written down; workers execute it.",
        headers={"Location": "The run's address."},
        problems=(402, 404, 409),
        has_body=True,
    ),
)
def create_run(
    request: Request,
    caller: Me,
    database: Store,
    body: Annotated[Any, Depends(json_value)],
    query: Annotated[NewRunQuery, Query()],
    idempotency_key: Annotated[str | None, Header(min_length=1, max_length=200)] = None,
    proctor_key_hosts: KeyHosts = None,
) -> Response:
    """Hand in a plan, as in a plan file; a mistake gets the sentence that the command line prints.

    A run that is made from a saved plan names it. Sent again within a day with the same `Idempotency-Key`, a plan gives
    the run that the first request made.
    """
    key = None
    if idempotency_key is not None:
        key = RequestKey(idempotency_key, hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest())
        if (earlier := IdempotencyStore(database).find(key)) is not None:
            return _accepted(earlier)
    if query.plan_id is not None:
        SavedPlanStore(database).get(query.plan_id)
    return _accepted(accept_plan(request, caller, database, body, key, proctor_key_hosts, query.plan_id))


def accept_plan(
    request: Request,
    caller: Caller,
    database: Database,
    body: Any,
    key: RequestKey | None = None,
    key_hosts: str | None = None,
    plan_id: str | None = None,
) -> str:
    """Check what the caller sent as a plan, write its run down and tell whoever executes it; gives the run's id."""
    service, plan = service_of(request), read_plan(body, caller, key_hosts)
    refuse_assumed_price(plan.limits.assume_price, caller, service.database, ["limits", "assume_price"])
    plan, content = with_own_benchmarks(plan, database)
    needed = {**keep_content(plan, service.context), **content} if content else {}
    with located(plan), with_files(needed, service.context.of_project(caller.project)) as here:
        check_names(plan, here)
        if caller.spender is not None:
            settle_ended_runs(service.database, caller.spender)
        run_id = accept(
            plan, service.context, database, request=key, spender=caller.spender, content=content,
            started_by=caller.who, plan_id=plan_id,
        )  # fmt: skip
    service.executor.announce(run_id)
    return run_id


def _accepted(run_id: str) -> Response:
    return json_answer(AcceptedRun(run_id, RunStatus.QUEUED), 202, {"Location": f"{V1}/runs/{run_id}"})


@router.get(
    "/runs",
    operation_id="listRuns",
    responses=answers(RunPage, description="Newest first.", headers={"Link": "The next page."}, problems=(404,)),
)
def list_runs(
    request: Request, caller: Me, database: Store, reader: VotingReader, query: Annotated[RunQuery, Query()]
) -> Response:
    """List runs, newest first; asks of the playground, which need results:read, are among them where `kind` says so."""
    if query.kind != "evaluation" and Permission.RESULTS_READ not in caller.permissions:
        raise ProblemError(403, "forbidden", f"Asks need the permission results:read, which {caller.who} lacks.")
    wanted = RunFilter(
        models=tuple(query.model),
        benchmarks=tuple(query.benchmark),
        tags=tuple(query.tag),
        name=query.text,
        owner=query.owner,
        since=_moment("since", query.since),
        until=_moment("until", query.until),
    )
    found = find_runs(
        database,
        limit=query.limit,
        wanted=wanted,
        status=query.status,
        before=query.after,
        kinds=kinds_of(query.kind),
        reader=reader,
    )
    after = found[query.limit - 1].run_id if len(found) > query.limit else None
    return json_answer(RunPage(found[: query.limit], after), headers=next_link(request, after))


@router.get(
    "/runs/{run_id}",
    operation_id="readRun",
    responses=answers(ServedRun, problems=(404,), headers={"ETag": "Its state."}),
)
def get_run(request: Request, run_id: str, database: Store) -> Response:
    """A run with all its numbers, and how far it is."""
    return cached_answer(request, served_run(database, run_id))


@router.get(
    "/runs/{run_id}/interim",
    operation_id="readInterimResults",
    responses=answers(
        InterimResults, description="What is known before its end.", problems=(404,), headers={"ETag": "Its state."}
    ),
)
def get_interim(request: Request, run: NamedRun, database: Store) -> Response:
    """A run so far: intervals that hold however often one looks, which pairs are decided, the newest results.

    While it goes on, all who look within the same two seconds see the same.
    """
    is_over = run.status in ENDED
    now = 0.0 if is_over else int(time.time() / INTERIM_SECONDS) * INTERIM_SECONDS
    found = service_of(request).documents.document(
        "interim",
        database,
        [run.id, run.status, now],
        lambda: run_state(database, run.id) if is_over else "",
        lambda: read_interim(database, run.id, now),
    )
    return cached_answer(request, found)


@router.post(
    "/runs/{run_id}/cancel",
    status_code=202,
    operation_id="cancelRun",
    responses=answers(StoppingRun, status=202, description="It ends within seconds.", problems=(404, 409)),
)
def cancel(run: NamedRun, database: Store) -> Response:
    """Stop a run: requests in flight are finished and recorded, and it can be resumed."""
    return json_answer(StoppingRun(cancel_run(database, run.id), is_stopping=True), 202)


@router.post(
    "/runs/{run_id}/resume",
    status_code=202,
    operation_id="resumeRun",
    responses=answers(AcceptedRun, status=202, description="It will be taken up.", problems=(402, 404, 409)),
)
def resume(request: Request, run: NamedRun, caller: Me, database: Store) -> Response:
    """Finish a run: missing trials are asked, failed ones again; no recorded answer is requested twice."""
    if RunStore(database).is_executing(run.id):
        raise ProblemError(409, "conflict", f"Run {run.id} is being executed.")
    if caller.spender is not None:
        settle_ended_runs(service_of(request).database, caller.spender)
    requeue(run.id, database)
    service_of(request).executor.announce(run.id)
    return json_answer(
        AcceptedRun(run.id, RunStore(database).get(run.id).status), 202, {"Location": f"{V1}/runs/{run.id}"}
    )


@router.delete("/runs/{run_id}", operation_id="deleteRun", responses=answers(RunDeletion, problems=(404, 409)))
def delete(request: Request, run: NamedRun, database: Store) -> Response:
    """Delete a run, and what belongs to it alone."""
    users = referring_runs(database, run.id)
    artifacts = service_of(request).context.artifacts
    if artifacts is None:
        raise ProblemError(503, "unavailable", "This server keeps no artifacts.")
    done = delete_run(database, artifacts, run.id)
    return json_answer(RunDeletion(done.run_id, done, users))


def _moment(name: str, given: datetime | None) -> datetime | None:
    if given is not None and given.tzinfo is None:
        raise ProblemError(422, "parameters", f"{name} needs an offset from UTC, as in 2026-11-17T14:30:00+01:00.")
    return given
