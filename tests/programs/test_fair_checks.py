"""Checks of the shipped problems ask for what a requirement says, and for no particular way to do it."""

from __future__ import annotations

from pathlib import Path

from proctor.benchmarks.problems.folder import read_problem
from proctor.domain.workspace import Runner
from programs.programs import checked

CATALOG = Path(__file__).parents[2] / "src" / "proctor" / "catalog" / "problems"
CONNECTED = "                self._users.setdefault(used, set()).add(where)\n"
EAGER = "        for cell in list(self._formulas):\n            self._value(cell)\n"


def test_a_sheet_may_work_its_cells_out_when_they_are_put(runner: Runner) -> None:
    cells = read_problem(CATALOG / "cells")
    source = cells.solution["cells.py"].decode()
    assert source.count(CONNECTED) == 1
    eager = {**cells.solution, "cells.py": source.replace(CONNECTED, CONNECTED + EAGER).encode()}
    assert {str(result.status) for result in checked(cells, eager, runner).values()} == {"passed"}
