"""Conversations in data: lists of {role, content}, as every chat interface writes them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, cast, get_args

from proctor.benchmarks.files import from_data_url
from proctor.domain.errors import did_you_mean
from proctor.domain.message import Message, Part, Role, Text, ToolResult, ToolUse
from proctor.prompts.files import part_of

_ROLES = get_args(Role)


def read_messages(value: Sequence[Any]) -> tuple[Message, ...]:
    """Messages, or one conversation wrapped in a list; raises ValueError saying what is wrong."""
    if len(value) == 1 and isinstance(value[0], list | tuple):
        value = value[0]
    return _named(tuple(_message(item) for item in value))


def _message(value: Any) -> Message:
    if isinstance(value, Message):
        return value
    if not isinstance(value, Mapping) or "role" not in value or not ({"content", "tool_calls"} & value.keys()):
        raise ValueError(f"a message is {{role: …, content: …}}, not {value!r:.60}")
    role, content = value["role"], value.get("content")
    if role not in _ROLES:
        raise ValueError(f"{role!r} is no role: {', '.join(_ROLES)}.{did_you_mean(str(role), _ROLES)}")
    if value.get("tool_calls"):
        return _calling(role, content, value["tool_calls"])
    if role == "tool":
        return _result(value)
    if isinstance(content, str):
        return Message(cast("Role", role), content)
    if isinstance(content, list | tuple) and content:
        return Message(cast("Role", role), tuple(_part(part) for part in content))
    raise ValueError(f"a message's content is text or a list of parts, not {content!r:.60}")


def _calling(role: str, content: Any, calls: Any) -> Message:
    """A turn in which the model called tools, as chat completions write it."""
    if role != "assistant":
        raise ValueError(f"only an assistant's message has tool_calls, not one of the role {role!r}")
    said = (Text(content),) if isinstance(content, str) and content else ()
    return Message("assistant", (*said, *(_call(call) for call in calls)))


def _call(value: Any) -> ToolUse:
    function = value.get("function") if isinstance(value, Mapping) else None
    if not isinstance(function, Mapping) or not value.get("id") or not function.get("name"):
        raise ValueError(f"a tool call is {{id: …, function: {{name: …, arguments: …}}}}, not {value!r:.60}")
    arguments = function.get("arguments") or {}
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments)
        except json.JSONDecodeError:
            raise ValueError(f"the arguments of a tool call are JSON, not {arguments!r:.60}") from None
    return ToolUse(str(value["id"]), str(function["name"]), arguments)


def _result(value: Mapping[str, Any]) -> Message:
    content, call_id = value.get("content"), value.get("tool_call_id")
    if not isinstance(content, str) or not call_id:
        raise ValueError(f"a tool's result is {{role: tool, tool_call_id: …, content: text}}, not {dict(value)!r:.60}")
    return Message("tool", (ToolResult(str(call_id), str(value.get("name") or ""), content),))


def _named(messages: tuple[Message, ...]) -> tuple[Message, ...]:
    """Results name the tool they come from: some providers ask for it, and the call before them says it."""
    names = {
        part.call_id: part.name
        for message in messages
        if not isinstance(message.content, str)
        for part in message.content
        if isinstance(part, ToolUse)
    }
    return tuple(_with_names(message, names) for message in messages)


def _with_names(message: Message, names: Mapping[str, str]) -> Message:
    if message.role != "tool" or isinstance(message.content, str):
        return message
    results = [part for part in message.content if isinstance(part, ToolResult)]
    for part in results:
        if part.call_id not in names:
            raise ValueError(f"the result of the call {part.call_id!r} comes without that call before it")
    return replace(message, content=tuple(replace(part, name=names[part.call_id]) for part in results))


def _part(value: Any) -> Part:
    if isinstance(value, Mapping) and value.get("type") == "text" and isinstance(value.get("text"), str):
        return Text(value["text"])
    url, name = _file_in(value) if isinstance(value, Mapping) else (None, "")
    if isinstance(url, str):
        data, usual_name = from_data_url(url)
        return part_of(data, name or usual_name)
    raise ValueError(
        "a part of a message is {type: text, text: …}, {type: image_url, image_url: {url: data:…}} or "
        f"{{type: file, file: {{filename: …, file_data: data:…}}}}, not {value!r:.60}"
    )


def _file_in(value: Mapping[str, Any]) -> tuple[Any, str]:
    """The URL and the name of an image or a file, as chat completions write them."""
    kind = value.get("type")
    inner = value.get(kind) if kind in ("image_url", "file") else None
    if not isinstance(inner, Mapping):
        return None, ""
    return inner.get("url" if kind == "image_url" else "file_data"), str(inner.get("filename") or "")
