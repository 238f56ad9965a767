"""Asks Oxfmt which files it would write otherwise; run as a script of its own.

Quotes, semicolons, indentation, trailing commas and the length of a line are a team's choice and not a matter of
quality: the first three are taken from the source, the others are tried.
"""

from __future__ import annotations

import itertools
import json
import subprocess
import sys
from pathlib import Path

WIDTHS = (80, 100, 120)
COMMAS = ("all", "none", "es5")
_SEMICOLONS_FROM = 0.05
"""The share of lines that end in a semicolon from which on a program is one that writes them."""


def habits(text: str) -> dict[str, bool | int]:
    """How this program writes what can be seen by counting."""
    lines = [line for line in text.splitlines() if line.strip()]
    ended = sum(line.rstrip().endswith(";") for line in lines)
    is_narrow = any(line.startswith("  ") and not line.startswith("   ") for line in lines)
    return {
        "singleQuote": text.count("'") > text.count('"'),
        "semi": ended > _SEMICOLONS_FROM * len(lines),
        "useTabs": sum(line.startswith("\t") for line in lines) > sum(line.startswith("  ") for line in lines),
        "tabWidth": 2 if is_narrow else 4,
    }


def unformatted(binary: str, settings: Path, paths: list[str]) -> list[str]:
    """A file that Oxfmt cannot read is not formatted; which one that is, it tells only of each alone."""
    asked = subprocess.run(  # noqa: S603  the tool, on plain names
        [binary, "--threads=1", "--disable-nested-config", f"--config={settings}", "--list-different", *paths],
        capture_output=True,
        text=True,
        check=False,
    )
    if asked.returncode == 0:
        return []
    if asked.returncode == 1:
        return asked.stdout.split()
    if len(paths) == 1 and asked.returncode == 2:
        return paths
    if asked.returncode != 2:
        sys.exit(asked.stderr[-300:] or f"oxfmt ended with {asked.returncode}")
    return [path for path in paths if unformatted(binary, settings, [path])]


def main(binary: str, *paths: str) -> None:
    """Print the layout that suits the program best, and the files that differ even then."""
    seen = habits("\n".join(Path(path).read_text(encoding="utf-8", errors="replace") for path in paths))
    settings = Path("layout.json")
    tried = []
    for commas, width in itertools.product(COMMAS, WIDTHS):
        layout = {**seen, "trailingComma": commas, "printWidth": width}
        settings.write_text(json.dumps(layout), encoding="utf-8")
        tried.append((unformatted(binary, settings, list(paths)), layout))
        if not tried[-1][0]:
            break
    wrong, layout = min(tried, key=lambda one: len(one[0]))
    print(json.dumps({"layout": layout, "unformatted": wrong}))  # noqa: T201  its answer


if __name__ == "__main__":
    main(*sys.argv[1:])
