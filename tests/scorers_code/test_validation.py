"""What is refused before it runs, with which reason; and what is not."""

from __future__ import annotations

import pytest

from proctor.scorers.code.validation import path_problem, source_problem
from scorers_code.conftest import rows


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("x = 1\n" * 60_000, "bytes of source"),
        ("x = '\0'", "binary"),
        ("\x7fELF\x02\x01", "binary"),
        ("PK\x03\x04", "binary"),
        ("x = '\ud800'", "half characters"),
        ("x = '" + "a" * 70_000 + "'", "a line of"),
    ],
)
def test_a_source_nobody_should_run_is_refused_with_the_reason(source: str, reason: str) -> None:
    assert reason in (source_problem(source) or "")


@pytest.mark.parametrize(
    "name",
    [
        "/etc/passwd",
        "../x",
        "a/../../x",
        "a/./b",
        "",
        "a//b",
        "a/",
        "C:\\x",
        "C:/x",
        "a\\b",
        "x\0y",
        "a\nb",
        "x" * 300,
        "/".join("abcdefghijkl"),
        "..",
    ],
)
def test_a_path_that_leads_elsewhere_is_refused(name: str) -> None:
    assert path_problem(name)


@pytest.mark.parametrize("name", ["main.py", "src/app.js", "ünïcode/naïve file.txt", ".gitignore", "a.b-c_d/e"])
def test_ordinary_files_are_accepted(name: str) -> None:
    assert path_problem(name) is None


def test_real_solutions_are_accepted() -> None:
    for row in rows("humaneval"):
        assert source_problem(row["prompt"] + row["canonical_solution"]) is None
    for row in rows("mbpp"):
        assert source_problem(row["code"].replace("\r\n", "\n")) is None
