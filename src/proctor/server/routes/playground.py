"""The playground: one prompt to several models at once, their answers as they grow, and what people prefer."""

from __future__ import annotations

import asyncio
import hashlib
from base64 import b64encode
from typing import Annotated, Any, Literal

import msgspec
from fastapi import Depends, Header, Path, Query
from msgspec import Meta, Struct
from msgspec.structs import replace
from pydantic import BaseModel, ConfigDict, Field
from starlette.requests import Request
from starlette.responses import Response

from proctor.accounts.budgets import settle_ended_runs
from proctor.domain.documents.playground import (
    AskPage,
    PlaygroundAsk,
    PlaygroundPlan,
    PlaygroundSample,
    PreferenceRanking,
)
from proctor.domain.documents.problem_details import FieldProblem
from proctor.domain.errors import in_field
from proctor.runs.playground.asking import prepare_ask, read_models
from proctor.runs.playground.reading import read_ask
from proctor.runs.playground.request import REQUESTS, SHOWN_TEXT, PlaygroundRequest, SentFile
from proctor.runs.playground.showing import Reader, ask_of, check_vote, is_revealed, listed_ask
from proctor.runs.playground.turning import plan_of, ranking_of_votes, sample_of
from proctor.runs.storage.files import open_file
from proctor.server.access import V1, Caller, Me, Permission, Store, local_person
from proctor.server.bodies import body_of, convert, large_json_value, takes, too_large
from proctor.server.documents import answers, json_answer, reference, written
from proctor.server.pages import next_link
from proctor.server.plans import refuse_assumed_price, refuse_foreign_model
from proctor.server.playground_stream import AskStream, read_cursor
from proctor.server.problems import ProblemError, pointer
from proctor.server.routes.files import artifacts_of
from proctor.server.routes.resource import resource
from proctor.server.service import Service, service_of
from proctor.server.sign_in import while_allowed
from proctor.server.stream_limit import CountedStream
from proctor.server.voting import VotingReader
from proctor.stores.database import Database
from proctor.stores.idempotency import IdempotencyStore, RequestKey
from proctor.stores.playground import AskRow, PlaygroundStore

router = resource("playground")
MAX_BYTES = 32_000_000
"""Files are sent in base64, which makes four bytes of three."""
MAX_FILE_BYTES = MAX_BYTES * 3 // 4
"""Of all uploaded files that one ask names."""
RETRY_SECONDS = 5
Slot = Annotated[str, Meta(pattern="^[a-z]$")]
EXAMPLE = {
    "kind": "text",
    "models": ["demo/strong", "demo/weak"],
    "prompt": "What is 17 + 25? End with ANSWER: and the number.",
    "options": {"temperature": 0},
}
KINDS = ("start", "delta", "complete", "error", "end")
EVENT = {
    "description": "One event of the stream.",
    "type": "object",
    "properties": {
        "id": {"type": "string", "description": "How much of each answer its reader has."},
        "event": {"enum": list(KINDS)},
        "data": {"type": "string", "contentMediaType": "application/json"},
    },
}
STREAM = {"text/event-stream": {"schema": written("PlaygroundEvent", EVENT)}}
TELLS = (
    "`event:` is one of start, delta, complete, error, each with the letter of its answer, and end after the last one; "
    "`data:` is JSON. Sent back as Last-Event-ID, an event's id goes on after it."
)


class AnswersToStop(Struct, frozen=True, forbid_unknown_fields=True):
    answers: Annotated[list[Slot], Meta(max_length=26)] | None = None
    """Left out for all of them."""


class NewVote(Struct, frozen=True, forbid_unknown_fields=True):
    best: Annotated[list[Slot], Meta(max_length=26)]
    """The answers that none is preferred to: all of them is a tie, none says that all are bad."""


class AskQuery(BaseModel):
    model_config = ConfigDict(extra="forbid")

    after: str | None = Field(None, max_length=64)
    limit: int = Field(50, ge=1, le=200)


