"""Counts words."""

import sys
from pathlib import Path


def main(paths: list[str]) -> int:
    """Print one number per file, or that of standard input."""
    if not paths:
        print(len(sys.stdin.read().split()))
        return 0
    for path in paths:
        try:
            with Path(path).open(encoding="utf-8") as file:
                print(len(file.read().split()))
        except OSError:
            print(f"cannot read {path}", file=sys.stderr)
            return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
