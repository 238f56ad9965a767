"""What a program may be at most, said in one place."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor.domain.submission import (
    MAX_BYTES,
    MAX_DEPTH,
    MAX_FILES,
    MAX_NAME_LENGTH,
    MAX_PATH_LENGTH,
    Collected,
    beyond_limits,
    clean_path,
)

DEEP = "/".join(["a"] * MAX_DEPTH)


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("../x", "leads out"),
        ("a/../x", "leads out"),
        ("/etc/passwd", "absolute"),
        ("a//b", "plain form"),
        ("a/./b", "plain form"),
        ("a/", "plain form"),
        ("", "plain form"),
        ("a\nb", "control characters"),
        ("x\0y", "control characters"),
        ("a\x9b31m.py", "control characters"),
        ("gpj.\u202eyp.py", "control characters"),
        ("a\u2066b.py", "control characters"),
        ("a\u2028b.py", "control characters"),
        (f"{DEEP}/a/x", "folders deep"),
        ("x" * (MAX_NAME_LENGTH + 1), "longer than"),
        ("/".join(["x" * 60] * 4), "longer than"),
        ("x\udcff", "not Unicode"),
    ],
)
def test_a_file_that_cannot_be_laid_out_is_refused_with_the_reason(path: str, words: str) -> None:
    assert words in (beyond_limits({"main.py": b"", path: b""}) or "")


def test_too_much_is_refused_and_the_most_is_not() -> None:
    assert "1,001 files" in (beyond_limits({f"f{n}": b"" for n in range(MAX_FILES + 1)}) or "")
    assert "at most 16 MiB" in (beyond_limits({"a": bytes(MAX_BYTES), "b": b"x"}) or "")
    assert "'a' cannot be a file and a folder" in (beyond_limits({"a/b/c": b"", "a": b""}) or "")
    assert beyond_limits({f"f{n}": b"" for n in range(MAX_FILES)}) is None
    assert beyond_limits({"a": bytes(MAX_BYTES)}) is None


@pytest.mark.parametrize(
    "path", [f"{DEEP}/x", "x" * MAX_NAME_LENGTH, "a\\b.py", "~x", "C:x", " x ", "ünïcode/naïve file"]
)
def test_whatever_names_a_file_where_programs_run_is_accepted(path: str) -> None:
    assert beyond_limits({path: b"", "Main.py": b"", "main.py": b""}) is None


def test_a_path_may_be_as_deep_as_is_said() -> None:
    assert clean_path(f"{DEEP}/x.py") == f"{DEEP}/x.py"
    with pytest.raises(ValueError, match=f"more than {MAX_DEPTH} folders deep"):
        clean_path(f"{DEEP}/a/x.py")


@given(st.lists(st.text("ab/.~\\ \n:", max_size=MAX_PATH_LENGTH + 5), max_size=8))
def test_what_is_taken_from_an_answer_is_within_the_limits_of_a_program(paths: list[str]) -> None:
    taken = Collected()
    for path in paths:
        taken.take(path, b"x")
    assert beyond_limits(taken.files) is None
