"""Runs that are scored again: asked for, followed, cancelled."""

from __future__ import annotations

import hashlib
import json
from typing import Annotated

import msgspec
from fastapi import Depends, Header
from starlette.requests import Request
from starlette.responses import Response

from proctor.accounts.budgets import settle_ended_runs
from proctor.domain.documents.rescoring import AcceptedRescoring, RescoreRequest, RescoringPage, ServedRescoring
from proctor.planning.plan_file import model_spec
from proctor.planning.scorer_text import read_scorer
from proctor.runs.rescorings.requests import accept_rescoring, list_rescorings, read_rescoring
from proctor.server.access import V1, Caller, Me, Store
from proctor.server.bodies import body_of, takes
from proctor.server.documents import answers, cached_answer, json_answer, written
from proctor.server.events import RescoringEvents
from proctor.server.plans import refuse_assumed_price, refuse_foreign_model, refuse_foreign_scorer
from proctor.server.routes.events import EVENT, LastEventId, event_stream
from proctor.server.routes.resource import NamedRun, resource
from proctor.server.service import service_of
from proctor.stores.idempotency import IdempotencyStore, RequestKey
from proctor.stores.rescorings import RescoringStore

router = resource("runs")
ONE = "/runs/{run_id}/rescorings/{rescoring_id}"


@router.post(
    "/runs/{run_id}/rescore",
    status_code=202,
    operation_id="rescoreRun",
    openapi_extra=takes(RescoreRequest, {"scorers": ["exact:ignore_case=true"], "keep": True}),
    responses=answers(
        AcceptedRescoring,
        status=202,
        description="It is written down; a worker carries it out.",
        headers={"Location": "Where it is followed."},
        problems=(402, 404, 409),
        has_body=True,
    ),
)
def rescore(
    request: Request,
    run: NamedRun,
    caller: Me,
    database: Store,
    body: Annotated[RescoreRequest, Depends(body_of(RescoreRequest))],
    idempotency_key: Annotated[str | None, Header(min_length=1, max_length=200)] = None,
) -> Response:
    """Score a run's stored responses again, without asking the model under test; all scores are kept.

    Sent again within a day with the same `Idempotency-Key`, it gives the rescoring that the first request made. Of one
    run they are carried out one after the other.
    """
    key = None
    if idempotency_key is not None:
        sent = json.dumps([run.id, msgspec.to_builtins(body)], sort_keys=True)
        key = RequestKey(idempotency_key, hashlib.sha256(sent.encode()).hexdigest())
        if (earlier := IdempotencyStore(database).find(key)) is not None:
            return _accepted(run.id, earlier)
    service = service_of(request)
    _refuse_foreign(body, caller)
    refuse_assumed_price(body.assume_price, caller, service.database, ["assume_price"])
    if caller.spender is not None:
        settle_ended_runs(service.database, caller.spender)
    rescoring_id = accept_rescoring(
        database,
        service.context.of_project(caller.project),
        run,
        body,
        started_by=caller.who,
        request=key,
        spender=caller.spender,
    )
    service.executor.announce_rescoring(rescoring_id)
    return _accepted(run.id, rescoring_id)


def _refuse_foreign(body: RescoreRequest, caller: Caller) -> None:
    if caller.is_operator:
        return
    for index, text in enumerate(body.judge):
        refuse_foreign_model(model_spec(text), ["judge", index], caller)
    for index, text in enumerate(body.scorers):
        refuse_foreign_scorer(read_scorer(text).name, ["scorers", index])


def _accepted(run_id: str, rescoring_id: str) -> Response:
    found = AcceptedRescoring(rescoring_id, run_id, "queued")
    return json_answer(found, 202, {"Location": f"{V1}/runs/{run_id}/rescorings/{rescoring_id}"})


@router.get(
    "/runs/{run_id}/rescorings",
    operation_id="listRescorings",
    responses=answers(RescoringPage, description="The newest hundred, newest first.", problems=(404,)),
)
def list_all(run: NamedRun, database: Store) -> Response:
    """List the rescorings of a run, with what came of them."""
    return json_answer(RescoringPage(list_rescorings(database, run.id)))


@router.get(
    ONE,
    operation_id="readRescoring",
    responses=answers(ServedRescoring, problems=(404,), headers={"ETag": "Its state."}),
)
def get_one(request: Request, run: NamedRun, rescoring_id: str, database: Store) -> Response:
    """How far a rescoring is, and old and new scores side by side once it has ended."""
    return cached_answer(request, read_rescoring(database, run.id, rescoring_id))


@router.post(
    f"{ONE}/cancel",
    status_code=202,
    operation_id="cancelRescoring",
    responses=answers(ServedRescoring, status=202, description="It ends within seconds.", problems=(404, 409)),
)
def cancel(run: NamedRun, rescoring_id: str, database: Store) -> Response:
    """Stop a rescoring: scores in progress are kept, and the old ones remain in force."""
    RescoringStore(database).cancel(run.id, rescoring_id)
    return json_answer(read_rescoring(database, run.id, rescoring_id), 202)


@router.get(
    f"{ONE}/events",
    operation_id="followRescoring",
    responses=answers(
        description="`event:` is one of accepted, started, progress, finished, failed, cancelled; `id:` grows; `data:` "
        "is JSON. The stream ends after the last one.",
        content={"text/event-stream": {"schema": written("RunEvent", EVENT)}},
        problems=(404,),
    ),
)
async def follow(
    request: Request, run: NamedRun, rescoring_id: str, caller: Me, database: Store, last_event_id: LastEventId = "0"
) -> Response:
    """Follow a rescoring; after a pause, `Last-Event-ID` goes on where the stream broke off."""
    return await event_stream(request, caller, RescoringEvents(database, run.id, rescoring_id), last_event_id)
