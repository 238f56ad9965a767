"""What `run` and `resume` have in common: execute, watch, report, pass the gates."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import asdict

from proctor.cli.context import print_json
from proctor.cli.echo import echo
from proctor.cli.event_loop import run_until_done
from proctor.cli.gates import write_reports
from proctor.cli.hints import resume_command
from proctor.cli.notices import show_notices
from proctor.domain.documents.evaluation import EvaluationSummary
from proctor.domain.documents.run import ExecutedRun, RunSummary
from proctor.domain.run import INTERRUPTED_REASON, RunStatus
from proctor.runs.execute import execute_run
from proctor.runs.execution import RunExecution
from proctor.runs.gates import check_gates
from proctor.runs.plans.metric_names import metrics_of_each
from proctor.telemetry.run_traces import trace_runs

if TYPE_CHECKING:
    from proctor.stores.database import Database

STOPPING = "Stopping: waiting for the requests in flight. Ctrl-C again quits at once; nothing recorded is lost."


def finish(
    execution: RunExecution,
    opened: Database,
    *,
    is_json: bool,
    gates: Mapping[str, float],
    baseline: str | None = None,
    reports: Sequence[Path] = (),
) -> None:
    """Execute, show the result, and end the process with the exit code it deserves."""
    started = time.monotonic()
    watch(execution)
    conclude(
        execution.run_id,
        opened,
        seconds=time.monotonic() - started,
        is_interrupted=execution.stop_reason == INTERRUPTED_REASON,
        is_json=is_json,
        gates=gates,
        expected=metrics_of_each(execution.evaluations),
        baseline=baseline,
        reports=reports,
    )


def conclude(
    run_id: str,
    opened: Database,
    *,
    seconds: float,
    is_interrupted: bool,
    is_json: bool,
    gates: Mapping[str, float],
    expected: Sequence[Sequence[str]] | None = None,
    baseline: str | None = None,
    reports: Sequence[Path] = (),
) -> None:
    """Show the result of a run that has ended, whoever executed it, and end the process with its exit code.

    `expected` are the metrics that each evaluation set out to measure; left out, those that it has.
    """
    from proctor.runs.read import read_run

    run = read_run(opened, run_id)
    execution_seconds, status = round(seconds, 3), run.status
    results = check_gates(run, gates, expected or [list(item.metrics) for item in run.evaluations])
    if baseline is not None:
        from proctor.runs.comparing.regression import (
            check_regression,  # few runs have a baseline, and it is not free to import
        )

        results += check_regression(opened, run, baseline)
    problems = [*problems_of(run, status), *(item.problem for item in results if item.problem is not None)]
    if is_json:
        write_reports(opened, run_id, reports, results)  # a report that cannot be written is a document, too
        print_json(ExecutedRun(**asdict(run), execution_seconds=execution_seconds, problems=problems))
    else:
        from proctor.cli.outcome import print_outcome

        print_outcome(run, opened.label)
    sys.stdout.flush()  # what went well comes before what did not
    for problem in problems:
        echo(f"Error: {problem}", err=True)
    if not is_json:
        write_reports(opened, run_id, reports, results)
    if is_interrupted:
        sys.exit(130)
    if status is not RunStatus.COMPLETED or problems:
        sys.exit(1)


def problems_of(run: RunSummary, status: RunStatus) -> list[str]:
    """Why the run itself is no success, if it is not."""
    if status is RunStatus.COMPLETED:
        return [problem for item in run.evaluations if (problem := _mostly_failed(item, run.run_id))]
    verb = "failed" if status is RunStatus.FAILED else "was stopped"
    reason = (run.error or "").rstrip(".")
    return [f"Run {run.run_id} {verb}: {reason}. Resume with '{resume_command(run)}'."]


def _mostly_failed(item: EvaluationSummary, run_id: str) -> str | None:
    """Words for an evaluation whose numbers rest on less than half of what was asked."""
    if item.failed * 2 <= item.trials:
        return None
    return (
        f"{item.title}: {item.failed:,} of {item.trials:,} trials failed, more than "
        f"half. See why with 'proctor samples {run_id} --outcome failed'; 'proctor resume {run_id}' retries them."
    )


def watch(execution: RunExecution) -> RunStatus:
    if sys.stderr.isatty():
        from proctor.cli.live import LiveView as View
    else:
        from proctor.cli.plain import PlainView as View  # type: ignore[assignment]

    def interrupted() -> None:
        execution.stop(INTERRUPTED_REASON)
        view.note(STOPPING)

    def quit_now() -> None:
        view.close()  # a terminal gets its cursor back
        echo(f"Quit. Everything recorded is kept; resume with 'proctor resume {execution.run_id}'.", err=True)

    trace_runs()
    execution.observers.append(show_notices)
    with View(execution.progress, execution.run_id) as view:
        return run_until_done(lambda: execute_run(execution), interrupted, quit_now)
