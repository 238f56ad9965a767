"""Write a Nest document in its canonical form, or as JSON."""

from __future__ import annotations

import json
import re
from typing import Any

from syntax import Block, Setting, Value

INDENT = "  "
_NAMED = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t"}
_SPECIAL = re.compile(r'["\\\x00-\x1f\x7f]')


def as_json(block: Block) -> dict[str, Any]:
    """Give a block as an object of JSON."""
    members: dict[str, Any] = {}
    for entry in block.entries:
        if isinstance(entry, Setting):
            members[entry.key] = entry.value
        elif entry.label is None:
            members[entry.key] = as_json(entry)
        else:
            members.setdefault(entry.key, {})[entry.label] = as_json(entry)
    return members


def as_text(document: Block) -> str:
    """Give a document in its canonical form."""
    return "".join(f"{line}\n" for line in _contents(document, ""))


def _contents(block: Block, indent: str) -> list[str]:
    lines: list[str] = []
    was_block = False
    for entry in block.entries:
        is_block = isinstance(entry, Block)
        if lines and (is_block or was_block):
            lines.append("")
        lines += _entry(entry, indent)
        was_block = is_block
    if block.last_comments and was_block:
        lines.append("")
    return lines + [indent + comment for comment in block.last_comments]


def _entry(entry: Setting | Block, indent: str) -> list[str]:
    lines = [indent + comment for comment in entry.comments]
    if isinstance(entry, Setting):
        own = f"  {entry.own}" if entry.own else ""
        return [*lines, f"{indent}{entry.key} = {_value(entry.value)}{own}"]
    label = "" if entry.label is None else f" {_string(entry.label)}"
    head = f"{indent}{entry.key}{label} {{"
    contents = _contents(entry, indent + INDENT)
    if not contents:
        return [*lines, head + "}"]
    return [*lines, head, *contents, indent + "}"]


def _value(value: Value) -> str:
    if isinstance(value, list):
        return "[" + ", ".join(map(_value, value)) + "]"
    return _string(value) if isinstance(value, str) else json.dumps(value)


def _string(text: str) -> str:
    return f'"{_SPECIAL.sub(_escape, text)}"'


def _escape(match: re.Match[str]) -> str:
    character = match[0]
    return _NAMED.get(character) or f"\\u{{{ord(character):x}}}"
