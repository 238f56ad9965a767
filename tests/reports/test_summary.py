"""What the numbers of an evaluation say beside its score."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pytest

from proctor.runs.reading import read_run
from proctor.stores.database import Database
from reports.stored import Told, record


@pytest.mark.parametrize(("marks", "cost"), [([0.4, 0.9, 0.0], None), ([1.0, 0.9, 1.0], 0.15), ([0.0, 0.0, 0.0], None)])
def test_the_cost_of_a_right_answer_is_not_known_where_none_is_right(
    database: Database, tmp_path: Path, marks: list[float], cost: float | None
) -> None:
    told = Told({f"s{n}": mark for n, mark in enumerate(marks)}, cost_usd=Decimal("0.1"))
    [found] = read_run(database, record(database, tmp_path, told))["evaluations"]
    assert found["cost_per_correct_usd"] == (None if cost is None else pytest.approx(cost))