class RankingQuery(BaseModel):
    model_config = ConfigDict(extra="forbid")

    kind: Literal["text", "image", "pdf", "structured"] | None = None
    votes: Literal["blind", "all"] = Field("blind", description="Only those made without knowing who is who, or all.")


class SampleQuery(BaseModel):
    model_config = ConfigDict(extra="forbid")

    target: str | None = Field(None, pattern="^[a-z]$", description="The answer whose text is the right one.")


class PlanQuery(BaseModel):
    model_config = ConfigDict(extra="forbid")

    benchmark: str = Field(min_length=1, max_length=200)


async def _request_of(request: Request) -> PlaygroundRequest:
    value = await large_json_value(request, MAX_BYTES)
    kind = value.get("kind", "text") if isinstance(value, dict) else "text"
    found = REQUESTS.get(kind) if isinstance(kind, str) else None
    if found is None:
        raise ProblemError(422, "body", f"kind is one of {', '.join(REQUESTS)}.")
    return convert({"kind": kind, **value} if isinstance(value, dict) else value, found)


def _named_ask(ask_id: str, database: Store) -> AskRow:
    return read_ask(database, ask_id)


NamedAsk = Annotated[AskRow, Depends(_named_ask)]


@router.post(
    "/playground",
    status_code=202,
    operation_id="askModels",
    openapi_extra=takes({"oneOf": [reference(kind) for kind in REQUESTS.values()]}, EXAMPLE),
    responses={
        **answers(content=STREAM, description=f"With `Accept: text/event-stream`. {TELLS}"),
        **answers(
            PlaygroundAsk,
            status=202,
            description="The models are being asked; its events tell of their answers.",
            headers={"Location": "The ask's address."},
            problems=(402,),
            has_body=True,
        ),
    },
)
async def ask_models(
    request: Request,
    caller: Me,
    reader: VotingReader,
    database: Store,
    body: Annotated[PlaygroundRequest, Depends(_request_of)],
    accept: Annotated[str, Header(max_length=1000)] = "",
    idempotency_key: Annotated[str | None, Header(min_length=1, max_length=200)] = None,
) -> Response:
    """Put one prompt to several models at once; `kind` is text where it is left out.

    Every model is asked by itself: one that fails or is slow delays no other. The answers go on when the caller leaves.
    """
    service = service_of(request)
    key = None
    if idempotency_key is not None:
        digest = hashlib.sha256(msgspec.json.encode(body, order="deterministic"))
        key = RequestKey(idempotency_key, digest.hexdigest())
    earlier = None if key is None else await asyncio.to_thread(IdempotencyStore(database).find, key)
    if earlier is not None:
        return await _answered(request, caller, reader, database, earlier, accept)
    if not service.playground.has_room_for(len(body.models)):
        said = "Too many models are being asked already: wait until some have answered."
        raise ProblemError(429, "too-many", said, headers={"Retry-After": str(RETRY_SECONDS)})
    await asyncio.to_thread(refuse_assumed_price, body.assume_price, caller, service.database, ["assume_price"])
    specs = read_models(body)
    if not caller.is_operator:
        for index, spec in enumerate(specs):
            refuse_foreign_model(spec, ["models", index], caller)
    if caller.spender is not None:
        await asyncio.to_thread(settle_ended_runs, service.database, caller.spender)
    context = await asyncio.to_thread(service.context.of_project, caller.project)
    body = await asyncio.to_thread(_with_uploads, body, service, database)
    prepared = await asyncio.to_thread(prepare_ask, body, specs, context, is_operator=caller.is_operator)
    ask_id, is_new = await asyncio.to_thread(prepared.write, database, caller.who, key, caller.spender)
    if is_new:
        service.playground.begin(ask_id, prepared, database, is_offline=context.is_offline)
    return await _answered(request, caller, reader, database, ask_id, accept)


@router.get(
    "/playground",
    operation_id="listAsks",
    responses=answers(AskPage, description="Newest first.", headers={"Link": "The next page."}),
)
def list_asks(request: Request, database: Store, query: Annotated[AskQuery, Query()]) -> Response:
    """List what was asked side by side, newest first."""
    rows = PlaygroundStore(database).listed(after=query.after, limit=query.limit + 1)
    after = rows[query.limit - 1].id if len(rows) > query.limit else None
    page = AskPage([listed_ask(row) for row in rows[: query.limit]], after)
    return json_answer(page, headers=next_link(request, after))


