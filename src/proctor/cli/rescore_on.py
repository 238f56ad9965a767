"""`proctor rescore --server`: the server's workers score again, and the command follows them."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from proctor.cli.echo import echo
from proctor.cli.remote import INTERRUPTED_CODE
from proctor.cli.rescore import progress_lines, show

if TYPE_CHECKING:
    from proctor.client.client import Client

OWN = {"concurrency": "--concurrency", "retries": "--retries", "timeout": "--timeout", "no_cache": "--no-cache"}
"""Flags about how this process would ask judges."""


def rescore_on(
    client: Client, reference: str, scorers: Sequence[str], use: Sequence[str], flags: Mapping[str, Any]
) -> None:  # fmt: skip
    """Hand it over, follow it, and end with what a local rescore would print, and its exit code."""
    given = [flag for name, flag in OWN.items() if flags[name]]
    if given:
        raise click.UsageError(f"{given[0]} is about judges that this process asks; the server's workers ask theirs.")
    accepted = client.rescore(
        reference,
        *scorers,
        use=use,
        judge=flags["judge"],
        on=flags["on"],
        keep=flags["keep"],
        cost_usd=None if flags["max_cost"] is None else _dollars(flags["max_cost"]),
        assume_price=flags["assume_price"],
    )
    is_interrupted = _follow(client, accepted.run_id, accepted.rescoring_id)
    found = client.rescoring(accepted.run_id, accepted.rescoring_id)
    if found.result is not None:
        show(found.result, is_json=flags["as_json"])
    if found.status == "completed":
        return
    is_told = found.result is not None and (found.result.judge_faults or found.result.why_nothing)
    if found.error is not None and not is_told:
        echo(f"Error: {found.error.rstrip('.')}.", err=True)
    if is_interrupted or found.status == "cancelled":
        echo("Stopped; the old scores remain in force. Run the same command again to continue.", err=True)
        sys.exit(INTERRUPTED_CODE)
    sys.exit(1)


def _dollars(text: str) -> float:
    try:
        amount = float(text)
    except ValueError:
        amount = math.nan
    if not math.isfinite(amount):  # JSON has no such number: it would be sent as no limit at all
        raise click.UsageError(f"--max-cost is an amount of dollars, not {text!r}.")
    return amount


def _follow(client: Client, run_id: str, rescoring_id: str) -> bool:
    """Wait for its end; Ctrl-C stops it, a second one leaves it to itself. Gives whether it was pressed."""
    tell, is_interrupted, after = progress_lines(), False, 0
    while True:
        try:
            for event in client.follow_rescoring(run_id, rescoring_id, after):
                after = event.number
                if event.kind == "progress":
                    tell(event.data["done"], event.data["total"], event.data["fault"])
        except KeyboardInterrupt:
            if is_interrupted:
                echo("It goes on without being watched.", err=True)
                sys.exit(INTERRUPTED_CODE)
            is_interrupted = True
            client.cancel_rescoring(run_id, rescoring_id)
            echo("Stopping: waiting for the scores in progress. Ctrl-C again leaves it to itself.", err=True)
        else:
            return is_interrupted
