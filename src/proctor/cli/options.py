"""Options that several commands share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])

as_json = click.option("--json", "as_json", is_flag=True, help="Print one JSON document on standard output.")

SAMPLING = ("temperature", "top_p", "max_tokens")
LIMITS = {
    "concurrency": "concurrency",
    "max_cost": "cost_usd",
    "max_minutes": "minutes",
    "retries": "retries",
    "timeout": "timeout_seconds",
}


def _together(*options: Callable[[F], F]) -> Callable[[F], F]:
    def add(function: F) -> F:
        for option in reversed(options):
            function = option(function)
        return function

    return add


limit_options = _together(
    click.option("--concurrency", type=int, metavar="N", help="Requests in flight at most, per model (64)."),
    click.option("--max-cost", metavar="USD", help="Stop before more than this is spent."),
    click.option("--max-minutes", type=float, metavar="M", help="Stop after this time; resume later."),
    click.option("--retries", type=int, metavar="N", help="Tries after a fault (5)."),
    click.option("--timeout", type=float, metavar="S", help="Seconds for one request (600)."),
)

execution_options = _together(
    click.option("--limit", type=int, metavar="N", help="N samples of each benchmark, drawn with the seed."),
    click.option("--where", multiple=True, metavar="KEY=VALUE", help="Only samples like this, e.g. category=algebra."),
    click.option("--shots", type=int, metavar="N", help="Worked examples in each prompt."),
    click.option("--epochs", type=int, metavar="K", help="Ask each sample K times."),
    click.option("--seed", type=int, metavar="S", help="Seed of every random choice (0)."),
    click.option("--temperature", type=float, metavar="T", help="Sent to every model."),
    click.option("--top-p", type=float, metavar="P", help="Sent to every model."),
    click.option("--max-tokens", type=int, metavar="N", help="Sent to every model."),
    click.option("--judge", metavar="MODEL", help="The model that judges open answers."),
    click.option("--name", metavar="TEXT", help="A name for the run."),
    click.option("--no-cache", is_flag=True, help="Ask again even what was answered before."),
    limit_options,
)

gates = _together(
    click.option(
        "--fail-under",
        multiple=True,
        metavar="METRIC=VALUE",
        help="Exit with 1 when a model's metric is lower, e.g. accuracy=0.8.",
    ),
)


def plan_values(flags: dict[str, Any]) -> dict[str, Any]:
    """The flags that were given, in a plan's form; `benchmark` holds those that belong to each benchmark."""

    def given(*names: str) -> dict[str, Any]:
        return {name: flags[name] for name in names if flags.get(name) is not None}

    values = given("epochs", "seed", "judge", "name")
    if flags.get("no_cache"):
        values["cache"] = False
    where = {"where": _pairs(flags["where"])} if flags.get("where") else {}
    parts = {
        "limits": limit_values(flags),
        "sampling": given(*SAMPLING),
        "benchmark": {**given("limit", "shots"), **where},
    }
    return {**values, **{name: part for name, part in parts.items() if part}}


def limit_values(flags: dict[str, Any]) -> dict[str, Any]:
    return {field: flags[flag] for flag, field in LIMITS.items() if flags.get(flag) is not None}


def _pairs(texts: tuple[str, ...]) -> dict[str, list[str]]:
    pairs: dict[str, list[str]] = {}
    for text in texts:
        key, equals, value = text.partition("=")
        if not equals or not key:
            raise click.UsageError(f"--where takes KEY=VALUE, not {text!r}.")
        pairs.setdefault(key, []).append(value)
    return pairs
