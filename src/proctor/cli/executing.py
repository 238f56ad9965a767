"""What `run` and `resume` have in common: execute, watch, report, pass the gates."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Any

import click

from proctor.cli.door import run_until_done
from proctor.cli.gates import check_gates, read_gates
from proctor.cli.workplace import database, print_json, surroundings
from proctor.domain.plan import Plan
from proctor.domain.run import RunStatus
from proctor.runs.execute import Execution, carry_out, submit
from proctor.runs.resolve import resolve
from proctor.settings import Settings

if TYPE_CHECKING:
    from proctor.stores.database import Database

INTERRUPTED = "interrupted"


def execute_plan(plan: Plan, *, is_json: bool, fail_under: tuple[str, ...]) -> None:
    gates = read_gates(fail_under)
    with database() as opened:
        execution = submit(plan, surroundings(Settings.from_environment()), opened)
        finish(execution, opened, is_json=is_json, gates=gates)


def finish(execution: Execution, opened: Database, *, is_json: bool, gates: dict[str, float]) -> None:
    """Execute, show the result, and end the process with the exit code it deserves."""
    started = time.monotonic()
    status = _watch(execution)
    from proctor.runs.reading import read_run

    document = read_run(opened, execution.run_id)
    document["execution_seconds"] = round(time.monotonic() - started, 3)
    if is_json:
        print_json(document)
    else:
        from proctor.cli.tables import print_outcome

        print_outcome(document, opened.path)
    failures = check_gates(document, gates)
    for failure in failures:
        click.echo(f"Gate failed: {failure}", err=True)
    if execution.stop_reason == INTERRUPTED:
        sys.exit(130)
    if status is not RunStatus.COMPLETED or failures:
        sys.exit(1)


def _watch(execution: Execution) -> RunStatus:
    if sys.stderr.isatty():
        from proctor.cli.live import LiveView as View
    else:
        from proctor.cli.plain import PlainView as View  # type: ignore[assignment]

    def interrupted() -> None:
        execution.stop(INTERRUPTED)
        view.note("Stopping: finishing the requests in flight. Ctrl-C again quits at once; nothing recorded is lost.")

    with View(execution.progress, execution.run_id) as view:
        return run_until_done(lambda: carry_out(execution), interrupted)


def dry_run(plan: Plan, *, is_json: bool) -> None:
    """Resolve everything, ask nothing, write nothing."""
    evaluations = resolve(plan, surroundings(Settings.from_environment()))
    document: dict[str, Any] = {
        "dry_run": True,
        "name": plan.name,
        "seed": plan.seed,
        "trials": sum(item.trials for item in evaluations),
        "estimated_requests": sum(item.trials * (1 + _follow_ups(item.samples)) for item in evaluations),
        "limits": plan.limits.model_dump(mode="json"),
        "evaluations": [
            {
                "model": item.label,
                "model_spec": str(item.model_spec),
                "endpoint": item.model.identity.endpoint,
                "benchmark": item.benchmark.name,
                "version": item.benchmark.version,
                "digest": item.fingerprint.digest,
                "samples": item.fingerprint.count,
                "epochs": item.epochs,
                "trials": item.trials,
                "options": dict(item.options),
                "scorers": {scorer.name: scorer.version for scorer in item.scorers},
            }
            for item in evaluations
        ],
    }
    if is_json:
        print_json(document)
    else:
        from proctor.cli.tables import print_dry_run

        print_dry_run(document)


def _follow_ups(samples: Any) -> int:
    """Turns after the first, as the first sample has them."""
    first = next(iter(samples), None)
    return 0 if first is None else len(first.follow_ups)