@router.get("/playground/ranking", operation_id="rankPreferred", responses=answers(PreferenceRanking))
def ranking(database: Store, query: Annotated[RankingQuery, Query()]) -> Response:
    """Rank the models by what people preferred (Bradley-Terry), with intervals."""
    return json_answer(ranking_of_votes(database, kind=query.kind, is_blind_only=query.votes == "blind"))


@router.get("/playground/{ask_id}", operation_id="readAsk", responses=answers(PlaygroundAsk, problems=(404,)))
def get_ask(row: NamedAsk, reader: VotingReader) -> Response:
    """What was asked, and the answers as far as they have come; names are hidden while a vote is blind."""
    return json_answer(ask_of(row, reader))


@router.get(
    "/playground/{ask_id}/events",
    operation_id="followAsk",
    responses=answers(content=STREAM, description=TELLS, problems=(404,)),
)
async def follow(
    request: Request,
    row: NamedAsk,
    caller: Me,
    reader: VotingReader,
    database: Store,
    last_event_id: Annotated[str, Header(max_length=400)] = "",
) -> Response:
    """Follow the answers; after a pause, `Last-Event-ID` gives the rest without a gap or a repeat."""
    return _stream(request, caller, reader, database, row, last_event_id)


@router.post(
    "/playground/{ask_id}/stop",
    operation_id="stopAnswers",
    openapi_extra=takes(AnswersToStop),
    responses=answers(PlaygroundAsk, problems=(404,), has_body=True),
)
async def stop(
    request: Request,
    row: NamedAsk,
    reader: VotingReader,
    database: Store,
    body: Annotated[AnswersToStop, Depends(body_of(AnswersToStop))],
) -> Response:
    """Stop some answers, or all; what they wrote stays, and what they cost is not known."""
    slots = [one.slot for one in row.answers if body.answers is None or one.slot in body.answers]
    playground, store = service_of(request).playground, PlaygroundStore(database)
    live = playground.find(row.id)
    if live is None:
        await asyncio.to_thread(store.request_stop, row.id, slots)
    else:
        await live.stop(slots)
    return json_answer(ask_of(await asyncio.to_thread(store.get, row.id), reader))


@router.post(
    "/playground/{ask_id}/votes",
    status_code=201,
    operation_id="voteOnAnswers",
    openapi_extra=takes(NewVote),
    responses=answers(
        PlaygroundAsk, status=201, description="It is kept; who is who is told.", problems=(404, 409), has_body=True
    ),
)
def vote(
    row: NamedAsk, reader: VotingReader, database: Store, body: Annotated[NewVote, Depends(body_of(NewVote))]
) -> Response:
    """Say which answers none is preferred to; everybody votes once, because he then knows who is who."""
    check_vote(row, body.best)
    store = PlaygroundStore(database)
    is_blind = row.is_blind and not is_revealed(row, reader)
    if not store.vote(row.id, reader.name, sorted(set(body.best)), is_blind=is_blind):
        raise ProblemError(409, "voted", "You have voted on these answers already.")
    return json_answer(ask_of(store.get(row.id), reader), 201)


@router.post(
    "/playground/{ask_id}/reveal",
    operation_id="revealAnswers",
    responses=answers(PlaygroundAsk, problems=(404,)),
)
def reveal(row: NamedAsk, reader: VotingReader, database: Store) -> Response:
    """Tell everybody who is who; votes after that are not blind."""
    store = PlaygroundStore(database)
    store.reveal(row.id)
    return json_answer(ask_of(store.get(row.id), reader))


@router.get(
    "/playground/{ask_id}/sample",
    operation_id="sampleOfAsk",
    responses=answers(PlaygroundSample, description="A line of a benchmark's data.", problems=(404,)),
)
def sample(
    row: NamedAsk, reader: VotingReader, database: Store, query: Annotated[SampleQuery, Query()]
) -> Response:  # fmt: skip
    """The ask as a line of a benchmark's data."""
    return json_answer(sample_of(database, row, query.target, reader))


