"""Comments that tell tools to look away are not heeded, whichever tool they are for."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest

from proctor.scorers.programs import reading
from proctor.scorers.programs.tools.comments import wordless

BRANCHES = "".join(f"    if x == {number}:\n        return {number}\n" for number in range(12))
UGLY = f"import os\nX = {{  'a':1 }}\ndef hard(x: int) -> str:\n{BRANCHES}    return undefined + x\n"


def quality(files: Mapping[str, str], language: str = "python") -> dict[str, Any]:
    return asyncio.run(reading.quality({path: text.encode() for path, text in files.items()}, language))


def figures(found: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "ruff": sorted(one["code"] for one in found["ruff"]["findings"]),
        "mypy": sorted(one["code"] for one in found["mypy"]["findings"]),
        "black": found["black"]["formatted"],
        "complexity": (found["complexity"]["functions"], found["complexity"]["simple"]),
    }


@pytest.fixture(scope="module")
def honest() -> dict[str, Any]:
    return figures(quality({"main.py": UGLY}))


def test_an_ugly_program_is_found_out(honest: Mapping[str, Any]) -> None:
    assert {"F401", "F821"} <= set(honest["ruff"])
    assert "name-defined" in honest["mypy"]
    assert (honest["black"], honest["complexity"]) == (0, (1, 0))


@pytest.mark.parametrize(
    "comment",
    [
        *("# type: ignore", "# mypy: ignore-errors", "# pyright: basic", "# pylint: skip-file"),
        *("# fmt: off", "# yapf: disable", "# fmt: skip", "# ruff: noqa", "# flake8: noqa", "#lizard forgive global"),
        *("# #lizard forgives", "# lizard forgives", "# GENERATED CODE", "# -*- coding: latin-1; type: ignore -*-"),
    ],
)
def test_a_comment_on_the_first_line_silences_nothing(comment: str, honest: Mapping[str, Any]) -> None:
    assert figures(quality({"main.py": f"{comment}\n{UGLY}"})) == honest


def test_comments_inside_silence_nothing(honest: Mapping[str, Any]) -> None:
    inside = UGLY.replace("-> str:\n", "-> str:\n    # lizard forgives\n    #lizard forgives(cyclomatic_complexity)\n")
    tail = "  # type: ignore # noqa # fmt: skip # pyright: ignore"
    assert figures(quality({"main.py": inside.replace("undefined + x", f"undefined + x{tail}")})) == honest


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
