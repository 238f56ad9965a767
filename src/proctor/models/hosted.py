"""A model behind an HTTP endpoint, whatever its dialect."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping
from typing import Any, Protocol, runtime_checkable

import orjson
from msgspec import Struct
from msgspec.structs import replace

from proctor.domain.errors import ProviderFaultError
from proctor.domain.message import Json, Prompt
from proctor.domain.model import Allowance, ModelIdentity, TextDelta
from proctor.domain.price import reported
from proctor.domain.response import Response
from proctor.models.event_stream import EventStream
from proctor.models.faults import Target
from proctor.models.figures import sound
from proctor.models.http1 import AnswerParser
from proctor.models.parts import Accepts, prepare
from proctor.models.rates import read_rate
from proctor.models.tools import checked_calls
from proctor.models.transport import Transport


class Dialect(Protocol):
    """How one provider's API asks and answers; pure functions, the network is elsewhere."""

    def body(
        self, model: str, prompt: Prompt, options: Mapping[str, Json], *, is_streaming: bool
    ) -> dict[str, Json]: ...

    def stream(self, target: Target) -> EventStream: ...

    def read(
        self, target: Target, document: Any, headers: Mapping[str, str], seconds: float, first_token: float | None
    ) -> Response:
        """The response in a document; raises ModelError for an error inside it, KeyError and the like for nonsense."""
        ...


@runtime_checkable
class ReadsPlainAnswers(Protocol):
    """A dialect that reads most answers without making a document of them."""

    def read_plain(self, body: bytes, headers: Mapping[str, str], seconds: float) -> Response | None:
        """Exactly what `sound` leaves of what `read` gives; None for an answer that is in any way unusual."""
        ...


class Wire(Struct, frozen=True):
    """What another way of asking the same model needs."""

    transport: Transport
    dialect: Dialect
    url: str
    headers: Mapping[str, str]
    accepts: Accepts


class HostedModel:
    """Asks one model of one provider."""

    def __init__(
        self,
        identity: ModelIdentity,
        transport: Transport,
        dialect: Dialect,
        *,
        url: str,
        headers: Mapping[str, str],
        is_streaming: bool = False,
        accepts: Accepts = Accepts(),  # noqa: B008 - a frozen value
        allowance: Allowance = Allowance(),  # noqa: B008 - a frozen value
        unbounded: str | None = None,
    ) -> None:
        self.identity = identity
        self.unbounded = unbounded
        self.allowance = allowance
        self._transport = transport
        self._dialect = dialect
        self._plain = dialect if isinstance(dialect, ReadsPlainAnswers) else None
        self._url = url
        self._headers = {"content-type": "application/json", **headers}
        self._is_streaming = is_streaming
        self._accepts = accepts

    def respond(
        self, prompt: Prompt, options: Mapping[str, Json], *, timeout_seconds: float
    ) -> Coroutine[Any, Any, Response]:
        return self._ask(prompt, options, timeout_seconds, None)

    def stream(
        self,
        prompt: Prompt,
        options: Mapping[str, Json],
        *,
        timeout_seconds: float,
        on_delta: Callable[[TextDelta], None],
    ) -> Coroutine[Any, Any, Response]:
        """As `respond`; pieces come only where the model was made with the setting `stream`."""
        return self._ask(prompt, options, timeout_seconds, on_delta)

    async def _ask(
        self,
        prompt: Prompt,
        options: Mapping[str, Json],
        timeout_seconds: float,
        on_delta: Callable[[TextDelta], None] | None,
    ) -> Response:
        transport, target = self._transport, self._transport.target
        if not prompt.is_only_text:
            prompt = await prepare(prompt, self._accepts, target.model)
        fields = self._dialect.body(self.identity.name, prompt, options, is_streaming=self._is_streaming)
        body = orjson.dumps(fields)
        answer: AnswerParser
        response: Response | None = None
        if self._is_streaming:
            first_token: float | None = None
            stream = self._dialect.stream(target)
            stream.on_delta = on_delta
            answer = streamed = await transport.stream(self._url, self._headers, body, timeout_seconds, stream.take)
            document = stream.finish()
            if stream.first_token_at is not None:
                # A first token in the last piece came when that did, and was found a moment later.
                first_token = min(stream.first_token_at - streamed.connection.asked_at, answer.seconds)
            response = self._read(answer, document, first_token)
        else:
            answer = await transport.post(self._url, self._headers, body, timeout_seconds)
            if self._plain is not None:
                response = self._plain.read_plain(answer.body, answer.headers, answer.seconds)
            if response is None:
                response = self._read(answer, self._parsed(answer.body), None)
        if response.cost_usd is not None:
            response = replace(response, cost_basis=reported(response.cost_usd))
        if (rate := read_rate(answer.headers)) is not None:
            response = replace(response, rate=rate)
        return checked_calls(prompt, response) if response.tool_calls else response

    def _read(self, answer: AnswerParser, document: Any, first_token: float | None) -> Response:
        target = self._transport.target
        try:
            return sound(self._dialect.read(target, document, answer.headers, answer.seconds, first_token))
        except (AttributeError, IndexError, KeyError, TypeError, ValueError):
            raise ProviderFaultError(f"{target.model} sent an answer of an unknown form") from None

    @property
    def wire(self) -> Wire:
        return Wire(self._transport, self._dialect, self._url, self._headers, self._accepts)

    @property
    def account(self) -> str:
        return self._transport.target.account

    async def close(self) -> None:
        await self._transport.close()

    def _parsed(self, body: bytes) -> Any:
        try:
            return orjson.loads(body)
        except orjson.JSONDecodeError:
            raise ProviderFaultError(f"{self._transport.target.model} sent an answer that is not JSON") from None
