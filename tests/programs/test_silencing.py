"""Comments that tell tools to look away are not heeded, whichever tool they are for."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest

from proctor.programs import reading
from proctor.programs.tools.comments import wordless

BRANCHES = "".join(f"    if x == {number}:\n        return {number}\n" for number in range(12))
UGLY = f"import os\nX = {{  'a':1 }}\ndef hard(x: int) -> str:\n{BRANCHES}    return undefined + x\n"


def quality(files: Mapping[str, str], language: str = "python") -> dict[str, Any]:
    return asyncio.run(reading.quality({path: text.encode() for path, text in files.items()}, language))


INSIDE = UGLY.replace("-> str:\n", "-> str:\n    # lizard forgives\n    #lizard forgives(cyclomatic_complexity)\n")
TAIL = "  # type: ignore # noqa # fmt: skip # pyright: ignore"
COMMENTS = (
    *("# type: ignore", "# mypy: ignore-errors", "# pyright: basic", "# pylint: skip-file"),
    *("# fmt: off", "# yapf: disable", "# fmt: skip", "# ruff: noqa", "# flake8: noqa", "#lizard forgive global"),
    *("# #lizard forgives", "# lizard forgives", "# GENERATED CODE", "# -*- coding: latin-1; type: ignore -*-"),
)
PROGRAM = {
    "honest.py": UGLY,
    "inside.py": INSIDE.replace("undefined + x", f"undefined + x{TAIL}"),
    **{f"first_{number}.py": f"{comment}\n{UGLY}" for number, comment in enumerate(COMMENTS)},
}
TOOLS = ("ruff", "mypy", "black", "complexity")
Figures = dict[str, dict[str, list[str]]]


@pytest.fixture(scope="module")
def figures() -> Figures:
    """What each tool says of each file; the tools read several at once, as many as their findings have room for."""
    said: Figures = {}
    for paths in (list(PROGRAM)[start : start + 6] for start in range(0, len(PROGRAM), 6)):
        found = quality({path: PROGRAM[path] for path in paths})
        assert (found["complexity"]["functions"], found["complexity"]["simple"]) == (len(paths), 0)
        assert all(found[tool]["count"] == len(found[tool]["findings"]) for tool in TOOLS), "none was left out"
        for path in paths:
            codes = ((tool, [one["code"] for one in found[tool]["findings"] if one["file"] == path]) for tool in TOOLS)
            said[path] = {tool: sorted(of_tool) for tool, of_tool in codes}
    return said


def test_an_ugly_program_is_found_out(figures: Figures) -> None:
    honest = figures["honest.py"]
    assert {"F401", "F821"} <= set(honest["ruff"])
    assert "name-defined" in honest["mypy"]
    assert (honest["black"], honest["complexity"]) == (["format"], ["complexity 13"])


@pytest.mark.parametrize("number", range(len(COMMENTS)), ids=COMMENTS)
def test_a_comment_on_the_first_line_silences_nothing(number: int, figures: Figures) -> None:
    assert figures[f"first_{number}.py"] == figures["honest.py"]


def test_comments_inside_silence_nothing(figures: Figures) -> None:
    assert figures["inside.py"] == figures["honest.py"]


@pytest.mark.parametrize("comment", ["// #lizard forgives", "/* GENERATED CODE */", "// lizard forgive global"])
def test_comments_in_javascript_silence_nothing(comment: str) -> None:
    body = "".join(f"if (x == {number}) return {number};" for number in range(12))
    for script in (f"{comment}\nfunction hard(x) {{{body}}}\n", f"function hard(x) {{\n{comment}\n{body}}}\n"):
        found = quality({"main.js": script}, "javascript")["complexity"]
        assert (found["functions"], found["simple"]) == (1, 0)


def test_the_words_of_comments_go_and_nothing_else() -> None:
    source = '#!/usr/bin/env python3\nx = \'# type: ignore\'  #fmt: off\n\n\n"""# noqa\n"""\n# é: 3\n'
    expected = '#!/xxx/xxx/xxx xxxxxx3\nx = \'# type: ignore\'  #xxx: xxx\n\n\n"""# noqa\n"""\n# x: 3\n'
    assert wordless(source.encode()).decode() == expected
    assert wordless(b"\xef\xbb\xbfx = 1\r\ny = 2  # a\r") == b"x = 1\ny = 2  # x\n"


def test_code_that_an_encoding_hides_in_a_comment_is_read() -> None:
    assert wordless(b"# coding: utf-7\n# a +AAo-import os").decode() == "# xxxxxx: xxx-7\n# x \nimport os"


def test_where_comments_cannot_be_found_nothing_is_measured() -> None:
    found = quality({"main.py": "def broken(:\n    '''"})
    assert {tool["status"] for tool in found.values()} == {"not run"}
    assert "comments that silence it could not be found" in found["mypy"]["reason"]
