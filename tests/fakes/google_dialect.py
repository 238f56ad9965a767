"""Google's generateContent, as published: plain and streamed."""

from __future__ import annotations

import re
from typing import Any

import orjson

from fakes.dialect import Ask, Reply, pieces
from fakes.loopback import Request
from fakes.openai_dialect import sse

PATH = re.compile(r"/models/([^/:]+):(generateContent|streamGenerateContent)$")
FINISH = {"stop": "STOP", "length": "MAX_TOKENS", "filtered": "SAFETY", "tool_calls": "STOP"}
STATUSES = {
    400: "INVALID_ARGUMENT",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    429: "RESOURCE_EXHAUSTED",
    503: "UNAVAILABLE",
}


class GoogleGenerate:
    wrong_key_status = 400

    def matches(self, request: Request) -> bool:
        return request.method == "POST" and PATH.search(request.path) is not None

    def is_authorised(self, request: Request, key: str) -> bool:
        return request.headers.get("x-goog-api-key") == key

    def read(self, request: Request) -> Ask:
        found = PATH.search(request.path)
        assert found is not None
        body = request.json
        is_stream = found[2] == "streamGenerateContent"
        assert not is_stream or request.query.get("alt") == "sse"
        last = [content for content in body["contents"] if content["role"] == "user"][-1]
        return Ask("\n".join(part["text"] for part in last["parts"] if "text" in part), found[1], is_stream, body)

    def plain(self, ask: Ask, reply: Reply) -> Any:
        parts = [{"text": reply.reasoning, "thought": True}] if reply.reasoning else []
        parts += [{"text": reply.text}] if reply.text else []
        parts += _calls(reply)
        return self._document(ask, reply, parts, FINISH[reply.finish])

    def frames(self, ask: Ask, reply: Reply) -> list[bytes]:
        thoughts = [{"text": piece, "thought": True} for piece in pieces(reply.reasoning)]
        texts = [{"text": piece} for piece in pieces(reply.text)]
        parts = [*thoughts, *texts, *_calls(reply)]
        frames = [sse(self._document(ask, reply, [part], None)) for part in parts]
        return [*frames, sse(self._document(ask, reply, [{"text": ""}] if parts else [], FINISH[reply.finish]))]

    def _document(self, ask: Ask, reply: Reply, parts: list[Any], finish: str | None) -> Any:
        candidate: dict[str, Any] = {"content": {"parts": parts, "role": "model"}, "index": 0}
        if finish:
            candidate["finishReason"] = finish
            if reply.logprobs:
                candidate["logprobsResult"] = _logprobs(reply)
        usage = {
            "promptTokenCount": reply.input_tokens,
            "candidatesTokenCount": reply.output_tokens - reply.reasoning_tokens,
            "thoughtsTokenCount": reply.reasoning_tokens,
            "cachedContentTokenCount": reply.cached_tokens,
            "totalTokenCount": reply.input_tokens + reply.output_tokens,
        }
        return {
            "candidates": [candidate],
            "usageMetadata": usage,
            "modelVersion": ask.model + "-0613",
            "responseId": "req_1",
        }

    def error(self, status: int, message: str) -> Any:
        # Google reports a wrong key as a bad request.
        code = 400 if status == 401 else status
        details: list[Any] = []
        if status == 401:
            details = [{"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID"}]
        return {
            "error": {"code": code, "message": message, "status": STATUSES.get(code, "INTERNAL"), "details": details}
        }

    def error_frame(self, status: int, message: str) -> bytes:
        return sse(self.error(status, message))


def _calls(reply: Reply) -> list[dict[str, Any]]:
    return [
        {"functionCall": {"id": f"call_{number}", "name": name, "args": orjson.loads(arguments)}}
        for number, (name, arguments) in enumerate(reply.tool_calls)
    ]


def _logprobs(reply: Reply) -> Any:
    chosen = [{"token": token, "tokenId": 1, "logProbability": value} for token, value in reply.logprobs]
    return {"chosenCandidates": chosen, "topCandidates": [{"candidates": [item]} for item in chosen]}
