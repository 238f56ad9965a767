"""OpenRouter's chat completions, as published: OpenAI's, but errors carry the status as a number."""

from __future__ import annotations

from typing import Any

from fakes.openai_dialect import OpenAIChat, sse


class OpenRouterChat(OpenAIChat):
    def error(self, status: int, message: str) -> Any:
        return {"error": {"code": status, "message": message, "metadata": {}}, "user_id": "user_1"}

    def error_frame(self, status: int, message: str) -> bytes:
        """Once a stream has begun, an error is a last chunk with a choice that says so."""
        choice = {"index": 0, "delta": {"content": ""}, "finish_reason": "error"}
        head = {"id": "cmpl_1", "object": "chat.completion.chunk", "created": 0, "model": "m", "provider": "x"}
        return sse({**head, "error": {"code": status, "message": message}, "choices": [choice]})
