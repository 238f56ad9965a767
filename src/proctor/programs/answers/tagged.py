"""Files between tags: <file path="main.py"> … </file>."""

from __future__ import annotations

import re

from msgspec import Struct

_TAGS = "file|artifact|document|source|module|code|create_file|write_file|write_to_file|boltAction"
_OPEN = re.compile(rf"<(?P<tag>{_TAGS})\b(?P<attributes>[^<>]*)>", re.IGNORECASE)
_ATTRIBUTE = re.compile(
    r"""\b(?:file_?path|path|file_?name|filename|name|src|title|identifier)\s*=\s*(?:"([^"]*)"|'([^']*)')""",
    re.IGNORECASE,
)
_INNER_PATH = re.compile(r"^\s*<(path|name|file_?name|filename|file_?path|source)>\s*(.*?)\s*</\1>", re.IGNORECASE)
_INNER_CONTENT = re.compile(r"<(content|contents|code|document_contents?|text)>", re.IGNORECASE)
_CDATA = re.compile(r"^\s*<!\[CDATA\[(.*)\]\]>\s*$", re.DOTALL)
_FENCED = re.compile(r"^\s*(?P<marks>`{3,}|~{3,})[^\n]*\n(?P<body>.*?)\n?[ \t]*(?P=marks)\s*$", re.DOTALL)


MAX_TAGS = 2_000


class Tagged(Struct, frozen=True):
    """A file between tags; `start` is where its opening tag stands."""

    path: str
    content: str
    start: int


def read_tagged(text: str) -> list[Tagged]:
    """The files, in order; tags without a path are none of ours."""
    found: list[Tagged] = []
    place = 0
    for _ in range(MAX_TAGS):
        opening = _OPEN.search(text, place)
        if opening is None:
            break
        place = opening.end()
        if opening["attributes"].rstrip().endswith("/"):
            continue
        end, after = _end(text, opening["tag"], place)
        entry = _entry(opening["attributes"], text[place:end])
        if entry is not None:
            found.append(Tagged(*entry, opening.start()))
            place = after
    return found


def _end(text: str, tag: str, start: int) -> tuple[int, int]:
    """Where the content ends: at a closing tag on a line of its own if there is one before the next file."""
    own_line = re.compile(rf"^[ \t]*</{re.escape(tag)}>[ \t]*$", re.IGNORECASE | re.MULTILINE)
    any_place = re.compile(rf"</{re.escape(tag)}>", re.IGNORECASE)
    following = _OPEN.search(text, start)
    limit = len(text) if following is None else following.start()
    for pattern, upto in ((own_line, limit), (any_place, limit), (own_line, len(text)), (any_place, len(text))):
        if match := pattern.search(text, start, upto):
            return match.start(), match.end()
    return len(text), len(text)


def _entry(attributes: str, content: str) -> tuple[str, str] | None:
    if match := _ATTRIBUTE.search(attributes):
        path = match[1] if match[1] is not None else match[2]
    elif match := _INNER_PATH.match(content):
        path, content = match[2], content[match.end() :]
    else:
        return None
    if inner := _INNER_CONTENT.search(content):
        end = content.rfind(f"</{inner[1]}>")
        content = (
            content[inner.end() : end]
            if end >= inner.end() and not content[end:].partition(">")[2].strip()
            else content
        )
    return path, _bare(content)


def _bare(content: str) -> str:
    """Without the wrapping that is not part of the file: CDATA, a fence, the line break after the tag."""
    if match := _CDATA.match(content):
        content = match[1]
    if match := _FENCED.match(content):
        content = match["body"]
    content = content.removeprefix("\n")
    content = re.sub(r"\n[ \t]*\Z", "\n", content)
    return content if not content or content.endswith("\n") else f"{content}\n"
