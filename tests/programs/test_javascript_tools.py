"""Oxlint and Oxfmt read programs in JavaScript, whatever their files are called and whatever their comments ask for."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from fakes.absence import break_tools, hide_packages
from proctor.programs import reading
from proctor.programs.tools.layouts import habits

CLEAN = """\
"use strict";

function greeting(name) {
  const polite = name === "" ? "nobody" : name;
  return { text: `good day, ${polite}`, length: polite.length };
}

module.exports = { greeting };
"""
WRONG = "function f( x ) { if (x = 1) { debugger }\n  return {  'a':1 }; x += 1 }\nmodule.exports = {f};\n"


def quality(files: Mapping[str, str | bytes]) -> dict[str, Any]:
    contents = {path: text if isinstance(text, bytes) else text.encode() for path, text in files.items()}
    return asyncio.run(reading.quality(contents, "javascript"))


def codes(tool: Mapping[str, Any]) -> set[tuple[str, str]]:
    return {(one["file"], one["code"]) for one in tool["findings"]}


def test_a_clean_program_has_no_findings() -> None:
    found = quality({"main.js": CLEAN})
    assert {name for name, tool in found.items() if tool["status"] == "ran"} == {
        *("oxlint", "oxfmt", "complexity", "duplication")
    }
    assert [tool["count"] for tool in found.values() if tool["status"] == "ran"] == [0, 0, 0, 0]
    assert (found["oxfmt"]["files"], found["oxfmt"]["formatted"]) == (1, 1)
    assert found["oxlint"]["version"]
    assert found["oxfmt"]["version"]
    assert found["ruff"]["reason"] == "it does not read JavaScript"


@pytest.mark.parametrize(
    "path", ["x.js", "x.mjs", "x.cjs", "node_modules/x.js", "dist/x.min.js", ".hidden/x.js", "--help.js", "a b/\n.js"]
)
def test_what_is_wrong_is_found_whatever_its_file_is_called(path: str) -> None:
    found = quality({"main.js": CLEAN, path: WRONG})
    assert {(path, "eslint(no-debugger)"), (path, "eslint(no-cond-assign)")} <= codes(found["oxlint"])
    assert {file for file, _ in codes(found["oxlint"])} == {path}
    assert codes(found["oxfmt"]) == {(path, "format")}


@pytest.mark.parametrize(
    "comment",
    [
        *("/* eslint-disable */", "/* oxlint-disable */", "// eslint-disable-next-line", "/* ESLint-disable */"),
        *("// prettier-ignore", "// oxfmt-ignore", '/* eslint no-debugger: "off" */'),
    ],
)
def test_no_comment_silences_them(comment: str) -> None:
    plain, asked = quality({"main.js": WRONG}), quality({"main.js": f"{comment}\n{WRONG}"})
    assert codes(asked["oxlint"]) == codes(plain["oxlint"]) != set()
    assert codes(asked["oxfmt"]) == {("main.js", "format")}


def test_settings_that_a_program_brings_along_are_not_heeded() -> None:
    settings = {".oxlintrc.json": '{"ignorePatterns": ["**"]}', ".eslintignore": "*", ".prettierignore": "*"}
    found = quality({"main.js": WRONG, **settings})
    assert found["oxlint"]["count"] >= 2
    assert found["oxfmt"]["formatted"] == 0


@pytest.mark.parametrize(
    "text",
    [
        CLEAN.replace('"', "'"),
        CLEAN.replace(";", ""),
        CLEAN.replace("  ", "    "),
        CLEAN.replace("  ", "\t"),
        CLEAN.replace("\n", "\r\n"),
        "const words = [" + ", ".join(['"word"'] * 10) + "];\n",
        "const words = [\n" + ",\n".join(['  "a rather long word"'] * 10) + "\n];\n",
    ],
    ids=["single quotes", "no semicolons", "four spaces", "tabs", "carriage returns", "long lines", "no last comma"],
)
def test_a_teams_choices_are_no_matter_of_quality(text: str) -> None:
    assert quality({"main.js": text})["oxfmt"]["formatted"] == 1


def test_choices_must_be_the_same_in_the_whole_program() -> None:
    found = quality({"a.js": CLEAN, "b.js": CLEAN, "c.js": CLEAN.replace('"', "'")})["oxfmt"]
    assert codes(found) == {("c.js", "format")}


def test_habits_are_seen_by_counting() -> None:
    assert habits(CLEAN) == {"singleQuote": False, "semi": True, "useTabs": False, "tabWidth": 2}
    assert habits("") == {"singleQuote": False, "semi": False, "useTabs": False, "tabWidth": 4}


def test_a_file_that_cannot_be_read_is_wrong_and_unformatted_and_the_others_are_read_all_the_same() -> None:
    found = quality({"main.js": CLEAN, "broken.js": "function (", "bytes.js": b"\xff\xfe\x00"})
    assert {file for file, _ in codes(found["oxlint"])} == {"broken.js", "bytes.js"}
    assert codes(found["oxfmt"]) == {("broken.js", "format"), ("bytes.js", "format")}


def test_a_tool_that_is_not_there_or_fails_is_stated_and_takes_its_weight_along(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    hide_packages(monkeypatch, "oxlint", "oxfmt")
    found = quality({"main.js": CLEAN})
    assert found["oxlint"]["status"] == found["oxfmt"]["status"] == "not run"
    assert "oxlint is not installed" in found["oxlint"]["reason"]
    monkeypatch.undo()

    break_tools(monkeypatch, tmp_path, "bin/oxlint", "bin/oxfmt")
    found = quality({"main.js": CLEAN})
    assert found["oxlint"]["status"] == found["oxfmt"]["status"] == "not run"
    assert "it broke" in found["oxlint"]["reason"]
    assert "it broke" in found["oxfmt"]["reason"]
