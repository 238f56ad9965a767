"""Requests handed in by the thousand and answered within a day, at half the price."""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping, Sequence
from contextlib import aclosing, contextmanager
from typing import Any, Protocol, TypeVar
from urllib.parse import urlsplit

import orjson
from msgspec import Struct
from msgspec.structs import replace

from proctor.domain.errors import ModelError, ModelUnavailableError, PlanError, ProviderFaultError
from proctor.domain.message import Json, Prompt
from proctor.domain.model import Model
from proctor.domain.response import Response
from proctor.models.figures import sound
from proctor.models.hosted import HostedModel, Wire
from proctor.models.parts import prepare

T = TypeVar("T")
PROVIDERS = ("anthropic", "openai")
REMOTE_ID = re.compile(r"[\w-]{1,128}")
LOOK_SECONDS = 60.0
HAND_IN_SECONDS = 600.0
FETCH_SECONDS = 3600.0
MAX_BYTES = 64 * 1024 * 1024
"""A batch is held in memory while it is handed in; providers would take more."""
UNKNOWN_ADDRESS = frozenset({404, 405, 501})
MAX_QUOTED = 120


class BatchLimits(Struct, frozen=True):
    requests: int
    bytes: int


class BatchState(Struct, frozen=True):
    """How far a batch is, in the provider's own word."""

    name: str
    is_ended: bool
    done: int
    total: int
    problem: str | None = None
    """Why the batch as a whole was refused."""


class BatchAnswer(Struct, frozen=True):
    """One request's response, or the fault that took its place."""

    custom_id: str
    response: Response | None = None
    error: ModelError | None = None


class Search(Struct, frozen=True):
    """Whether a batch that was perhaps handed in is there; uncertain means: ask again later."""

    remote_id: str | None
    is_certain: bool = True


class BatchApi(Protocol):
    """One model's batches at its provider; every method raises ModelError when it cannot."""

    @property
    def limits(self) -> BatchLimits: ...

    async def line(self, custom_id: str, prompt: Prompt, options: Mapping[str, Json]) -> bytes:
        """One request as a batch holds it."""
        ...

    async def hand_in(self, lines: Sequence[bytes], token: str) -> str:
        """Hand the requests in, and give the provider's name for the batch."""
        ...

    async def search(
        self, token: str, since: float, requests: int, known: set[str], is_member: Callable[[str], bool]
    ) -> Search:
        """The batch that was handed in under this token, or with these requests, if there is one."""
        ...

    async def state(self, remote_id: str) -> BatchState: ...

    def answers(self, remote_id: str) -> AsyncGenerator[BatchAnswer]:
        """The answers of a batch that has ended, as they are read: in any order, some perhaps missing."""
        ...


def find_batches(model: Model, label: str) -> BatchApi:
    """The model's batch API; raises PlanError for a model that has none."""
    if isinstance(model, HostedModel) and model.identity.provider == "openai":
        from proctor.models.batching_openai import OpenAIBatches

        return OpenAIBatches(model.identity.name, model.wire)
    if isinstance(model, HostedModel) and model.identity.provider == "anthropic":
        from proctor.models.batching_anthropic import AnthropicBatches

        return AnthropicBatches(model.identity.name, model.wire)
    raise PlanError(f"{label} has no batch API: --batch works with {' and '.join(PROVIDERS)} models.")


async def request_fields(wire: Wire, model: str, prompt: Prompt, options: Mapping[str, Json]) -> dict[str, Json]:
    """The body that a plain request would have."""
    prompt = await prepare(prompt, wire.accepts, wire.transport.target.model)
    return wire.dialect.body(model, prompt, options, is_streaming=False)


