"""Anthropic's messages API, as published: plain and streamed."""

from __future__ import annotations

from typing import Any

import orjson

from fakes.dialect import Ask, Reply, pieces
from fakes.loopback import Request

STOP = {"stop": "end_turn", "length": "max_tokens", "filtered": "refusal", "tool_calls": "tool_use"}
ERROR_TYPES = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    500: "api_error",
    504: "timeout_error",
    529: "overloaded_error",
}


def _event(name: str, **fields: Any) -> bytes:
    return f"event: {name}\ndata: ".encode() + orjson.dumps({"type": name, **fields}) + b"\n\n"


class AnthropicMessages:
    def matches(self, request: Request) -> bool:
        return request.method == "POST" and request.path.endswith("/v1/messages")

    def is_authorised(self, request: Request, key: str) -> bool:
        return key in (
            request.headers.get("x-api-key"),
            request.headers.get("authorization", "").removeprefix("Bearer "),
        )

    def read(self, request: Request) -> Ask:
        body = request.json
        assert request.headers["anthropic-version"], "the version header is required"
        assert isinstance(body["max_tokens"], int), "max_tokens is required"
        last = [message for message in body["messages"] if message["role"] == "user"][-1]["content"]
        text = last if isinstance(last, str) else "\n".join(part["text"] for part in last if part["type"] == "text")
        return Ask(text, body["model"], bool(body.get("stream")), body)

    def plain(self, ask: Ask, reply: Reply) -> Any:
        return {
            **self._message(ask, reply),
            "content": _blocks(reply),
            "stop_reason": STOP[reply.finish],
            "usage": _usage(reply),
        }

    def frames(self, ask: Ask, reply: Reply) -> list[bytes]:
        start = {**self._message(ask, reply), "usage": {**_usage(reply), "output_tokens": 1}}
        frames = [_event("message_start", message=start), _event("ping")]
        for index, block in enumerate(_blocks(reply)):
            frames += _block_frames(index, block)
        delta = {"stop_reason": STOP[reply.finish], "stop_sequence": None}
        usage = {
            "output_tokens": reply.output_tokens,
            "output_tokens_details": {"thinking_tokens": reply.reasoning_tokens},
        }
        return [*frames, _event("message_delta", delta=delta, usage=usage), _event("message_stop")]

    def _message(self, ask: Ask, reply: Reply) -> dict[str, Any]:
        head = {"id": "msg_1", "type": "message", "role": "assistant", "model": ask.model + "-0613"}
        return {**head, "content": [], "stop_reason": None, "stop_sequence": None}

    def error(self, status: int, message: str) -> Any:
        kind = ERROR_TYPES.get(status, "api_error")
        return {"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_1"}

    def error_frame(self, status: int, message: str) -> bytes:
        return _event("error", error=self.error(status, message)["error"])


def _blocks(reply: Reply) -> list[dict[str, Any]]:
    blocks: list[dict[str, Any]] = []
    if reply.reasoning:
        blocks.append({"type": "thinking", "thinking": reply.reasoning, "signature": "c2ln"})
    if reply.text:
        blocks.append({"type": "text", "text": reply.text, "citations": None})
    for number, (name, arguments) in enumerate(reply.tool_calls):
        blocks.append({"type": "tool_use", "id": f"call_{number}", "name": name, "input": orjson.loads(arguments)})
    return blocks


def _block_frames(index: int, block: dict[str, Any]) -> list[bytes]:
    kind = block["type"]
    name, delta, empty = {
        "text": ("text", "text_delta", ""),
        "thinking": ("thinking", "thinking_delta", ""),
        "tool_use": ("input", "input_json_delta", {}),
    }[kind]
    field = "partial_json" if kind == "tool_use" else name
    whole = orjson.dumps(block["input"]).decode() if kind == "tool_use" else block[name]
    frames = [_event("content_block_start", index=index, content_block={**block, name: empty, "signature": ""})]
    frames += [
        _event("content_block_delta", index=index, delta={"type": delta, field: piece}) for piece in pieces(whole)
    ]
    if kind == "thinking":
        frames.append(
            _event("content_block_delta", index=index, delta={"type": "signature_delta", "signature": "c2ln"})
        )
    return [*frames, _event("content_block_stop", index=index)]


def _usage(reply: Reply) -> dict[str, Any]:
    return {
        "input_tokens": reply.input_tokens - reply.cached_tokens - reply.written_tokens,
        "cache_read_input_tokens": reply.cached_tokens,
        "cache_creation_input_tokens": reply.written_tokens,
        "output_tokens": reply.output_tokens,
        "output_tokens_details": {"thinking_tokens": reply.reasoning_tokens},
        "service_tier": "standard",
    }
