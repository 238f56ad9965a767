"""`--fail-under metric=value`: a number below it makes the command fail."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import click


def read_gates(texts: tuple[str, ...]) -> dict[str, float]:
    """The bars by metric; a text of any other form is a mistake in the command."""
    gates: dict[str, float] = {}
    for text in texts:
        name, _, value = text.partition("=")
        try:
            bar = float(value)
        except ValueError:
            bar = math.nan
        if not name or not math.isfinite(bar):
            raise click.UsageError(f"--fail-under takes METRIC=VALUE, for example accuracy=0.8, not {text!r}.")
        if name in gates:
            raise click.UsageError(f"--fail-under names {name} twice.")
        gates[name] = bar
    return gates


def refuse_unknown(gates: Mapping[str, float], known: Sequence[str]) -> None:
    """A gate nothing could ever pass is a mistake, found before anything is asked."""
    from proctor.domain.errors import PlanError, did_you_mean

    for name in gates:
        if name not in known:
            raise PlanError(
                f"--fail-under: nothing measures {name!r}.{did_you_mean(name, known)} There is: {', '.join(known)}."
            )


def check_gates(document: dict[str, Any], gates: Mapping[str, float]) -> list[str]:
    """What did not pass, one sentence each; a metric that could not be measured does not pass."""
    failures = []
    for evaluation in document["evaluations"]:
        who = f"{evaluation['model']} on {evaluation['benchmark']}"
        for name, bar in gates.items():
            if name not in evaluation["metrics"]:
                continue  # another benchmark's metric
            estimate = evaluation["metrics"][name]
            if estimate["value"] is None:
                failures.append(f"{who}: {name} could not be measured.")
            elif estimate["value"] < bar:
                failures.append(f"{who}: {name} is {estimate['value']:.4g} (n={estimate['n']:,}), below {bar:g}.")
    return failures
