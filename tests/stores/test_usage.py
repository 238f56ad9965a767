"""What is counted as used: each answer once, on its day, for its project; workers' time where it was spent."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from pathlib import Path

import pytest

from proctor.domain.documents.usage import UsagePrices
from proctor.domain.errors import UserError
from proctor.domain.scope import Scope
from proctor.runs.read import read_run
from proctor.runs.usage import report_usage
from proctor.stores.database import Database
from proctor.stores.usage import DAY_SECONDS, add_worker_time, read_usage
from reports.stored import FAILED, Told, record


def test_usage_is_what_the_runs_say(database: Database, tmp_path: Path) -> None:
    runs = [record(database, tmp_path, Told({"a": 1.0, "b": FAILED, "c": 0.0})) for _ in range(2)]
    add_worker_time(database, runs[0], 1.5)
    add_worker_time(database, runs[0], 2.0)
    add_worker_time(database, "000000000nil", 7.0)
    shown = [one for run in runs for one in read_run(database, run).evaluations]
    # Answers of the test are made at fixed moments: all of them are asked for.
    rows = read_usage(database, ["day", "project", "user", "model"], 0, 100_000)
    assert sum(row.answers + row.failed + row.cached for row in rows) == sum(one.trials for one in shown)
    assert sum(row.failed for row in rows) == sum(one.failed for one in shown)
    assert sum(row.input_tokens for row in rows) == sum(one.usage.input_tokens or 0 for one in shown)
    assert {row.key[1:3] for row in rows} == {("local", None)}
    today = datetime.now(UTC).date()
    report = report_usage(database, ["day", "project"], today, today, UsagePrices(3_600.0, 1e9))
    assert sum(item.worker_seconds or 0 for item in report.items) == 3.5
    assert sum(item.workers_usd or 0 for item in report.items) == 3.5
    [stored] = report.storage
    assert stored.bytes > 0
    assert stored.usd_a_month == stored.bytes
    assert (
        report_usage(database, ["model"]).items == [] or report_usage(database, ["model"]).items[0].workers_usd is None
    )


def test_a_project_sees_its_own_use(database: Database, tmp_path: Path) -> None:
    run = record(database.within(Scope("acme")), tmp_path, Told({"a": 1.0}))
    add_worker_time(database, run, 4.0)
    for name, count in (("acme", 1), ("other", 0)):
        mine = database.within(Scope(name))
        assert sum(row.answers for row in read_usage(mine, ["project"], 0, 100_000)) == count
        report = report_usage(mine, ["project"])
        assert sum(item.worker_seconds or 0 for item in report.items) == 4.0 * count
        assert len(report.storage) == count


def test_a_span_that_is_none_is_refused(database: Database) -> None:
    today = datetime.fromtimestamp(time.time() // DAY_SECONDS * DAY_SECONDS, UTC).date()
    assert len(report_usage(database).items) == 0
    with pytest.raises(UserError, match="is after the last"):
        report_usage(database, since=today.replace(year=today.year + 1), until=today)
