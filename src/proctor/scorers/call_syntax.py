"""Tool calls that a model wrote as text: JSON, or Python's call syntax. Nothing is ever executed."""

from __future__ import annotations

import ast
import re

import orjson

from proctor.domain.message import Json
from proctor.domain.response import ToolCall

LONGEST = 20_000
_FENCE = re.compile(r"```[a-z_]*\n?(.*?)```", re.DOTALL)
_TAG = re.compile(r"<tool_call>(.*?)</tool_call>", re.DOTALL)


def calls_in(text: str) -> list[ToolCall] | None:
    """The calls written in a text, or None when there are none to be read."""
    text = text[:LONGEST].strip()
    tagged = [call for part in _TAG.findall(text) for call in _json_calls(part.strip()) or ()]
    if tagged:
        return tagged
    fenced = _FENCE.search(text)
    body = (fenced[1] if fenced else text).strip()
    return _json_calls(body) or _python_calls(body)


def _json_calls(text: str) -> list[ToolCall] | None:
    try:
        document = orjson.loads(text)
    except orjson.JSONDecodeError:
        return None
    entries = document if isinstance(document, list) else [document]
    calls = [call for entry in entries if (call := _json_call(entry)) is not None]
    return calls if calls and len(calls) == len(entries) else None


def _json_call(entry: Json) -> ToolCall | None:
    """{"name": …, "arguments": {…}} or {"function": {…}} or {name: {…}}."""
    if not isinstance(entry, dict):
        return None
    entry = entry["function"] if isinstance(entry.get("function"), dict) else entry
    if isinstance(entry.get("name"), str):
        arguments = entry.get("arguments", entry.get("parameters", {}))
        return ToolCall(entry["name"], arguments)
    if len(entry) == 1:
        name, arguments = next(iter(entry.items()))
        return ToolCall(name, arguments) if isinstance(arguments, dict) else None
    return None


def _python_calls(text: str) -> list[ToolCall] | None:
    try:
        tree = ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    nodes = tree.elts if isinstance(tree, ast.List | ast.Tuple) else [tree]
    calls: list[ToolCall] = []
    for node in nodes:
        if not isinstance(node, ast.Call) or node.args:
            return None
        try:
            arguments = {word.arg: ast.literal_eval(word.value) for word in node.keywords if word.arg}
        except (ValueError, TypeError, RecursionError, MemoryError, SyntaxError):
            return None
        calls.append(ToolCall(ast.unparse(node.func), arguments))
    return calls or None
