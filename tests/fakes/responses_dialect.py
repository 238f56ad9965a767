"""OpenAI's responses API, as published: plain and streamed."""

from __future__ import annotations

from typing import Any

import orjson

from fakes.dialect import Ask, Reply, pieces
from fakes.loopback import Request
from fakes.openai_dialect import OpenAIChat, text_of

INCOMPLETE = {"length": "max_output_tokens", "filtered": "content_filter"}


class OpenAIResponses(OpenAIChat):
    """Errors and authorisation are those of chat completions."""

    def matches(self, request: Request) -> bool:
        return request.method == "POST" and request.path.endswith("/responses")

    def read(self, request: Request) -> Ask:
        body = request.json
        items = body["input"]
        last = (
            items if isinstance(items, str) else [item for item in items if item.get("role") == "user"][-1]["content"]
        )
        return Ask(text_of(last), body["model"], bool(body.get("stream")), body)

    def plain(self, ask: Ask, reply: Reply) -> Any:
        is_cut = reply.finish in INCOMPLETE
        return {
            **_head(ask),
            "status": "incomplete" if is_cut else "completed",
            "incomplete_details": {"reason": INCOMPLETE[reply.finish]} if is_cut else None,
            "output": _output(reply),
            "usage": {
                "input_tokens": reply.input_tokens,
                "input_tokens_details": {"cached_tokens": reply.cached_tokens, "cache_write_tokens": 0},
                "output_tokens": reply.output_tokens,
                "output_tokens_details": {"reasoning_tokens": reply.reasoning_tokens},
                "total_tokens": reply.input_tokens + reply.output_tokens,
            },
            **reply.extra,
        }

    def frames(self, ask: Ask, reply: Reply) -> list[bytes]:
        events: list[dict[str, Any]] = [
            {"type": "response.created", "response": {**_head(ask), "status": "in_progress", "output": []}},
            {"type": "response.in_progress", "response": {**_head(ask), "status": "in_progress", "output": []}},
        ]
        for index, item in enumerate(_output(reply)):
            place = {"output_index": index, "item_id": item["id"]}
            events.append({"type": "response.output_item.added", "output_index": index, "item": _begun(item)})
            if item["type"] == "message":
                spot = {**place, "content_index": 0}
                events.append(
                    {"type": "response.content_part.added", **spot, "part": {**item["content"][0], "text": ""}}
                )
                deltas = pieces(item["content"][0]["text"])
                events += [{"type": "response.output_text.delta", **spot, "delta": d, "logprobs": []} for d in deltas]
            if item["type"] == "function_call":
                deltas = pieces(item["arguments"], 3)
                events += [{"type": "response.function_call_arguments.delta", **place, "delta": d} for d in deltas]
            events.append({"type": "response.output_item.done", "output_index": index, "item": item})
        final = self.plain(ask, reply)
        events.append({"type": f"response.{final['status']}", "response": final})
        return [_event({**event, "sequence_number": number}) for number, event in enumerate(events)]

    def error_frame(self, status: int, message: str) -> bytes:
        return _event(
            {"type": "error", "code": "server_error", "message": message, "param": None, "sequence_number": 9}
        )


def _event(event: dict[str, Any]) -> bytes:
    return f"event: {event['type']}\ndata: ".encode() + orjson.dumps(event) + b"\n\n"


def _head(ask: Ask) -> dict[str, Any]:
    head = {"id": "resp_1", "object": "response", "created_at": 1763000000, "model": ask.model + "-0613", "error": None}
    return {**head, "parallel_tool_calls": True, "tool_choice": "auto", "tools": [], "incomplete_details": None}


def _begun(item: dict[str, Any]) -> dict[str, Any]:
    empty = {"message": {"content": []}, "function_call": {"arguments": ""}, "reasoning": {"summary": []}}[item["type"]]
    return {**item, **empty}


def _output(reply: Reply) -> list[dict[str, Any]]:
    output: list[dict[str, Any]] = []
    if reply.reasoning:
        output.append(
            {"id": "rs_1", "type": "reasoning", "summary": [{"type": "summary_text", "text": reply.reasoning}]}
        )
    if reply.text or not reply.tool_calls:
        logprobs = [
            {
                "token": token,
                "logprob": value,
                "bytes": [],
                "top_logprobs": [{"token": token, "logprob": value, "bytes": []}],
            }
            for token, value in reply.logprobs
        ]
        part = {"type": "output_text", "text": reply.text, "annotations": [], "logprobs": logprobs}
        output.append({"id": "m_1", "type": "message", "role": "assistant", "status": "completed", "content": [part]})
    for number, (name, arguments) in enumerate(reply.tool_calls):
        call = {"id": f"fc_{number}", "type": "function_call", "call_id": f"call_{number}", "status": "completed"}
        output.append({**call, "name": name, "arguments": arguments})
    return output
