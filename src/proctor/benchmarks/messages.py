"""Conversations in data: lists of {role, content}, as every chat interface writes them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast, get_args

from proctor.domain.errors import did_you_mean
from proctor.domain.message import Message, Part, Role, Text

_ROLES = get_args(Role)


def read_messages(value: Sequence[Any]) -> tuple[Message, ...]:
    """Messages, or one conversation wrapped in a list; raises ValueError saying what is wrong."""
    if len(value) == 1 and isinstance(value[0], list | tuple):
        value = value[0]
    return tuple(_message(item) for item in value)


def _message(value: Any) -> Message:
    if isinstance(value, Message):
        return value
    if not isinstance(value, Mapping) or not {"role", "content"} <= value.keys():
        raise ValueError(f"a message is {{role: …, content: …}}, not {value!r:.60}")
    role, content = value["role"], value["content"]
    if role not in _ROLES:
        raise ValueError(f"{role!r} is no role: {', '.join(_ROLES)}.{did_you_mean(str(role), _ROLES)}")
    if isinstance(content, str):
        return Message(cast("Role", role), content)
    if isinstance(content, list | tuple) and content:
        return Message(cast("Role", role), tuple(_part(part) for part in content))
    raise ValueError(f"a message's content is text or a list of parts, not {content!r:.60}")


def _part(value: Any) -> Part:
    if isinstance(value, Mapping) and value.get("type") == "text" and isinstance(value.get("text"), str):
        return Text(value["text"])
    raise ValueError(f"a part of a message is {{type: text, text: …}}, not {value!r:.60}")
