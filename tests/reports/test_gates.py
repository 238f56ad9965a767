"""Gates: what makes a command fail."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from proctor.runs.comparing.regression import check_regression
from proctor.runs.gates import check_gates
from proctor.runs.read import read_run
from proctor.stores.database import Database
from reports.stored import FAILED, UNREADABLE, Told, record


def gate(database: Database, folder: Path, marks: list[float | str], bar: float) -> str | None:
    run = record(database, folder, Told({f"s{n:03}": mark for n, mark in enumerate(marks)}))
    [case] = check_gates(read_run(database, run), {"accuracy": bar}, [["accuracy"]])
    return case.problem


def test_a_model_that_breaks_its_judge_does_not_pass_a_gate(database: Database, tmp_path: Path) -> None:
    marks: list[float | str] = [*[1.0] * 12, *[UNREADABLE] * 8]
    assert gate(database, tmp_path, marks, 0.8) == (
        "demo/a on listed: accuracy is 1 (n=12), but 0.6 with its 8 unreadable marks counted as wrong, below 0.8."
    )
    assert gate(database, tmp_path, marks, 0.6) is None
    assert gate(database, tmp_path, [1.0] * 20, 0.8) is None


def test_a_model_that_fails_where_it_would_be_wrong_does_not_pass_a_gate(database: Database, tmp_path: Path) -> None:
    half: list[float | str] = [*[1.0] * 20, *[FAILED] * 20]
    assert gate(database, tmp_path, half, 0.8) == (
        "demo/a on listed: accuracy is 1 (n=20), but 0.5 with its 20 of 40 trials without a score counted as wrong, "
        "below 0.8."
    )
    assert gate(database, tmp_path, half, 0.5) is None
    few: list[float | str] = [*[1.0] * 199, FAILED]
    assert gate(database, tmp_path, few, 1.0) is None, "a fault or two fail no build"


def test_a_model_that_fails_where_it_was_right_before_is_worse_than_before(database: Database, tmp_path: Path) -> None:
    before = record(database, tmp_path, Told({f"s{n:03}": 1.0 for n in range(40)}))
    problems: list[Any] = []
    for failed in (20, 1, 0):
        marks: dict[str, float | str] = {f"s{n:03}": FAILED if n < failed else 1.0 for n in range(40)}
        after = record(database, tmp_path, Told(marks))
        [case] = check_regression(database, read_run(database, after), before)
        problems.append(case.problem)
    assert problems[0].startswith(
        f"demo/a on listed is worse than in run {before} with 20 trials without a score counted as wrong: "
        f"demo/a ({before}) is better by 50.0 points ["
    )
    assert problems[1:] == [None, None]


def test_a_model_that_breaks_its_judge_is_worse_than_before(database: Database, tmp_path: Path) -> None:
    """Its readable verdicts are no worse: left out, the others would hide that it got worse."""
    before = record(database, tmp_path, Told({f"s{n:03}": 1.0 for n in range(40)}))
    broken: dict[str, float | str] = {f"s{n:03}": UNREADABLE if n % 2 else 1.0 for n in range(40)}
    few: dict[str, float | str] = {f"s{n:03}": UNREADABLE if n == 7 else 1.0 for n in range(40)}
    problems: list[Any] = []
    for marks in (broken, few):
        after = record(database, tmp_path, Told(marks))
        [case] = check_regression(database, read_run(database, after), before)
        problems.append(case.problem)
    assert problems[0].startswith(
        f"demo/a on listed is worse than in run {before} with unreadable marks counted "
        f"as wrong: demo/a ({before}) is better by 50.0 points ["
    )
    assert problems[1] is None
