"""Takes the words out of Python comments, in place; a script of its own, because a tokenizer can be made to crash.

Every tool has comments that silence it, and new ones come with new versions. A comment without words silences none of
them, known or not; what is left of it keeps its length and its signs, so that lines and layout stay as they were.
"""

from __future__ import annotations

import io
import re
import sys
import tokenize
from pathlib import Path

_LETTER = re.compile(r"[^\W\d_]")


def wordless(content: bytes) -> bytes:
    """The same source with an x for each letter of a comment, as UTF-8 whatever it was written in."""
    encoding, _ = tokenize.detect_encoding(io.BytesIO(content).readline)
    text = content.decode(encoding).replace("\r\n", "\n").replace("\r", "\n")  # as Python itself reads it
    lines = text.split("\n")
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            row, start = token.start[0] - 1, token.start[1]
            lines[row] = lines[row][:start] + _LETTER.sub("x", token.string)
    return "\n".join(lines).encode("utf-8")


def main(*paths: str) -> None:
    """Fails where the comments of one file cannot be told from its code: nobody knows then what silences what."""
    for path in map(Path, paths):
        path.write_bytes(wordless(path.read_bytes()))


if __name__ == "__main__":
    main(*sys.argv[1:])
