"""OpenAI's responses dialect."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import orjson
from msgspec import Struct

from proctor.domain.message import DocumentPart, Image, Json, Message, Prompt, ToolResult, ToolUse
from proctor.domain.response import FinishReason, Response, ToolCall, Usage
from proctor.models.chat import read_logprobs
from proctor.models.event_stream import EventStream
from proctor.models.faults import Target, fault_in_answer
from proctor.models.parts import data_url
from proctor.models.tools import function_of, is_strict, read_arguments

FINAL = frozenset({"response.completed", "response.incomplete", "response.failed"})
TEXTS = {
    "response.output_text.delta": "text",
    "response.refusal.delta": "text",
    "response.reasoning_text.delta": "reasoning",
    "response.reasoning_summary_text.delta": "reasoning",
}
"""Events that hold a piece of text, and whether it is the answer's."""


class ResponsesDialect(Struct, frozen=True):
    def body(self, model: str, prompt: Prompt, options: Mapping[str, Json], *, is_streaming: bool) -> dict[str, Json]:
        items = [item for message in prompt.messages for item in _items(message)]
        # Unless told otherwise the provider would keep every prompt.
        body: dict[str, Json] = {"model": model, "input": items, "store": False, **_renamed(options)}
        if prompt.tools:
            body["tools"] = [_tool(tool) for tool in prompt.tools]
        if prompt.schema is not None:
            strict = is_strict(prompt.schema)
            form = {"type": "json_schema", "name": "answer", "schema": dict(prompt.schema), "strict": strict}
            body["text"] = {"format": form}
        if is_streaming:
            body["stream"] = True
        body.update(options.get("extra") or {})
        return body

    def stream(self, target: Target) -> ResponsesStream:
        return ResponsesStream(target)

    def read(
        self, target: Target, document: Any, headers: Mapping[str, str], seconds: float, first_token: float | None
    ) -> Response:
        if document.get("error"):
            raise fault_in_answer(target, document["error"])
        usage = document.get("usage") or {}
        parts = [part for item in document["output"] if item["type"] == "message" for part in item["content"]]
        calls = tuple(
            ToolCall(item["name"], read_arguments(item.get("arguments")), item.get("call_id"))
            for item in document["output"]
            if item["type"] == "function_call"
        )
        return Response(
            text="".join(part.get("text") or part.get("refusal") or "" for part in parts),
            finish_reason=_finish(document, has_calls=bool(calls)),
            usage=Usage(
                input_tokens=usage.get("input_tokens"),
                output_tokens=usage.get("output_tokens"),
                reasoning_tokens=(usage.get("output_tokens_details") or {}).get("reasoning_tokens"),
                cached_tokens=(usage.get("input_tokens_details") or {}).get("cached_tokens"),
            ),
            tool_calls=calls,
            reasoning=_reasoning(document["output"]),
            logprobs=read_logprobs([item for part in parts for item in part.get("logprobs") or ()]),
            model=document.get("model"),
            request_id=headers.get("x-request-id") or document.get("id"),
            latency_seconds=seconds,
            first_token_seconds=first_token,
        )


class ResponsesStream(EventStream):
    """The last event holds the whole response: the others only tell when it began."""

    _final: dict[str, Any]

    def read(self, part: dict[str, Any]) -> None:
        kind = part["type"]
        if kind == "error":
            raise fault_in_answer(
                self.target, part.get("error") or {"code": part.get("code"), "message": part["message"]}
            )
        if kind.endswith(".delta") and part.get("delta"):
            self.note_text(**{TEXTS[kind]: part["delta"]} if kind in TEXTS else {})
        elif kind in FINAL:
            self._final = part["response"]
            self.is_done = True

    def document(self) -> dict[str, Any]:
        return self._final


def _renamed(options: Mapping[str, Json]) -> dict[str, Json]:
    """The options under this dialect's names; one it lacks goes out under its own, for the provider to refuse."""
    sent = {
        key: value
        for key, value in options.items()
        if key not in ("extra", "max_tokens", "reasoning_effort", "logprobs")
    }
    if "max_tokens" in options:
        sent["max_output_tokens"] = options["max_tokens"]
    if "reasoning_effort" in options:
        sent["reasoning"] = {"effort": options["reasoning_effort"]}
    if options.get("logprobs"):
        sent["include"] = ["message.output_text.logprobs"]
    return sent


def _tool(tool: Mapping[str, Json]) -> dict[str, Json]:
    function = function_of(tool)
    return {"type": "function", "strict": is_strict(function.get("parameters") or {}), **function}


def _items(message: Message) -> list[dict[str, Json]]:
    """A message as items of the conversation: calls of tools and their results are items of their own."""
    content = message.content
    if isinstance(content, str):
        return [{"role": message.role, "content": content}]
    said = tuple(part for part in content if not isinstance(part, (ToolUse, ToolResult)))
    items = [{"role": message.role, "content": _content(replace(message, content=said))}] if said else []
    for part in content:
        if isinstance(part, ToolUse):
            arguments = orjson.dumps(part.arguments).decode()
            call = {"type": "function_call", "call_id": part.call_id, "name": part.name, "arguments": arguments}
            items.append(call)
        elif isinstance(part, ToolResult):
            items.append({"type": "function_call_output", "call_id": part.call_id, "output": part.result})
    return items


def _content(message: Message) -> Json:
    if isinstance(message.content, str):
        return message.content
    parts: list[dict[str, Json]] = []
    for part in message.content:
        if isinstance(part, Image):
            parts.append({"type": "input_image", "image_url": data_url(part)})
        elif isinstance(part, DocumentPart):
            parts.append({"type": "input_file", "filename": part.name, "file_data": data_url(part)})
        else:
            parts.append({"type": "output_text" if message.role == "assistant" else "input_text", "text": part.text})
    return parts


def _finish(document: Mapping[str, Any], *, has_calls: bool) -> FinishReason:
    if document.get("status") == "incomplete":
        reason = str((document.get("incomplete_details") or {}).get("reason"))
        known = {"max_output_tokens": FinishReason.LENGTH, "content_filter": FinishReason.FILTERED}
        return known.get(reason, FinishReason.OTHER)
    return FinishReason.TOOL_CALLS if has_calls else FinishReason.STOP


def _reasoning(output: list[Any]) -> str | None:
    items = [item for item in output if item["type"] == "reasoning"]
    texts = [part["text"] for item in items for part in [*(item.get("summary") or ()), *(item.get("content") or ())]]
    return "\n\n".join(texts) or None
