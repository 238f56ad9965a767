"""What happens in a project as one stream: server-sent events, or the same over a WebSocket."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator
from typing import Annotated

from fastapi import Header, Query
from starlette.requests import Request
from starlette.responses import Response
from starlette.websockets import WebSocket, WebSocketDisconnect

from proctor.server.access import Caller, Me, Permission, Store, local_person
from proctor.server.documents import answers
from proctor.server.events import RETRY
from proctor.server.project_feed import FeedPart
from proctor.server.routes.events import read_place
from proctor.server.routes.resource import resource
from proctor.server.service import Service, service_of
from proctor.server.sign_in import while_allowed
from proctor.server.stream_limit import CountedStream
from proctor.stores.database import Database

router = resource("events")
Place = Annotated[str | None, Query(max_length=40)]
RESTARTING, NOT_ALLOWED = 1012, 1008
"""Why a WebSocket is closed (RFC 6455): it is to be opened again, or the caller may not follow any more."""


@router.get(
    "/events",
    operation_id="followProject",
    responses=answers(
        description="As `/runs/{run_id}/events`, for all runs of the project; `data:` has `run_id` and the event's "
        "`number` within the run. It does not end; `id:` without an event says where to go on after a pause.",
        content={"text/event-stream": {"schema": {"$ref": "#/components/schemas/RunEvent"}}},
        problems=(429,),
    ),
)
async def follow_project(
    request: Request,
    caller: Me,
    database: Store,
    last_event_id: Annotated[str | None, Header(max_length=40)] = None,
    after: Place = None,
    follow: bool = True,
) -> Response:
    """Follow all runs of the project from now on, or from after `Last-Event-ID` or `after`.

    `follow=false` gives what there is by now and ends."""
    service = service_of(request)
    place = last_event_id if last_event_id is not None else after
    parts = _parts(service, caller, database, request, None if place is None else read_place(place), is_waiting=follow)
    first = await anext(parts)  # what cannot be read is said with a status
    return CountedStream(_as_text(first, parts), service.streams, caller.stream_user)


@router.websocket("/events")
async def follow_project_by_websocket(socket: WebSocket, caller: Me, database: Store, after: Place = None) -> None:
    """The same events as messages: {"id": …, "event": …, "data": {…}}, and {"id": …} as a sign of life."""
    service = service_of(socket)
    place = None if after is None else read_place(after)
    service.streams.take(caller.stream_user)
    try:
        parts = _parts(service, caller, database, socket, place, is_waiting=True)
        try:
            first = await anext(parts)
            await socket.accept()
            await _send_until_closed(socket, first, parts, service)
        finally:
            await parts.aclose()
    finally:
        service.streams.give_back(caller.stream_user)


def _parts(
    service: Service,
    caller: Caller,
    database: Database,
    connection: Request | WebSocket,
    after: int | None,
    *,
    is_waiting: bool,
) -> AsyncGenerator[FeedPart, None]:
    parts = service.project_feed.follow(database, after, service.ending, is_waiting=is_waiting)
    if service.identify is local_person:
        return parts
    return while_allowed(parts, service, connection, Permission.RUN_READ, caller.project)


async def _as_text(first: FeedPart, parts: AsyncGenerator[FeedPart, None]) -> AsyncGenerator[bytes, None]:
    try:
        yield RETRY + first.sse
        async for part in parts:
            yield part.sse
    finally:
        await parts.aclose()


async def _send_until_closed(
    socket: WebSocket, first: FeedPart, parts: AsyncGenerator[FeedPart, None], service: Service
) -> None:
    """Until the client leaves, may not follow any more, or the server ends; what the client says is not listened to."""

    async def send() -> None:
        await _send(socket, first)
        async for part in parts:
            await _send(socket, part)
        await socket.close(RESTARTING if service.ending.is_set() else NOT_ALLOWED)

    async def listen() -> None:
        while (await socket.receive())["type"] != "websocket.disconnect":
            pass

    sending, listening = asyncio.create_task(send()), asyncio.create_task(listen())
    try:
        await asyncio.wait({sending, listening}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in (sending, listening):
            task.cancel()
        for task in (sending, listening):
            with contextlib.suppress(asyncio.CancelledError, WebSocketDisconnect, RuntimeError):
                await task


async def _send(socket: WebSocket, part: FeedPart) -> None:
    for item in part.items:
        await socket.send_text(item.message)
    if not part.items:
        await socket.send_text(f'{{"id":{part.position}}}')
