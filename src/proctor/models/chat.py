"""The chat completions dialect: spoken by OpenAI and by nearly every other server."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct, field

from proctor.domain.message import DocumentPart, Image, Json, Message, Prompt
from proctor.domain.response import FinishReason, Response, TokenLogprob, ToolCall, Usage
from proctor.models.chat_plain import read_plain
from proctor.models.chat_stream import ChatStream, text_of
from proctor.models.faults import Target, fault_in_answer
from proctor.models.figures import dollars
from proctor.models.parts import data_url
from proctor.models.tools import function_of, is_strict, read_arguments

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


class ChatDialect(Struct, frozen=True):
    limit_field: str = "max_tokens"
    """What this server calls the limit on an answer's length."""
    fields: Mapping[str, Json] = field(default_factory=dict)
    """Further fields of every request."""

    def body(self, model: str, prompt: Prompt, options: Mapping[str, Json], *, is_streaming: bool) -> dict[str, Json]:
        messages: list[Json] = []
        for message in prompt.messages:
            content = message.content
            messages += (
                [{"role": message.role, "content": content}] if isinstance(content, str) else self.turns(message)
            )
        body: dict[str, Json] = {"model": model, "messages": messages, **self.fields, **options}
        if "max_tokens" in options and self.limit_field != "max_tokens":
            body[self.limit_field] = body.pop("max_tokens")
        if prompt.tools:
            body["tools"] = [{"type": "function", "function": function_of(tool)} for tool in prompt.tools]
        if prompt.schema is not None:
            schema = {"name": "answer", "schema": dict(prompt.schema), "strict": is_strict(prompt.schema)}
            body["response_format"] = {"type": "json_schema", "json_schema": schema}
        if is_streaming:
            body["stream"] = True
            body["stream_options"] = {"include_usage": True}
        if "extra" in options:
            body.update(body.pop("extra"))
        return body

    def turns(self, message: Message) -> list[Json]:
        """A message made of parts, as it stands among others."""
        return [{"role": message.role, "content": _content(message)}]

    def stream(self, target: Target) -> ChatStream:
        return ChatStream(target)

    def read_plain(self, body: bytes, headers: Mapping[str, str], seconds: float) -> Response | None:
        return read_plain(body, FINISH, headers, seconds)

    def read(
        self, target: Target, document: Any, headers: Mapping[str, str], seconds: float, first_token: float | None
    ) -> Response:
        if document.get("error"):
            raise fault_in_answer(target, document["error"])
        choice = document["choices"][0]
        if choice.get("error"):
            raise fault_in_answer(target, choice["error"])
        message = choice["message"]
        usage = document.get("usage") or {}
        return Response(
            text=text_of(message.get("content")) or message.get("refusal") or "",
            finish_reason=FINISH.get(choice.get("finish_reason") or "stop", FinishReason.OTHER),
            usage=_usage(usage),
            tool_calls=tuple(map(_tool_call, message.get("tool_calls") or ())),
            reasoning=message.get("reasoning_content") or message.get("reasoning"),
            logprobs=read_logprobs(logprobs.get("content")) if (logprobs := choice.get("logprobs")) else (),
            model=document.get("model"),
            request_id=headers.get("x-request-id") or document.get("id"),
            latency_seconds=seconds,
            first_token_seconds=first_token,
            cost_usd=dollars(usage.get("cost")),
        )


def _content(message: Message) -> list[dict[str, Json]]:
    parts: list[dict[str, Json]] = []
    for part in message.content:
        if isinstance(part, Image):
            parts.append({"type": "image_url", "image_url": {"url": data_url(part)}})
        elif isinstance(part, DocumentPart):
            parts.append({"type": "file", "file": {"filename": part.name, "file_data": data_url(part)}})
        elif not isinstance(part, str):
            parts.append({"type": "text", "text": part.text})
    return parts


def _usage(usage: Mapping[str, Any]) -> Usage:
    details = usage.get("prompt_tokens_details") or {}
    return Usage(
        input_tokens=usage.get("prompt_tokens"),
        output_tokens=usage.get("completion_tokens"),
        reasoning_tokens=(usage.get("completion_tokens_details") or {}).get("reasoning_tokens"),
        cached_tokens=details.get("cached_tokens"),
        cache_write_tokens=details.get("cache_write_tokens"),
    )


def _tool_call(call: Mapping[str, Any]) -> ToolCall:
    function = call["function"]
    return ToolCall(function["name"], read_arguments(function.get("arguments")), call.get("id"))


def read_logprobs(content: Any) -> tuple[TokenLogprob, ...]:
    return tuple(
        TokenLogprob(
            item["token"], item["logprob"], {top["token"]: top["logprob"] for top in item.get("top_logprobs") or ()}
        )
        for item in content or ()
    )
