"""`--fail-under metric=value`: a number below it makes the command fail."""

from __future__ import annotations

from typing import Any

import click


def read_gates(texts: tuple[str, ...]) -> dict[str, float]:
    gates: dict[str, float] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        try:
            gates[name] = float(value)
        except ValueError:
            equals = ""
        if not equals or not name:
            raise click.UsageError(f"--fail-under takes METRIC=VALUE, for example accuracy=0.8, not {text!r}.")
    return gates


def check_gates(document: dict[str, Any], gates: dict[str, float]) -> list[str]:
    """What did not pass, one sentence each; a metric that was not measured does not pass."""
    failures = []
    for evaluation in document["evaluations"]:
        who = f"{evaluation['model']} on {evaluation['benchmark']}"
        for name, bar in gates.items():
            estimate = evaluation["metrics"].get(name)
            if estimate is None or estimate["value"] is None:
                known = ", ".join(evaluation["metrics"])
                failures.append(f"{who}: {name} was not measured (there is: {known}).")
            elif estimate["value"] < bar:
                failures.append(f"{who}: {name} is {estimate['value']:.4g} (n={estimate['n']}), below {bar:g}.")
    return failures
