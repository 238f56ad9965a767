"""A run's events as a stream."""

from __future__ import annotations

import asyncio
from typing import Annotated

from fastapi import Header
from starlette.requests import Request
from starlette.responses import Response

from proctor.server.access import Me, Permission, Store, local_person
from proctor.server.documents import answers, written
from proctor.server.events import KINDS
from proctor.server.problems import ProblemError
from proctor.server.routes.resource import resource
from proctor.server.service import service_of
from proctor.server.sign_in import while_allowed
from proctor.server.stream_limit import CountedStream
from proctor.stores.runs import RunStore

router = resource("runs")
MAX_NUMBER = 2**62
EVENT = {
    "description": "One event of the stream.",
    "type": "object",
    "properties": {
        "id": {"type": "string", "description": "A number that grows."},
        "event": {"enum": sorted(KINDS)},
        "data": {"type": "string", "contentMediaType": "application/json"},
    },
}


@router.get(
    "/runs/{run_id}/events",
    operation_id="followRun",
    responses=answers(
        description="`event:` is one of accepted, prepared, started, progress, chunk, result, finished, failed, "
        "cancelled; `id:` grows; `data:` is JSON. The stream ends after the last one.",
        content={"text/event-stream": {"schema": written("RunEvent", EVENT)}},
        problems=(404,),
    ),
)
async def follow(
    request: Request,
    run_id: str,
    caller: Me,
    database: Store,
    last_event_id: Annotated[str, Header(max_length=40)] = "0",
) -> Response:
    """Follow a run; after a pause, `Last-Event-ID` goes on where the stream broke off."""
    after = read_place(last_event_id)
    service = service_of(request)
    run = await asyncio.to_thread(RunStore(database).get, run_id)
    stream = service.feeds.follow(database, run.id, after, service.ending)
    if service.identify is not local_person:
        stream = while_allowed(stream, service, request, Permission.RUN_READ, caller.project)
    return CountedStream(stream, service.streams, caller.stream_user)


def read_place(text: str) -> int:
    """The id of an event; raises ProblemError (422) for what can be none."""
    if not text.isascii() or not text.isdecimal() or int(text) > MAX_NUMBER:
        raise ProblemError(422, "parameters", "Last-Event-ID is the id of an event, which is a whole number.")
    return int(text)
