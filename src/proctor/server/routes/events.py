"""A run's events as a stream."""

from __future__ import annotations

import asyncio
from typing import Annotated

from fastapi import Header
from starlette.requests import Request
from starlette.responses import Response

from proctor.server.access import Caller, Me, Permission, Store, local_person
from proctor.server.documents import answers, written
from proctor.server.events import KINDS, EventSource, RunEvents
from proctor.server.problems import ProblemError
from proctor.server.routes.resource import resource
from proctor.server.service import service_of
from proctor.server.sign_in import while_allowed
from proctor.server.stream_limit import CountedStream

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
LastEventId = Annotated[str, Header(max_length=40)]


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
    request: Request, run_id: str, caller: Me, database: Store, last_event_id: LastEventId = "0"
) -> Response:  # fmt: skip
    """Follow a run; after a pause, `Last-Event-ID` goes on where the stream broke off."""
    return await event_stream(request, caller, RunEvents(database, run_id), last_event_id)


async def event_stream(request: Request, caller: Caller, source: EventSource, last_event_id: str) -> Response:
    """The events after this one, as long as there are more and the caller may see them."""
    after = read_place(last_event_id)
    service = service_of(request)
    await asyncio.to_thread(source.check)
    stream = service.feeds.follow(source, after, service.ending)
    if service.identify is not local_person:
        stream = while_allowed(stream, service, request, Permission.RUN_READ, caller.project)
    return CountedStream(stream, service.streams, caller.stream_user)


def read_place(text: str) -> int:
    """The id of an event; raises ProblemError (422) for what can be none."""
    if not text.isascii() or not text.isdecimal() or int(text) > MAX_NUMBER:
        raise ProblemError(422, "parameters", "Last-Event-ID is the id of an event, which is a whole number.")
    return int(text)
