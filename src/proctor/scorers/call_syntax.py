"""Tool calls that a model wrote as text: JSON, or Python's call syntax. Nothing is ever executed."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from itertools import islice

from proctor.domain.message import Json
from proctor.domain.response import ToolCall
from proctor.scorers.json_values import NOTHING, json_values, loaded
from proctor.scorers.lazy_pattern import lazy_pattern

MAX_LENGTH = 20_000
MAX_CALLS = 200
MAX_BRACKETS = 60
"""So many closing brackets are tried as the end of a call."""
NAMES = ("name", "tool", "tool_name", "function", "function_name", "action")
ARGUMENTS = ("arguments", "parameters", "args", "input", "action_input", "tool_input")
_WRAPPERS = ("tool_calls", "function_calls", "calls")
_NAMED = lazy_pattern(
    r"<function=(?P<tag>[\w.-]+)>|\bAction:[ \t]*(?P<action>[\w.-]+)\s+Action[ _]Input:[ \t]*", re.IGNORECASE
)
_INVOKED = lazy_pattern(r"<invoke name=\"(?P<name>[\w.-]+)\">(?P<body>.*?)(?:</invoke>|\Z)", re.DOTALL)
_PARAMETER = lazy_pattern(r"<parameter name=\"([\w.-]+)\"[^>]*>(.*?)</parameter>", re.DOTALL)
_CALL = lazy_pattern(r"(?<![\w.\"'])[A-Za-z_][\w.]*\(")
_CONSTANTS = {"true": True, "false": False, "null": None, "none": None}


def calls_in(text: str) -> list[ToolCall] | None:
    """The calls written in a text, or None when there are none to be read."""
    text = text[:MAX_LENGTH].strip()
    whole = loaded(text)
    if whole is not NOTHING:
        return _calls_of(whole)
    named = list(_named_calls(text))
    if named:
        return named
    written = [call for value in json_values(text) for call in _calls_of(loaded(value)) or ()]
    return written or _python_calls(text)


def _named_calls(text: str) -> Iterator[ToolCall]:
    """'<function=name>{…}' and 'Action: name, Action Input: {…}': the name stands before its arguments."""
    for found in _NAMED.finditer(text):
        values = json_values(text[found.end() :])
        if values and text.startswith(values[0], found.end()) and values[0].startswith("{"):
            yield ToolCall(found["tag"] or found["action"], loaded(values[0]))
    for found in _INVOKED.finditer(text):
        given = {name: value.strip() for name, value in _PARAMETER.findall(found["body"])}
        read = {name: loaded(value) for name, value in given.items()}
        yield ToolCall(found["name"], {name: given[name] if read[name] is NOTHING else read[name] for name in given})


def _calls_of(document: Json) -> list[ToolCall] | None:
    if isinstance(document, dict):
        for wrapper in _WRAPPERS:
            if isinstance(document.get(wrapper), list):
                document = document[wrapper]
                break
    entries = document if isinstance(document, list) else [document]
    calls = [call for entry in entries if (call := _json_call(entry)) is not None]
    return calls if calls and len(calls) == len(entries) else None


def _json_call(entry: Json) -> ToolCall | None:
    """{"name": …, "arguments": {…}} or {"function": {…}} or {name: {…}}."""
    if not isinstance(entry, dict):
        return None
    entry = entry["function"] if isinstance(entry.get("function"), dict) else entry
    name = next((entry[key] for key in NAMES if isinstance(entry.get(key), str)), None)
    given = [entry[key] for key in ARGUMENTS if key in entry]
    if name is not None and (given or len(entry) == 1):
        return ToolCall(name, _arguments(given[0]) if given else {})
    if len(entry) == 1:
        name, arguments = next(iter(entry.items()))
        return ToolCall(name, arguments) if isinstance(arguments, dict) else None
    return None


def _arguments(given: Json) -> Json:
    """Endpoints give the arguments as JSON in a text, and models copy that."""
    value = loaded(given) if isinstance(given, str) else given
    return value if isinstance(value, Mapping) else given


def _python_calls(text: str) -> list[ToolCall] | None:
    """name(argument=value), alone, in a list or in a sentence; one whose values are no literals spoils them all."""
    calls: list[ToolCall] = []
    position = 0
    for _ in range(MAX_CALLS):
        found = _CALL.search(text, position)
        if found is None:
            break
        node, position = _call_at(text, found)
        if node is None:
            return None
        if node.args:  # 'the function(s)', print(…): not written with names, so it is none of the calls
            continue
        try:
            arguments = {word.arg: _literal(word.value) for word in node.keywords if word.arg}
        except (ValueError, TypeError, RecursionError, MemoryError, SyntaxError):
            return None
        calls.append(ToolCall(ast.unparse(node.func), arguments))
    return calls or None


def _call_at(text: str, found: re.Match[str]) -> tuple[ast.Call | None, int]:
    """The call that begins here and where it ends; nothing when no closing bracket makes it one."""
    for closing in islice(re.finditer(r"\)", text[found.end() :]), MAX_BRACKETS):
        end = found.end() + closing.end()
        try:
            node = ast.parse(text[found.start() : end], mode="eval").body
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue
        return (node if isinstance(node, ast.Call) else None), end
    return None, len(text)


def _literal(node: ast.expr) -> Json:
    """A literal's value; true, false and null are what they are in JSON."""
    if isinstance(node, ast.Name) and node.id.lower() in _CONSTANTS:
        return _CONSTANTS[node.id.lower()]
    if isinstance(node, ast.List | ast.Tuple):
        return [_literal(item) for item in node.elts]
    if isinstance(node, ast.Dict):
        return {
            ast.literal_eval(key): _literal(value) for key, value in zip(node.keys, node.values, strict=True) if key
        }
    return ast.literal_eval(node)
