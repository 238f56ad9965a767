"""What commands call: functions that take values and give values, whoever calls them."""

from __future__ import annotations

import ast
import asyncio
import subprocess
import sys
from pathlib import Path

import pytest

import proctor
from proctor.domain.errors import FilterError, PlanError, RunError, UserError
from proctor.domain.plan import Plan
from proctor.domain.run import RunStatus
from proctor.planning.plan_file import plan_from
from proctor.runs.cancel import cancel_run
from proctor.runs.execute import execute_run, reopen, submit
from proctor.runs.execution import RunExecution
from proctor.runs.plans.dry_run import estimate_run
from proctor.runs.plans.metric_names import metrics_of_all, metrics_of_plan
from proctor.runs.plans.pilot import run_pilot
from proctor.runs.resolve import PlanContext, resolve
from proctor.stores.database import Database
from proctor.stores.runs import RunStore

HERE = PlanContext(Path(), {})
WRONG = {"benchmark": "puzzles", "where": {"category": ["dats"]}}


def plan(**more: object) -> Plan:
    return plan_from({"models": ["demo/strong"], "benchmarks": [{"benchmark": "arithmetic", "limit": 3}], **more})


@pytest.mark.parametrize(
    ("more", "field"),
    [
        ({"models": ["demo/weak", "dmo/x", "dmo/y"]}, ("models", 1)),
        ({"benchmarks": ["puzzles", "puzles"]}, ("benchmarks", 1)),
        ({"benchmarks": ["puzzles", WRONG]}, ("benchmarks", 1, "where", "category")),
        ({"until": "decided"}, ("until",)),
        ({"judge": ["dmo/x"]}, ()),
    ],
)
def test_a_mistake_carries_the_field_of_the_plan_it_is_in(more: dict[str, object], field: tuple[str | int]) -> None:
    with pytest.raises(UserError) as error:
        resolve(plan(**more), HERE)
    assert error.value.field == field


def test_a_mistake_is_found_in_the_same_field_when_only_metrics_are_asked_for() -> None:
    with pytest.raises(UserError) as error:
        metrics_of_plan(plan(benchmarks=["puzzles", "puzles"]), HERE)
    assert error.value.field == ("benchmarks", 1)
    assert metrics_of_plan(plan(), HERE) == metrics_of_all(resolve(plan(), HERE)) == ["accuracy"]


def test_a_filter_that_only_all_its_keys_together_break_is_the_field() -> None:
    where = {"id": ["arithmetic-1-0-0"], "category": ["dates"]}
    with pytest.raises(FilterError) as error:
        resolve(plan(benchmarks=[{"benchmark": "puzzles", "where": where}]), HERE)
    assert error.value.field == ("benchmarks", 0, "where")


def test_a_run_is_asked_to_stop_once_and_an_ended_one_refuses(database: Database) -> None:
    execution = submit(plan(), HERE, database)
    store = RunStore(database)
    lease = store.lease(execution.run_id)
    assert cancel_run(database, "latest") == execution.run_id
    store.finish(lease, RunStatus.CANCELLED, 0.1, "the run was cancelled")
    with pytest.raises(RunError, match=r"has already ended \(cancelled\)"):
        cancel_run(database, execution.run_id)


def test_looking_for_work_in_a_completed_run_is_no_part_of_its_time(database: Database) -> None:
    store = RunStore(database)
    first = submit(plan(), HERE, database)
    asyncio.run(execute_run(first))
    seconds = store.get(first.run_id).seconds
    asyncio.run(execute_run(reopen(store.get(first.run_id), HERE, database)))
    assert store.get(first.run_id).seconds == seconds > 0


def test_an_evaluation_that_needs_nothing_to_be_executed_is_the_one_that_was_recorded(database: Database) -> None:
    execution = submit(plan(models=["demo/strong", "demo/weak"]), HERE, database)
    recorded = list(execution.evaluations)
    asyncio.run(execute_run(execution))
    assert [item.id for item in recorded] == [row["id"] for row in RunStore(database).evaluation_rows(execution.run_id)]
    assert all(one is other for one, other in zip(execution.evaluations, recorded, strict=True))


def test_an_estimate_says_what_would_be_asked() -> None:
    wanted = plan(epochs=2)
    found = estimate_run(wanted, resolve(wanted, HERE), None, missing_keys=["A_KEY"])
    assert (found.trials, found.estimated_requests, found.pilot, found.missing_keys) == (6, 6, None, ["A_KEY"])
    [item] = found.evaluations
    assert (item.model, item.benchmark, item.samples, item.epochs) == ("demo/strong", "arithmetic", 3, 2)
    assert (found.cost.value_usd, found.cost.ci95_usd) == (0.0, (0.0, 0.0))


def test_a_pilot_needs_the_cache_and_an_end(database: Database) -> None:
    def fail(execution: RunExecution) -> RunStatus:
        store = RunStore(database)
        store.finish(store.lease(execution.run_id), RunStatus.FAILED, 0.1, "no answer came")
        return RunStatus.FAILED

    with pytest.raises(PlanError, match="--no-cache"):
        run_pilot(plan(cache=False), HERE, database, 1, fail)
    with pytest.raises(RunError, match="was not completed: no answer came"):
        run_pilot(plan(), HERE, database, 1, fail)


def test_nothing_below_the_command_line_loads_click() -> None:
    """A service that calls these functions has no terminal."""
    names = (
        "cancel gates execute resolve report rescore comparing.compare comparing.regression "
        "plans.dry_run plans.metric_names plans.pilot"
    )
    modules = ", ".join(f"proctor.runs.{name}" for name in names.split())
    code = f"import sys, {modules}; sys.exit('click' in sys.modules or 'proctor.settings' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


QUIET = (
    "batches",
    "costs",
    "domain",
    "engine",
    "judges",
    "metrics",
    "planning",
    "prompts",
    "reports",
    "runs",
    "stores",
)


@pytest.mark.parametrize("folder", QUIET)
def test_nothing_below_the_entry_points_writes_to_the_terminal(folder: str) -> None:
    """What is worth saying is an event, or part of what is returned."""
    for path in (Path(proctor.__file__).parent / folder).rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            written = ast.unparse(node) if isinstance(node, ast.Name | ast.Attribute) else ""
            assert written not in ("print", "sys.stderr", "sys.stdout"), f"{path.name}:{node.lineno}"  # type: ignore[attr-defined]
