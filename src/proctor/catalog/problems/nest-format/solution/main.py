"""Format a Nest document, or turn it into JSON."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence

from printer import as_json, as_text
from scanner import NestError
from syntax import parse

USAGE = "usage: main.py fmt [--check] | json, with a document on standard input"
NOT_CANONICAL = 3


def convert(command: Sequence[str], text: str) -> tuple[int, str]:
    """Give exit code and output of a command; raises NestError."""
    document = parse(text)
    if command == ["json"]:
        return 0, json.dumps(as_json(document), ensure_ascii=False) + "\n"
    formatted = as_text(document)
    if command == ["fmt", "--check"]:
        return (0 if formatted == text else NOT_CANONICAL), ""
    return 0, formatted


def main(arguments: Sequence[str]) -> int:
    """Run the command on standard input, give the exit code."""
    command = list(arguments)
    if command not in (["json"], ["fmt"], ["fmt", "--check"]):
        print(USAGE, file=sys.stderr)
        return 2
    text = sys.stdin.buffer.read().decode("utf-8")
    try:
        code, output = convert(command, text)
    except NestError as error:
        print(error, file=sys.stderr)
        return 1
    sys.stdout.buffer.write(output.encode("utf-8"))
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
