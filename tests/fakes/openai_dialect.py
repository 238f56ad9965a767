"""OpenAI's chat completions, as published: plain and streamed."""

from __future__ import annotations

from typing import Any

import orjson

from fakes.dialect import Ask, Reply, pieces
from fakes.loopback import Request

FINISH = {"stop": "stop", "length": "length", "filtered": "content_filter", "tool_calls": "tool_calls"}
ERROR_TYPES = {
    400: ("invalid_request_error", None),
    401: ("invalid_request_error", "invalid_api_key"),
    404: ("invalid_request_error", "model_not_found"),
    429: ("requests", "rate_limit_exceeded"),
}


def text_of(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(part["text"] for part in content or () if part.get("type") in ("text", "input_text"))


def sse(document: Any) -> bytes:
    return b"data: " + orjson.dumps(document) + b"\n\n"


class OpenAIChat:
    def matches(self, request: Request) -> bool:
        return request.method == "POST" and request.path.endswith("/chat/completions")

    def is_authorised(self, request: Request, key: str) -> bool:
        return request.headers.get("authorization") == f"Bearer {key}"

    def read(self, request: Request) -> Ask:
        body = request.json
        last = [message for message in body["messages"] if message["role"] == "user"][-1]
        wants_usage = not body.get("stream") or bool((body.get("stream_options") or {}).get("include_usage"))
        return Ask(text_of(last["content"]), body["model"], bool(body.get("stream")), body, wants_usage)

    def plain(self, ask: Ask, reply: Reply) -> Any:
        message: dict[str, Any] = {"role": "assistant", "content": reply.text or None, "refusal": None}
        if reply.text or not reply.tool_calls:
            message["content"] = reply.text
        if reply.tool_calls:
            message["tool_calls"] = _tool_calls(reply)
        if reply.reasoning:
            message["reasoning_content"] = reply.reasoning
        choice = {"index": 0, "message": message, "finish_reason": FINISH[reply.finish], "logprobs": _logprobs(reply)}
        document = {
            "id": "chatcmpl-1",
            "object": "chat.completion",
            "created": 1763000000,
            "model": ask.model + "-0613",
        }
        return {**document, "choices": [choice], "usage": usage(reply), "system_fingerprint": "fp_1", **reply.extra}

    def frames(self, ask: Ask, reply: Reply) -> list[bytes]:
        head = {
            "id": "chatcmpl-1",
            "object": "chat.completion.chunk",
            "created": 1763000000,
            "model": ask.model + "-0613",
        }

        def chunk(delta: dict[str, Any], finish: str | None = None, logprobs: Any = None) -> bytes:
            choice = {"index": 0, "delta": delta, "finish_reason": finish, "logprobs": logprobs}
            return sse({**head, "choices": [choice], "usage": None})

        frames = [chunk({"role": "assistant", "content": ""})]
        frames += [chunk({"reasoning_content": piece}) for piece in pieces(reply.reasoning)]
        frames += [chunk({"content": piece}) for piece in pieces(reply.text)]
        if reply.logprobs:
            frames.append(chunk({"content": ""}, logprobs=_logprobs(reply)))
        for index, call in enumerate(_tool_calls(reply)):
            name = {"name": call["function"]["name"], "arguments": ""}
            frames.append(chunk({"tool_calls": [{**call, "index": index, "function": name}]}))
            for piece in pieces(call["function"]["arguments"], 3):
                frames.append(chunk({"tool_calls": [{"index": index, "function": {"arguments": piece}}]}))
        frames.append(chunk({}, FINISH[reply.finish]))
        if ask.wants_usage:
            frames.append(sse({**head, "choices": [], "usage": usage(reply), **reply.extra}))
        return [*frames, b"data: [DONE]\n\n"]

    def error(self, status: int, message: str) -> Any:
        kind, code = ERROR_TYPES.get(status, ("server_error", None))
        return {"error": {"message": message, "type": kind, "param": None, "code": code}}

    def error_frame(self, status: int, message: str) -> bytes:
        return sse(self.error(status, message))


def usage(reply: Reply) -> Any:
    return {
        "prompt_tokens": reply.input_tokens,
        "completion_tokens": reply.output_tokens,
        "total_tokens": reply.input_tokens + reply.output_tokens,
        "prompt_tokens_details": {"cached_tokens": reply.cached_tokens, "audio_tokens": 0},
        "completion_tokens_details": {"reasoning_tokens": reply.reasoning_tokens, "audio_tokens": 0},
        **reply.extra.get("usage", {}),
    }


def _tool_calls(reply: Reply) -> list[dict[str, Any]]:
    return [
        {"id": f"call_{n}", "type": "function", "function": {"name": name, "arguments": arguments}}
        for n, (name, arguments) in enumerate(reply.tool_calls)
    ]


def _logprobs(reply: Reply) -> Any:
    if not reply.logprobs:
        return None
    content = [
        {
            "token": token,
            "logprob": value,
            "bytes": list(token.encode()),
            "top_logprobs": [{"token": token, "logprob": value, "bytes": None}],
        }
        for token, value in reply.logprobs
    ]
    return {"content": content, "refusal": None}
