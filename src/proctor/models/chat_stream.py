"""Chat completions, streamed."""

from __future__ import annotations

from typing import Any

from proctor.models.event_stream import EventStream
from proctor.models.faults import Target, fault_in_answer

REASONING = frozenset({"reasoning_content", "reasoning"})


class ChatStream(EventStream):
    def __init__(self, target: Target) -> None:
        super().__init__(target)
        self._head: dict[str, Any] = {}
        self._texts: dict[str, list[str]] = {"content": [], "refusal": [], "reasoning_content": [], "reasoning": []}
        self._calls: dict[int, dict[str, Any]] = {}
        self._logprobs: list[Any] = []
        self._finish: str | None = None

    def read_end(self) -> None:
        self.is_done = True

    def read(self, part: dict[str, Any]) -> None:
        if part.get("error"):
            raise fault_in_answer(self.target, part["error"])
        for name in ("id", "model", "usage"):
            if part.get(name):
                self._head[name] = part[name]
        for choice in part.get("choices") or ():
            self._read_choice(choice)

    def document(self) -> dict[str, Any]:
        message: dict[str, Any] = {name: "".join(parts) for name, parts in self._texts.items() if parts}
        if self._calls:
            message["tool_calls"] = [self._calls[index] for index in sorted(self._calls)]
        choice = {"message": message, "finish_reason": self._finish}
        if self._logprobs:
            choice["logprobs"] = {"content": self._logprobs}
        return {**self._head, "choices": [choice]}

    def _read_choice(self, choice: dict[str, Any]) -> None:
        if choice.get("error"):
            raise fault_in_answer(self.target, choice["error"])
        delta = choice.get("delta") or {}
        for name, parts in self._texts.items():
            if text := text_of(delta.get(name)):
                parts.append(text)
                self.note_text(**{"reasoning" if name in REASONING else "text": text})
        for call in delta.get("tool_calls") or ():
            self._read_call(call)
        if logprobs := (choice.get("logprobs") or {}).get("content"):
            self._logprobs.extend(logprobs)
        if choice.get("finish_reason"):
            self._finish = choice["finish_reason"]

    def _read_call(self, call: dict[str, Any]) -> None:
        self.note_token()
        known = self._calls.setdefault(call.get("index") or 0, {"id": None, "function": {"name": "", "arguments": ""}})
        known["id"] = call.get("id") or known["id"]
        function = call.get("function") or {}
        known["function"]["name"] += function.get("name") or ""
        known["function"]["arguments"] += function.get("arguments") or ""


def text_of(content: Any) -> Any:
    """The content; its text where a server gives it in parts, with its thoughts among them."""
    if isinstance(content, list):
        return "".join(part["text"] for part in content if part["type"] == "text")
    return content
