"""What every export format keeps: bytes, piece by piece, the same each time; a run without trials is no fault."""

from __future__ import annotations

from pathlib import Path

import pytest

from plugins.example import names
from proctor import plugins
from proctor.reports.rows import RunRows
from proctor.runs.results import read_rows
from proctor.stores.database import Database
from reports.stored import FAILED, INVALID, Told, record


def _export(form: str, rows: RunRows) -> list[bytes]:
    if form == "parquet":
        pytest.importorskip("pyarrow")
    return list(plugins.create("exports", form, rows))


@pytest.mark.parametrize("form", names("exports"))
def test_every_trial_is_exported_in_bytes_the_same_each_time(form: str, database: Database, tmp_path: Path) -> None:
    marks = {"first-sample": 1.0, "second-sample": 0.0, "unread": INVALID, "down": FAILED}
    run = record(database, tmp_path, Told(marks))
    rows = read_rows(database, run)
    pieces = _export(form, rows)
    assert all(isinstance(piece, bytes) for piece in pieces)
    whole = b"".join(pieces)
    assert whole == b"".join(_export(form, rows))
    assert not [name for name in marks if name.encode() not in whole]


@pytest.mark.parametrize("form", names("exports"))
def test_a_run_without_trials_can_be_exported(form: str, database: Database, tmp_path: Path) -> None:
    run = record(database, tmp_path, Told({}))
    assert all(isinstance(piece, bytes) for piece in _export(form, RunRows(run, lambda: iter(()))))
