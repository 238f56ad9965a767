from __future__ import annotations

import re
from pathlib import Path

import pytest

pytest.importorskip("math_verify")

from fakes.descriptors import many_open_files
from proctor.domain.errors import BenchmarkError, ScorerError
from proctor.scorers import math
from proctor.scorers.math_process import MathProcess
from proctor.scorers.math_worker import MEMORY_BYTES
from scorers.scoring import score


@pytest.mark.parametrize(
    ("text", "target", "value"),
    [
        (r"So we get $\boxed{\frac{1}{2}}$.", "0.5", 1),
        (r"The answer is $x^2+2x+1$.", "(x+1)^2", 1),
        (r"\boxed{2\sqrt{3}}", r"\sqrt{12}", 1),
        (r"\boxed{(1,2)}", "(1,2)", 1),
        (r"\boxed{\$20}", r"\$20", 1),
        (r"\boxed{\$20}", r"\$21", 0),
        (r"\boxed{7}", "8", 0),
        (r"\boxed{20x + 23y - 69 = 0}", "0", 0),
        (r"\boxed{20x + 23y - 69 = 0}", "20x + 23y - 69 = 0", 1),
        (r"\boxed{x = 5}", "5", 1),
        (r"\boxed{5}", "x = 5", 1),
        (r"\boxed{x+1}", "x-1", 0),
    ],
)
def test_expressions_are_compared_by_meaning(text, target, value):
    assert score(math.create(), text, target).value == value


def test_a_response_without_an_expression_is_invalid():
    assert score(math.create(), "no idea", "3").is_invalid


def test_an_expression_that_hangs_is_killed_and_the_next_one_works():
    process = MathProcess()
    try:
        assert process.compare(r"\boxed{3}", ("3",), 30).is_equal
        first = process.pid
        assert process.compare(r"\boxed{9^{9^{9^{9^{9}}}}}", ("5",), 1).problem == "time"
        assert process.compare(r"\boxed{3}", ("3",), 30).is_equal
        second = process.pid
        assert first != second
        assert not process.compare(r"\boxed{3}", ("4",), 30).is_equal
        assert process.pid == second, "a process that did not hang is used again"
    finally:
        process.close()


def test_the_time_limit_must_be_sensible():
    with pytest.raises(BenchmarkError):
        math.create(timeout_seconds=0)


def test_a_run_with_many_connections_has_its_expressions_compared_too():
    process = MathProcess()
    try:
        with many_open_files():
            assert process.compare(r"\boxed{3}", ("3",), 30).is_equal
    finally:
        process.close()


def test_the_process_gets_none_of_our_environment_and_no_folder(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "secret")
    process = MathProcess()
    try:
        assert process.compare(r"\boxed{3}", ("3",), 30).is_equal
        running = Path(f"/proc/{process.pid}")
        names = {entry.partition(b"=")[0] for entry in (running / "environ").read_bytes().split(b"\0") if entry}
        assert names == {b"PATH", b"LANG", b"LC_ALL"}
        assert str((running / "cwd").readlink()).endswith("(deleted)"), "nothing can be made in a folder that is gone"
        limits = (running / "limits").read_text()
        assert re.search(r"Max processes\s+0\s+0\s", limits)
        assert re.search(rf"Max address space\s+{MEMORY_BYTES}\s+{MEMORY_BYTES}\s", limits)
    finally:
        process.close()


@pytest.mark.parametrize(
    "text", ["\ud800 half", "9" * 6000, rf"\boxed{{{'9' * 6000}}}", r"\frac{1}{0}", r"\sqrt{" * 3000]
)
def test_an_answer_the_comparison_breaks_off_on_is_wrong_or_invalid_and_never_a_fault(text):
    assert score(math.create(timeout_seconds=2), text, "3").value == 0


def test_a_target_that_cannot_be_compared_with_itself_is_a_fault():
    process = MathProcess()
    try:
        with pytest.raises(ScorerError, match="even with itself"):
            process.compare(r"\boxed{3}", (r"\sqrt{" * 3000 + "3" + "}" * 3000,), 1)
    finally:
        process.close()
