"""Commands whose runs are on a server: `--server URL`, or PROCTOR_SERVER."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from proctor.cli.echo import echo

if TYPE_CHECKING:
    from proctor.client.client import Client
    from proctor.domain.plan import Plan

INTERRUPTED_CODE = 130


def client_of(server: str | None) -> Client | None:
    """A client of the server that was named, or that the environment names; None for this machine's own store."""
    from proctor.settings import Settings

    settings = Settings.from_environment()
    url = server or settings.server
    if not url:
        return None
    from proctor.client.client import Client

    return Client(url, settings.server_key)


def run_on(
    client: Client,
    plan: Plan,
    *,
    dry_run: bool,
    is_json: bool,
    gates: Mapping[str, float],
    reports: Sequence[Path],
) -> None:
    """Hand the plan to the server, follow it, and end with what a local run would print, and its exit code."""
    from msgspec.structs import asdict

    from proctor.cli.context import print_json
    from proctor.cli.executing import problems_of
    from proctor.cli.gates import write_pages
    from proctor.domain.documents.run import ExecutedRun
    from proctor.runs.gates import check_gates

    written = plan_document(plan)
    if dry_run:
        _show_estimate(client, written, plan.key_hosts, is_json=is_json)
        return
    started = time.monotonic()
    run_id = client.submit(written, key_hosts=plan.key_hosts).run_id
    is_interrupted = _follow(client, run_id)
    run = client.summary(run_id)
    # A metric that could not be measured is among an evaluation's metrics, too: as not measured.
    results = check_gates(run, gates, [list(item.metrics) for item in run.evaluations])
    problems = [*problems_of(run, run.status), *(item.problem for item in results if item.problem is not None)]
    if is_json:
        seconds = round(time.monotonic() - started, 3)
        write_pages(client.report, run_id, reports, results)
        print_json(ExecutedRun(**asdict(run), execution_seconds=seconds, problems=problems))
    else:
        from proctor.cli.outcome import print_outcome

        print_outcome(run, client.url)
    sys.stdout.flush()
    for problem in problems:
        echo(f"Error: {problem}", err=True)
    if not is_json:
        write_pages(client.report, run_id, reports, results)
    if is_interrupted:
        sys.exit(INTERRUPTED_CODE)
    if problems:
        sys.exit(1)


def plan_document(plan: Plan) -> dict[str, Any]:
    """The plan as JSON, for a server; the hosts that the user named go beside it, for a file could name them in it."""
    found = plan.as_json(exclude_defaults=True)
    found.pop("key_hosts", None)
    return found


def _show_estimate(client: Client, written: dict[str, Any], key_hosts: Sequence[str], *, is_json: bool) -> None:
    found = client.estimate(written, key_hosts=key_hosts)
    if is_json:
        from proctor.cli.context import print_json

        print_json(found)
    else:
        from proctor.cli.dry_run import print_dry_run

        print_dry_run(found)


def _follow(client: Client, run_id: str) -> bool:
    """Wait for the run's end; Ctrl-C stops the run, a second one leaves it to itself. Gives whether it was pressed."""
    is_interrupted, after = False, 0
    told = time.monotonic()
    while True:
        try:
            for event in client.follow(run_id, after):
                after = event.number
                if event.kind == "progress" and time.monotonic() - told >= 1:
                    told = time.monotonic()
                    echo(_progress(run_id, event.data), err=True)
        except KeyboardInterrupt:
            if is_interrupted:
                echo(f"Run {run_id} goes on without being watched.", err=True)
                sys.exit(INTERRUPTED_CODE)
            is_interrupted = True
            client.cancel(run_id)
            echo(f"Run {run_id} is stopping; Ctrl-C again leaves it to itself.", err=True)
        else:
            return is_interrupted


def _progress(run_id: str, data: Mapping[str, Any]) -> str:
    done, total = data.get("done"), data.get("total", data.get("trials"))
    if done is None:
        return f"Run {run_id} is being executed."
    return f"Run {run_id}: {done:,}" + (f" of {total:,} trials" if isinstance(total, int) else " trials")
