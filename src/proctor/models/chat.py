"""The chat completions dialect: spoken by OpenAI and by nearly every other server."""

from __future__ import annotations

import time
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

import orjson

from proctor.domain.errors import ModelError, ProviderFaultError
from proctor.domain.message import Document, Image, Json, Message, Prompt
from proctor.domain.model import ModelIdentity
from proctor.domain.response import FinishReason, Response, TokenLogprob, ToolCall, Usage
from proctor.models.chat_stream import ChatStream
from proctor.models.faults import fault_in_answer
from proctor.models.parts import Accepts, data_url, prepare
from proctor.models.tools import checked_calls, function_of, is_strict
from proctor.models.transport import Transport

FINISH = {
    "stop": FinishReason.STOP,
    "eos": FinishReason.STOP,
    "eos_token": FinishReason.STOP,
    "stop_sequence": FinishReason.STOP,
    "length": FinishReason.LENGTH,
    "content_filter": FinishReason.FILTERED,
    "tool_calls": FinishReason.TOOL_CALLS,
    "function_call": FinishReason.TOOL_CALLS,
}


class ChatModel:
    """Asks one model of one chat completions server."""

    def __init__(
        self,
        identity: ModelIdentity,
        transport: Transport,
        *,
        url: str,
        headers: Mapping[str, str],
        limit_field: str = "max_tokens",
        is_streaming: bool = False,
        accepts: Accepts = Accepts(),  # noqa: B008 - a frozen value
        fields: Mapping[str, Json] | None = None,
    ) -> None:
        self.identity = identity
        self._transport = transport
        self._url = url
        self._headers = {"content-type": "application/json", **headers}
        self._limit_field = limit_field
        self._is_streaming = is_streaming
        self._accepts = accepts
        self._fields = dict(fields or {})

    async def respond(self, prompt: Prompt, options: Mapping[str, Json], *, timeout_seconds: float) -> Response:
        prompt = await prepare(prompt, self._accepts, self._transport.target.model)
        body = self._body(prompt, options)
        started = time.perf_counter()
        if self._is_streaming:
            stream = ChatStream(self._transport.target, started)
            headers = await self._transport.stream(self._url, self._headers, body, timeout_seconds, stream.take)
            document, first_token = stream.document(), stream.first_token_seconds
        else:
            reply = await self._transport.post(self._url, self._headers, body, timeout_seconds)
            headers, document, first_token = reply.headers, self._parsed(reply.body), None
        response = self._read(document, headers, time.perf_counter() - started, first_token)
        return checked_calls(prompt, response) if response.tool_calls else response

    async def close(self) -> None:
        await self._transport.close()

    def _body(self, prompt: Prompt, options: Mapping[str, Json]) -> bytes:
        messages = [
            {"role": message.role, "content": text if isinstance(text := message.content, str) else _content(message)}
            for message in prompt.messages
        ]
        body: dict[str, Json] = {"model": self.identity.name, "messages": messages, **self._fields, **options}
        if "max_tokens" in options and self._limit_field != "max_tokens":
            body[self._limit_field] = body.pop("max_tokens")
        if prompt.tools:
            body["tools"] = [{"type": "function", "function": function_of(tool)} for tool in prompt.tools]
        if prompt.schema is not None:
            schema = {"name": "answer", "schema": dict(prompt.schema), "strict": is_strict(prompt.schema)}
            body["response_format"] = {"type": "json_schema", "json_schema": schema}
        if self._is_streaming:
            body["stream"] = True
            body["stream_options"] = {"include_usage": True}
        if "extra" in options:
            body.update(body.pop("extra"))
        return orjson.dumps(body)

    def _parsed(self, body: memoryview) -> Any:
        try:
            return orjson.loads(body)
        except orjson.JSONDecodeError:
            raise self._fault("sent an answer that is not JSON") from None

    def _fault(self, what: str) -> ModelError:
        return ProviderFaultError(f"{self._transport.target.model} {what}")

    def _read(self, document: Any, headers: Mapping[str, str], seconds: float, first_token: float | None) -> Response:
        try:
            if document.get("error"):
                raise fault_in_answer(self._transport.target, document["error"])
            choice = document["choices"][0]
            if choice.get("error"):
                raise fault_in_answer(self._transport.target, choice["error"])
            message = choice["message"]
            usage = document.get("usage") or {}
            return Response(
                text=message.get("content") or message.get("refusal") or "",
                finish_reason=FINISH.get(choice.get("finish_reason") or "stop", FinishReason.OTHER),
                usage=read_usage(usage),
                tool_calls=tuple(_tool_call(call) for call in message.get("tool_calls") or ()),
                reasoning=message.get("reasoning_content") or message.get("reasoning"),
                logprobs=_logprobs(choice.get("logprobs")),
                model=document.get("model"),
                request_id=headers.get("x-request-id") or document.get("id"),
                latency_seconds=seconds,
                first_token_seconds=first_token,
                cost_usd=Decimal(str(usage["cost"])) if usage.get("cost") is not None else None,
            )
        except (AttributeError, KeyError, IndexError, TypeError, ValueError):
            raise self._fault("sent an answer of an unknown form") from None


def _content(message: Message) -> list[dict[str, Json]]:
    parts: list[dict[str, Json]] = []
    for part in message.content:
        if isinstance(part, Image):
            parts.append({"type": "image_url", "image_url": {"url": data_url(part)}})
        elif isinstance(part, Document):
            parts.append({"type": "file", "file": {"filename": part.name, "file_data": data_url(part)}})
        elif not isinstance(part, str):
            parts.append({"type": "text", "text": part.text})
    return parts


def read_usage(usage: Mapping[str, Any]) -> Usage:
    return Usage(
        input_tokens=usage.get("prompt_tokens"),
        output_tokens=usage.get("completion_tokens"),
        reasoning_tokens=(usage.get("completion_tokens_details") or {}).get("reasoning_tokens"),
        cached_tokens=(usage.get("prompt_tokens_details") or {}).get("cached_tokens"),
    )


def _tool_call(call: Mapping[str, Any]) -> ToolCall:
    function = call["function"]
    return ToolCall(function["name"], read_arguments(function.get("arguments")), call.get("id"))


def read_arguments(arguments: Any) -> Json:
    """Arguments arrive as JSON inside a string; text that is not JSON stays text."""
    if not isinstance(arguments, str):
        return arguments
    try:
        return orjson.loads(arguments or "{}")
    except orjson.JSONDecodeError:
        return arguments


def _logprobs(logprobs: Any) -> tuple[TokenLogprob, ...]:
    if not logprobs or not logprobs.get("content"):
        return ()
    return tuple(
        TokenLogprob(
            item["token"], item["logprob"], {top["token"]: top["logprob"] for top in item.get("top_logprobs") or ()}
        )
        for item in logprobs["content"]
    )
