"""What the numbers of an evaluation say beside its score."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pytest

from proctor.metrics.labels import metric_title
from proctor.reports.run_page import run_page
from proctor.runs.read import read_run
from proctor.runs.report import read_report
from proctor.stores.database import Database
from reports.stored import Told, record


@pytest.mark.parametrize(("marks", "cost"), [([0.4, 0.9, 0.0], None), ([1.0, 0.9, 1.0], 0.15), ([0.0, 0.0, 0.0], None)])
def test_the_cost_of_a_right_answer_is_not_known_where_none_is_right(
    database: Database, tmp_path: Path, marks: list[float], cost: float | None
) -> None:
    told = Told({f"s{n}": mark for n, mark in enumerate(marks)}, cost_usd=Decimal("0.1"))
    [found] = read_run(database, record(database, tmp_path, told)).evaluations
    assert found.cost_per_correct_usd == (None if cost is None else pytest.approx(cost))


@pytest.mark.parametrize(
    ("label", "metric", "has_parts", "title"),
    [
        ("accuracy", "accuracy", False, None),
        ("accuracy", "accuracy", True, "mean score"),
        ("rubric.accuracy", "accuracy", True, "rubric mean score"),
        ("accuracy", "accuracy?threshold=0.7", True, None),
        ("mean", "mean?interval=bootstrap", True, "mean score"),
        ("macro_f1", "macro_f1", True, None),
    ],
)
def test_a_mean_of_partial_scores_is_not_called_accuracy(
    label: str, metric: str, has_parts: bool, title: str | None
) -> None:
    assert metric_title(label, metric, has_parts=has_parts) == title


def test_partial_scores_are_shown_as_a_mean_score_under_the_same_name(database: Database, tmp_path: Path) -> None:
    run = record(database, tmp_path, Told({"a": 0.5, "b": 1.0}), Told({"a": 1.0, "b": 0.0}, model="demo/b"))
    document = read_report(database, run)
    assert [item.metrics["accuracy"].title for item in document.evaluations] == ["mean score", None]
    summary = run_page(document).sections[0]
    assert "mean score [95 % interval]" in summary.tables[0].headers
    assert summary.charts[0].title == "mean score with 95 % interval"
