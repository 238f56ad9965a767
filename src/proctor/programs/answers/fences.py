"""Fenced blocks as models write them: indented, nested, left open."""

from __future__ import annotations

import ast
import re

from msgspec import Struct

from proctor.programs.answers.labels import path_in_comment, path_in_info, path_in_label, path_in_prose

_FENCE = re.compile(r"^(?P<indent>[ \t>]*)(?P<marks>`{3,}|~{3,})[ \t]*(?P<info>[^`\n]*?)[ \t]*$")
MARKDOWN = frozenset({"md", "markdown", "mdx"})
PYTHON = frozenset({"py", "python", "python3"})
LOOK_BACK = 3
"""Lines before a block in which its label may stand."""
MAX_FENCES = 2_000
MAX_DOUBTS = 20
"""Closing fences that may have stood in a docstring: each is tried by parsing."""


class Block(Struct, frozen=True):
    """One fenced block: what is said of it and what is in it."""

    language: str
    content: str
    path: str | None
    start: int
    end: int
    is_closed: bool = True
    source: str = ""
    """Where the path was found: info, label, comment or prose."""


class _Fence(Struct, frozen=True):
    line: int
    indent: str
    mark: str
    length: int
    info: str


def read_blocks(text: str) -> list[Block]:
    """Every fenced block, outermost only, in order."""
    lines = text.split("\n")
    fences = [fence for number, line in enumerate(lines) if (fence := _fence(number, line)) is not None][:MAX_FENCES]
    blocks: list[Block] = []
    place = 0
    free_from = 0
    while place < len(fences):
        opening = fences[place]
        closing = _closing(lines, fences, place)
        follower = fences[closing] if closing is not None else None
        end = len(lines) if follower is None else follower.line
        is_closed = follower is not None and not follower.info
        blocks.append(_block(lines, opening, end, free_from, is_closed=is_closed))
        free_from = end + 1 if is_closed else end
        place = len(fences) if closing is None else closing + is_closed
    return blocks


def _fence(number: int, line: str) -> _Fence | None:
    match = _FENCE.match(line)
    if match is None:
        return None
    marks = match["marks"]
    return _Fence(number, match["indent"], marks[0], len(marks), match["info"].strip())


def _closing(lines: list[str], fences: list[_Fence], place: int) -> int | None:
    """The fence at which the block ends: its closing one, or the next file's opening one where it was left open."""
    opening = fences[place]
    is_markdown = _language(opening.info) in MARKDOWN or (path_in_info(opening.info) or "").endswith((".md", ".mdx"))
    depth = 0
    doubtful: list[int] = []
    for index, fence in enumerate(fences[place + 1 :], start=place + 1):
        if fence.mark != opening.mark or fence.length < opening.length:
            continue
        if fence.info:
            if _is_a_new_file(fence, lines, is_markdown=is_markdown) and not doubtful and depth == 0:
                return index
            depth += fence.length == opening.length
        elif depth > 0:
            depth -= 1
        elif is_markdown and _opens_an_example(lines, fence.line) and _bare_after(fences, index, opening) >= 2:
            depth += 1
        elif len(doubtful) < MAX_DOUBTS and _is_cut_short(lines, opening, fence.line):
            doubtful.append(index)
        else:
            return index
    return doubtful[0] if doubtful else _any_closing(fences, place)


def _any_closing(fences: list[_Fence], place: int) -> int | None:
    """Where counting nested fences led nowhere: the first that could close the block at all."""
    opening = fences[place]
    for index in range(place + 1, len(fences)):
        fence = fences[index]
        if fence.mark == opening.mark and fence.length >= opening.length and not fence.info:
            return index
    return None


def _is_a_new_file(fence: _Fence, lines: list[str], *, is_markdown: bool) -> bool:
    if path_in_info(fence.info):
        return True
    if is_markdown:  # its examples have headings too
        return False
    label = next((line for line in reversed(lines[max(0, fence.line - 2) : fence.line]) if line.strip()), "")
    return label.lstrip().startswith(("#", "**", "`")) and path_in_label(label) is not None


def _opens_an_example(lines: list[str], line: int) -> bool:
    """Whether a bare fence in a Markdown file more likely opens an example than ends the file."""
    before = next((text for text in reversed(lines[:line]) if text.strip()), "").strip()
    return before.endswith(":") or before.startswith("#")


def _bare_after(fences: list[_Fence], index: int, opening: _Fence) -> int:
    return sum(
        1
        for fence in fences[index + 1 :]
        if not fence.info and fence.mark == opening.mark and fence.length >= opening.length
    )


def _is_cut_short(lines: list[str], opening: _Fence, end: int) -> bool:
    """A Python file that ends inside a string: the fence stood in a docstring."""
    path = path_in_info(opening.info) or ""
    if _language(opening.info) not in PYTHON and not path.endswith(".py"):
        return False
    content = "\n".join(lines[opening.line + 1 : end])
    if content.count('"""') % 2 == 0 and content.count("'''") % 2 == 0:
        return False
    try:
        ast.parse(content)
    except SyntaxError as error:
        return "unterminated triple-quoted" in (error.msg or "")
    except (ValueError, MemoryError, RecursionError):
        return False
    return False


def _block(lines: list[str], opening: _Fence, end: int, free_from: int, *, is_closed: bool) -> Block:
    content = [_dedented(line, opening.indent) for line in lines[opening.line + 1 : end]]
    path, source = _path(lines, opening, content, free_from)
    if path is not None and source == "comment" and path.endswith(".json"):
        content = content[1:]  # JSON has no comments: this line was for the reader
    text = "\n".join(content)
    text = text if not text or text.endswith("\n") else f"{text}\n"
    return Block(_language(opening.info), text, path, opening.line, end, is_closed, source)


def _dedented(line: str, indent: str) -> str:
    if not indent:
        return line
    return line.removeprefix(indent) if line.startswith(indent) else line.lstrip(" \t>")


def _path(lines: list[str], opening: _Fence, content: list[str], free_from: int) -> tuple[str | None, str]:
    if path := path_in_info(opening.info):
        return path, "info"
    before = lines[max(free_from, opening.line - LOOK_BACK) : opening.line]
    label = next((line for line in reversed(before) if line.strip()), "")
    if path := path_in_label(label):
        return path, "label"
    for line in content[:2]:
        if path := path_in_comment(line):
            return path, "comment"
        if not line.startswith("#!"):
            break
    if path := path_in_prose(label):
        return path, "prose"
    return None, ""


def _language(info: str) -> str:
    match = re.match(r"[\w+#.-]+", info)
    return match[0].lower() if match else ""