def read_answer(wire: Wire, custom_id: str, document: Any, headers: Mapping[str, str]) -> BatchAnswer:
    """An answer's document as a response; when it came is not known, so it has no latency."""
    target = wire.transport.target
    try:
        response = sound(wire.dialect.read(target, document, headers, 0.0, None))
    except ModelError as error:
        return BatchAnswer(custom_id, error=error)
    except (AttributeError, IndexError, KeyError, TypeError, ValueError):
        return BatchAnswer(custom_id, error=ProviderFaultError(f"{target.model} sent an answer of an unknown form"))
    return BatchAnswer(custom_id, replace(response, latency_seconds=None))


async def ask_json(
    wire: Wire, method: str, url: str, body: bytes | None = None, seconds: float = LOOK_SECONDS, **headers: str
) -> Any:
    """Send, and read the answer as JSON."""
    given = {**wire.headers, **{name.replace("_", "-"): value for name, value in headers.items()}}
    reply = await wire.transport.send(method, url, given, body, seconds)
    try:
        return orjson.loads(reply.body)
    except orjson.JSONDecodeError:
        raise unreadable(wire) from None


async def ask_api(
    wire: Wire,
    method: str,
    url: str,
    read: Callable[[Any], T],
    body: bytes | None = None,
    seconds: float = LOOK_SECONDS,
    *,
    is_order: bool = False,
    **headers: str,
) -> T:
    """Send to an address that every batch API has; a server that answers as none does is not asked again.

    The error has no status when an order was answered like that: it may have been taken all the same.
    """
    given = {**wire.headers, **{name.replace("_", "-"): value for name, value in headers.items()}}
    target, asked = wire.transport.target, f"{method} {urlsplit(url).path}"
    advice = "Leave out --batch, or check base_url."
    try:
        reply = await wire.transport.send(method, url, given, body, seconds)
    except ModelError as error:
        if error.status not in UNKNOWN_ADDRESS:
            raise
        text = f"{target.model}: this server has no batch API (HTTP {error.status} for {asked}). {advice}"
        raise ModelUnavailableError(text, status=error.status) from error
    try:
        return read(orjson.loads(reply.body))
    except (AttributeError, IndexError, KeyError, TypeError, ValueError):
        said = target.clean(bytes(reply.body[:2000]).decode("utf-8", "replace"))[:MAX_QUOTED] or "nothing"
        text = f"{target.model}: what this server answered to {asked} is not what a batch API says ({said}). {advice}"
        raise ModelUnavailableError(text, status=None if is_order else reply.status) from None


async def read_lines(wire: Wire, url: str) -> AsyncGenerator[Any]:
    """The lines of a JSONL file, as they arrive."""
    async with aclosing(wire.transport.lines(url, wire.headers, FETCH_SECONDS)) as lines:
        async for line in lines:
            try:
                document = orjson.loads(line)
            except orjson.JSONDecodeError:
                raise unreadable(wire) from None
            yield document


async def read_answers(wire: Wire, url: str, read: Callable[[Any], BatchAnswer]) -> AsyncGenerator[BatchAnswer]:
    """The answers in a JSONL file, as they arrive."""
    async with aclosing(read_lines(wire, url)) as lines:
        async for line in lines:
            with understood(wire):
                answer = read(line)
            yield answer


@contextmanager
def understood(wire: Wire) -> Iterator[None]:
    """A document of another form than published is the provider's fault, and may be tried again."""
    try:
        yield
    except (AttributeError, IndexError, KeyError, TypeError, ValueError):
        raise unreadable(wire) from None


def unreadable(wire: Wire) -> ProviderFaultError:
    return ProviderFaultError(f"{wire.transport.target.model}: what the batch API said cannot be read")


def read_id(document: Any) -> str:
    """The name of what was just made."""
    return checked_id(document["id"])


def read_page(document: Any) -> Any:
    """A page of a list."""
    if not isinstance(document["data"], list):
        raise TypeError("a list was expected")
    return document


def checked_id(value: Any) -> str:
    """A name that can stand in an address; raises ValueError for any other."""
    if not isinstance(value, str) or not REMOTE_ID.fullmatch(value):
        raise ValueError("a name was expected")
    return value
