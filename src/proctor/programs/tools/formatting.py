"""Asks Black, as a library, which files it would write otherwise; run as a script of its own.

Several line lengths are tried, because how long a line may be is a team's choice and not a matter of quality.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path


def unformatted(paths: list[str], length: int) -> list[str]:
    import black
    from black.parsing import InvalidInput
    from black.report import NothingChanged

    mode = black.Mode(line_length=length)
    wrong = []
    for path in paths:
        text = Path(path).read_text(encoding="utf-8", errors="surrogateescape")
        try:
            black.format_file_contents(text, fast=True, mode=mode)
        except NothingChanged:
            continue
        except (InvalidInput, ValueError, RecursionError):
            pass  # what Black cannot read, it has not formatted
        wrong.append(path)
    return wrong


def main(lengths: str, *paths: str) -> None:
    """Print the line length that suits the program best, and the files that differ even then."""
    tried = {length: unformatted(list(paths), length) for length in map(int, lengths.split(","))}
    best = min(tried, key=lambda length: len(tried[length]))
    print(json.dumps({"line_length": best, "unformatted": tried[best]}))  # noqa: T201  its answer


if __name__ == "__main__":
    main(*sys.argv[1:])