@router.get(
    "/playground/{ask_id}/plan",
    operation_id="planOfAsk",
    responses=answers(PlaygroundPlan, description="As in a plan file.", problems=(404,)),
)
def plan(row: NamedAsk, query: Annotated[PlanQuery, Query()]) -> Response:
    """A plan that puts the same models with the same options to a benchmark."""
    return json_answer(plan_of(row, query.benchmark))


@router.get(
    "/playground/{ask_id}/files/{position}",
    operation_id="readAskedFile",
    responses=answers(
        content={"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
        description="The file as it was sent; its type is that of its content.",
        problems=(404,),
    ),
)
def file(ask_id: str, position: Annotated[int, Path(ge=0, le=100)], database: Store) -> Response:
    """A file of an ask."""
    found = PlaygroundStore(database).file(ask_id, position)
    is_image = found.media_type.startswith("image/")
    headers = {
        "Content-Disposition": "inline" if is_image else "attachment",
        "Content-Security-Policy": "default-src 'none'; sandbox",
        "Cache-Control": "private, max-age=3600",
    }
    kind = f"{SHOWN_TEXT}; charset=utf-8" if found.media_type == SHOWN_TEXT else found.media_type
    return Response(found.content, 200, headers, kind)


@router.delete(
    "/playground/{ask_id}",
    status_code=204,
    operation_id="deleteAsk",
    responses=answers(status=204, description="It is gone, with its answers and votes.", problems=(404,)),
)
async def delete(request: Request, row: NamedAsk, database: Store) -> Response:
    """Delete an ask; what is still being answered is stopped."""
    live = service_of(request).playground.find(row.id)
    if live is not None:
        await live.stop(live.answers)
    await asyncio.to_thread(PlaygroundStore(database).delete, row.id)
    return Response(status_code=204)


def _with_uploads(body: PlaygroundRequest, service: Service, database: Database) -> PlaygroundRequest:
    """The request with the content of the uploaded files that it names."""
    sent = body.sent()
    for place, one in enumerate(sent):
        if (one.data is None) == (one.file is None):
            detail = "A file is either its data, in base64, or the id of one that was uploaded."
            raise ProblemError(422, "body", detail, [FieldProblem(pointer([body.FILES, place]), detail)])
    if all(one.file is None for one in sent):
        return body
    found, size = [], 0
    for place, one in enumerate(sent):
        if one.file is None:
            found.append(one)
            continue
        with in_field(body.FILES, place):
            file = open_file(database, artifacts_of(service), one.file)
        size += file.size_bytes
        if size > MAX_FILE_BYTES:
            raise too_large(MAX_FILE_BYTES)
        content = b"".join(file.part(0, file.size_bytes))
        found.append(SentFile(data=b64encode(content).decode(), name=file.name))
    return replace(body, **{body.FILES: found})


async def _answered(
    request: Request, caller: Caller, reader: Reader, database: Database, ask_id: str, accept: str
) -> Response:
    row = await asyncio.to_thread(PlaygroundStore(database).get, ask_id)
    headers = {"Location": f"{V1}/playground/{ask_id}"}
    if "text/event-stream" in accept:
        return _stream(request, caller, reader, database, row, "", headers)
    return json_answer(ask_of(row, reader), 202, headers)


def _stream(
    request: Request, caller: Caller, reader: Reader, database: Database, row: AskRow, cursor: str, more: Any = None
) -> Response:  # fmt: skip
    seen = read_cursor(cursor, [one.slot for one in row.answers])
    if seen is None:
        raise ProblemError(422, "parameters", "Last-Event-ID is no id of an event of this stream.")
    service = service_of(request)
    stream = AskStream(service.playground, database, row, reader).follow(seen, service.ending)
    if service.identify is not local_person:
        stream = while_allowed(stream, service, request, Permission.RESULTS_READ, caller.project)
    response = CountedStream(stream, service.streams, caller.stream_user)
    response.headers.update(more or {})
    return response
