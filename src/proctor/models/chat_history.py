"""Chat completions with a history in which tools were called."""

from __future__ import annotations

from collections.abc import Mapping

import orjson

from proctor.domain.message import Json, Message, Prompt, Text, ToolResult, ToolUse
from proctor.models.chat import ChatDialect


class ChatHistoryDialect(ChatDialect, frozen=True):
    """The same dialect; calls and results have places of their own in its messages."""

    def body(self, model: str, prompt: Prompt, options: Mapping[str, Json], *, is_streaming: bool) -> dict[str, Json]:
        if not any(_tool_parts(message) for message in prompt.messages):
            return ChatDialect.body(self, model, prompt, options, is_streaming=is_streaming)
        messages: list[Json] = []
        for message in prompt.messages:
            messages += _turns(message) or self._plain(message)
        body = ChatDialect.body(self, model, prompt.with_messages(()), options, is_streaming=is_streaming)
        return {**body, "messages": body["messages"] or messages}

    def _plain(self, message: Message) -> list[Json]:
        """The message as it stands among others."""
        written: list[Json] = ChatDialect.body(self, "", Prompt((message,)), {}, is_streaming=False)["messages"]
        return written


def _tool_parts(message: Message) -> list[ToolUse | ToolResult]:
    if isinstance(message.content, str):
        return []
    return [part for part in message.content if isinstance(part, (ToolUse, ToolResult))]


def _turns(message: Message) -> list[Json]:
    """An assistant's turn with its calls, or a turn for each result; nothing for any other message."""
    parts = _tool_parts(message)
    results = [part for part in parts if isinstance(part, ToolResult)]
    if results:
        return [{"role": "tool", "tool_call_id": part.call_id, "content": part.result} for part in results]
    calls = [
        {
            "id": part.call_id,
            "type": "function",
            "function": {"name": part.name, "arguments": orjson.dumps(part.arguments).decode()},
        }
        for part in parts
        if isinstance(part, ToolUse)
    ]
    if not calls:
        return []
    said = "".join(part.text for part in message.content if isinstance(part, Text))
    return [{"role": "assistant", "content": said or None, "tool_calls": calls}]
