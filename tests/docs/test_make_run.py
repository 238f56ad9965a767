"""`make run` does what the README shows under it."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_make_run_gives_the_commands_that_the_readme_shows() -> None:
    recipe = re.search(r"^run: .*\n((?:\t.*\n)+)", (ROOT / "Makefile").read_text(), re.MULTILINE)
    shown = re.search(r"## A first result.*?```console\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    assert recipe is not None
    assert shown is not None
    given = [line.removeprefix("\t@$(BIN)/") for line in recipe[1].splitlines()]
    lines = re.sub(r" \\\n\s+", " ", shown[1]).splitlines()
    assert given == [line.removeprefix("$ ") for line in lines if line.startswith("$ ")]
