"""A streamed chat completion, put together again into the document a plain call would have given."""

from __future__ import annotations

import time
from typing import Any

import orjson

from proctor.domain.errors import ProviderFaultError
from proctor.models.faults import Target, fault_in_answer
from proctor.models.sse import EventParser


class ChatStream:
    """Takes chunks as they arrive; `document` raises unless the stream said that it was finished."""

    def __init__(self, target: Target, started: float) -> None:
        self._target = target
        self._started = started
        self._parser = EventParser()
        self._is_done = False
        self._head: dict[str, Any] = {}
        self._texts: dict[str, list[str]] = {"content": [], "refusal": [], "reasoning_content": [], "reasoning": []}
        self._calls: dict[int, dict[str, Any]] = {}
        self._logprobs: list[Any] = []
        self._finish: str | None = None
        self.first_token_seconds: float | None = None

    def take(self, chunk: bytes) -> bool:
        for event in self._parser.feed(chunk):
            self._read(event.data)
        return self._is_done

    def document(self) -> dict[str, Any]:
        if not self._is_done:
            for event in self._parser.finish():
                self._read(event.data)
        if not self._is_done:
            raise ProviderFaultError(f"{self._target.model} broke off its stream before the end")
        message: dict[str, Any] = {name: "".join(parts) for name, parts in self._texts.items() if parts}
        if self._calls:
            message["tool_calls"] = [self._calls[index] for index in sorted(self._calls)]
        choice = {"message": message, "finish_reason": self._finish}
        if self._logprobs:
            choice["logprobs"] = {"content": self._logprobs}
        return {**self._head, "choices": [choice]}

    def _read(self, data: bytes) -> None:
        if self._is_done:
            return
        if data == b"[DONE]":
            self._is_done = True
            return
        try:
            part = orjson.loads(data)
            if part.get("error"):
                raise fault_in_answer(self._target, part["error"])
            for name in ("id", "model", "usage"):
                if part.get(name):
                    self._head[name] = part[name]
            for choice in part.get("choices") or ():
                self._read_choice(choice)
        except (orjson.JSONDecodeError, AttributeError, KeyError, TypeError):
            raise ProviderFaultError(f"{self._target.model} sent a stream that cannot be read") from None

    def _read_choice(self, choice: dict[str, Any]) -> None:
        if choice.get("error"):
            raise fault_in_answer(self._target, choice["error"])
        delta = choice.get("delta") or {}
        has_content = bool(delta.get("tool_calls"))
        for name, parts in self._texts.items():
            if text := delta.get(name):
                parts.append(text)
                has_content = True
        for call in delta.get("tool_calls") or ():
            self._read_call(call)
        if logprobs := (choice.get("logprobs") or {}).get("content"):
            self._logprobs.extend(logprobs)
        if choice.get("finish_reason"):
            self._finish = choice["finish_reason"]
        if has_content and self.first_token_seconds is None:
            self.first_token_seconds = time.perf_counter() - self._started

    def _read_call(self, call: dict[str, Any]) -> None:
        known = self._calls.setdefault(call.get("index") or 0, {"id": None, "function": {"name": "", "arguments": ""}})
        known["id"] = call.get("id") or known["id"]
        function = call.get("function") or {}
        known["function"]["name"] += function.get("name") or ""
        known["function"]["arguments"] += function.get("arguments") or ""
