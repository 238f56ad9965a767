"""A part of the coverage table in docs/reference/statistics.md, simulated again by the script that prints it."""

from __future__ import annotations

import importlib.util
import re
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/reference/statistics.md"
ROUNDS = 300

pytestmark = pytest.mark.untraced


def load_script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("coverage_bench", ROOT / "bench/coverage.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # its dataclasses look their module up
    spec.loader.exec_module(module)
    return module


BENCH = load_script()
DESIGNS = {design.name: design for design in BENCH.DESIGNS}


@pytest.mark.parametrize(
    ("name", "share", "correlation"),
    [
        ("5 groups of 50", 0.9, 0.2),
        ("5 groups of 50", 0.95, 0.5),
        ("20 groups of 3", 0.9, 0.5),
        ("20 groups of 10", 0.5, 0.2),
        ("20 groups of 10", 0.95, 0.2),
        ("20 groups of 10", 0.95, 0.5),
        ("20 groups of 10", 0.98, 0.5),
        ("20 groups of 1 to 31", 0.9, 0.5),
        ("50 groups of 1 to 31", 0.98, 0.5),
        ("20 samples, 5 epochs", 0.95, 0.5),
        ("50 samples, 5 epochs", 0.98, 0.5),
    ],
)
def test_intervals_of_groups_and_epochs_hold_the_truth(name: str, share: float, correlation: float) -> None:
    """With Student's t nine of these covered 77 to 87 %."""
    assert BENCH.cover(DESIGNS[name], share, correlation, ROUNDS) >= 0.92


def rows_of_page() -> list[tuple[str, str, str]]:
    """Design, intraclass correlation and cells of each row of the table."""
    pattern = r"^\| (\d+ (?:groups|samples)[^|]*) \| \d+ \| ([\d.]+) \| (.*) \|$"
    return re.findall(pattern, PAGE.read_text(), re.MULTILINE)


@pytest.mark.parametrize(
    ("name", "correlation"),
    [
        ("10 groups of 5", "0.5"),
        ("3 groups of 50", "1"),
        ("20 samples, 5 epochs", "0.2"),
        ("20 groups of 1 to 31", "1"),
    ],
)
def test_the_page_shows_what_the_script_prints(name: str, correlation: str) -> None:
    """The seed is the cell's own, so that each can be worked out by itself, to the last digit."""
    [shown] = [cells for *row, cells in rows_of_page() if row == [name, correlation]]
    found = (BENCH.cover(DESIGNS[name], share, float(correlation), BENCH.ROUNDS) for share in BENCH.SHARES)
    assert shown.split(" | ") == [BENCH.cell_text(covered) for covered in found]


def test_the_page_shows_every_cell_and_marks_those_below_92_percent() -> None:
    """The bold cells are those of groups that are one answer each: Wilson's own, for so few samples."""
    rows = rows_of_page()
    assert [(name, float(correlation)) for name, correlation, _ in rows] == [
        (name, correlation) for name in DESIGNS for correlation in BENCH.CORRELATIONS
    ]
    for name, correlation, shown in rows:
        cells = shown.split(" | ")
        assert len(cells) == len(BENCH.SHARES)
        for cell in cells:
            assert cell.startswith("**") == (float(cell.strip("*")) < 92), (name, correlation, cell)
            assert not cell.startswith("**") or correlation == "1"
