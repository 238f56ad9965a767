"""Chat completions with a history in which tools were called."""

from __future__ import annotations

import orjson

from proctor.domain.message import Json, Message, Text, ToolResult, ToolUse
from proctor.models.chat import ChatDialect


class ChatHistoryDialect(ChatDialect, frozen=True):
    """The same dialect; calls and results have places of their own in its messages."""

    def turns(self, message: Message) -> list[Json]:
        """An assistant's turn with its calls, or a turn for each result; any other message as it is."""
        results = [part for part in message.content if isinstance(part, ToolResult)]
        if results:
            return [{"role": "tool", "tool_call_id": part.call_id, "content": part.result} for part in results]
        calls = [
            {
                "id": part.call_id,
                "type": "function",
                "function": {"name": part.name, "arguments": orjson.dumps(part.arguments).decode()},
            }
            for part in message.content
            if isinstance(part, ToolUse)
        ]
        if not calls:
            return ChatDialect.turns(self, message)
        said = "".join(part.text for part in message.content if isinstance(part, Text))
        return [{"role": "assistant", "content": said or None, "tool_calls": calls}]
