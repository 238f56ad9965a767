"""Anthropic's messages dialect."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from proctor.domain.message import DocumentPart, Image, Json, Message, Prompt, ToolResult, ToolUse
from proctor.domain.response import FinishReason, Response, ToolCall, Usage
from proctor.models.event_stream import EventStream
from proctor.models.faults import Target, fault_in_answer
from proctor.models.tools import function_of, read_arguments

FINISH = {
    "end_turn": FinishReason.STOP,
    "stop_sequence": FinishReason.STOP,
    "max_tokens": FinishReason.LENGTH,
    "model_context_window_exceeded": FinishReason.LENGTH,
    "tool_use": FinishReason.TOOL_CALLS,
    "refusal": FinishReason.FILTERED,
}


class MessagesDialect(Struct, frozen=True):
    default_limit: int
    """The API refuses a request that sets no limit."""
    is_caching: bool = False

    def body(self, model: str, prompt: Prompt, options: Mapping[str, Json], *, is_streaming: bool) -> dict[str, Json]:
        system = [message for message in prompt.messages if message.role == "system"]
        turns = [message for message in prompt.messages if message.role != "system"]
        messages = _joined([{"role": _role(message), "content": _content(message)} for message in turns])
        body: dict[str, Json] = {"model": model, "max_tokens": self.default_limit, "messages": messages}
        body.update(_renamed(options))
        if system:
            body["system"] = "\n\n".join(message.text for message in system)
        if prompt.tools:
            body["tools"] = [_tool(tool) for tool in prompt.tools]
        if prompt.schema is not None:
            form = {"type": "json_schema", "schema": dict(prompt.schema)}
            body["output_config"] = {**body.get("output_config", {}), "format": form}
        if self.is_caching:
            body["cache_control"] = {"type": "ephemeral"}
        if is_streaming:
            body["stream"] = True
        body.update(options.get("extra") or {})
        return body

    def stream(self, target: Target) -> MessagesStream:
        return MessagesStream(target)

    def read(
        self, target: Target, document: Any, headers: Mapping[str, str], seconds: float, first_token: float | None
    ) -> Response:
        if document.get("error"):
            raise fault_in_answer(target, document["error"])
        blocks = document["content"]
        thinking = "".join(block.get("thinking") or "" for block in blocks if block["type"] == "thinking")
        return Response(
            text="".join(block["text"] for block in blocks if block["type"] == "text"),
            finish_reason=FINISH.get(document.get("stop_reason") or "end_turn", FinishReason.OTHER),
            usage=_usage(document.get("usage") or {}),
            tool_calls=tuple(
                ToolCall(block["name"], read_arguments(block.get("input")), block.get("id"))
                for block in blocks
                if block["type"] == "tool_use"
            ),
            reasoning=thinking or None,
            model=document.get("model"),
            request_id=headers.get("request-id") or document.get("id"),
            latency_seconds=seconds,
            first_token_seconds=first_token,
        )


class MessagesStream(EventStream):
    """Content blocks, each begun, continued and ended by events of its own."""

    def __init__(self, target: Target) -> None:
        super().__init__(target)
        self._message: dict[str, Any] = {}
        self._blocks: dict[int, dict[str, Any]] = {}
        self._pieces: dict[int, list[str]] = {}

    def read(self, part: dict[str, Any]) -> None:
        kind = part["type"]
        if kind == "content_block_delta":
            self._read_delta(part["index"], part["delta"])
        elif kind == "content_block_start":
            block = self._blocks[part["index"]] = dict(part["content_block"])
            self._pieces[part["index"]] = []
            if block.get("text") or block.get("thinking"):
                self.note_text(block.get("text") or "", block.get("thinking") or "")
        elif kind == "message_start":
            self._message = dict(part["message"])
        elif kind == "message_delta":
            self._message.update(part["delta"])
            self._message["usage"] = {**(self._message.get("usage") or {}), **(part.get("usage") or {})}
        elif kind == "message_stop":
            self.is_done = True
        elif kind == "error":
            raise fault_in_answer(self.target, part["error"])

    def _read_delta(self, index: int, delta: dict[str, Any]) -> None:
        piece = delta.get("text") or delta.get("thinking") or delta.get("partial_json")
        if piece:
            self._pieces[index].append(piece)
            self.note_text(delta.get("text") or "", delta.get("thinking") or "")

    def document(self) -> dict[str, Any]:
        for index, block in self._blocks.items():
            name = {"text": "text", "thinking": "thinking", "tool_use": "input"}.get(block["type"])
            if name is not None:
                # A start event may already hold the beginning of a text; a tool's input begins as an empty object.
                beginning = block.get(name) if name != "input" else ""
                block[name] = (beginning or "") + "".join(self._pieces[index])
        return {**self._message, "content": [self._blocks[index] for index in sorted(self._blocks)]}


def _renamed(options: Mapping[str, Json]) -> dict[str, Json]:
    """The options under this dialect's names; one it lacks goes out under its own, for the provider to refuse."""
    sent = {key: value for key, value in options.items() if key not in ("extra", "stop", "reasoning_effort")}
    if "stop" in options:
        sent["stop_sequences"] = options["stop"]
    if "reasoning_effort" in options:
        sent["output_config"] = {"effort": options["reasoning_effort"]}
    return sent


def _role(message: Message) -> str:
    return "assistant" if message.role == "assistant" else "user"


def _joined(messages: list[dict[str, Json]]) -> list[dict[str, Json]]:
    """The results of calls that were made together belong into one turn."""
    joined: list[dict[str, Json]] = []
    for message in messages:
        if joined and _has_results(joined[-1]) and _has_results(message):
            joined[-1]["content"] += message["content"]
        else:
            joined.append(message)
    return joined


def _has_results(message: Mapping[str, Json]) -> bool:
    content = message["content"]
    return isinstance(content, list) and bool(content) and content[0]["type"] == "tool_result"


def _content(message: Message) -> Json:
    if isinstance(message.content, str):
        return message.content
    parts: list[dict[str, Json]] = []
    for part in message.content:
        if isinstance(part, (Image, DocumentPart)):
            source = {"type": "base64", "media_type": part.media_type, "data": b64encode(part.data).decode()}
            block: dict[str, Json] = {"type": "image" if isinstance(part, Image) else "document", "source": source}
            parts.append(block if isinstance(part, Image) else {**block, "title": part.name})
        elif isinstance(part, ToolUse):
            parts.append({"type": "tool_use", "id": part.call_id, "name": part.name, "input": part.arguments})
        elif isinstance(part, ToolResult):
            parts.append({"type": "tool_result", "tool_use_id": part.call_id, "content": part.result})
        else:
            parts.append({"type": "text", "text": part.text})
    return parts


def _tool(tool: Mapping[str, Json]) -> dict[str, Json]:
    function = function_of(tool)
    schema = function.pop("parameters", None) or {"type": "object", "properties": {}}
    return {**function, "input_schema": schema}


def _usage(usage: Mapping[str, Any]) -> Usage:
    """Anthropic counts cached input apart; here, as everywhere else, it is part of the input."""
    counts = [usage.get(name) for name in ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")]
    known = [count for count in counts if count is not None]
    return Usage(
        input_tokens=sum(known) if known else None,
        output_tokens=usage.get("output_tokens"),
        reasoning_tokens=(usage.get("output_tokens_details") or {}).get("thinking_tokens"),
        cached_tokens=usage.get("cache_read_input_tokens"),
        cache_write_tokens=usage.get("cache_creation_input_tokens"),
    )
