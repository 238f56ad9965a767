"""Options that several commands share."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from proctor.cli.completing import complete_model, complete_run

F = TypeVar("F", bound=Callable[..., Any])


class NumberType(click.ParamType[int | float]):
    """A number as it was written: 0 stays 0 and 0.0 stays 0.0, because it is sent like that."""

    name = "number"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int | float:
        try:
            return int(value)
        except ValueError:
            pass
        try:
            return float(value)
        except ValueError:
            self.fail(f"{value!r} is not a number.", param, ctx)


NUMBER = NumberType()
COUNT = click.IntRange(min=1)

as_json = click.option("--json", "as_json", is_flag=True, help="Print one JSON document on standard output.")
yes_option = click.option("-y", "--yes", is_flag=True, help="Do not ask.")
run_argument = click.argument("reference", metavar="RUN", shell_complete=complete_run)
run_or_latest = click.argument("reference", metavar="[RUN]", default="latest", shell_complete=complete_run)

server_option = click.option(
    "--server", metavar="URL", help="A Proctor server instead of this machine's own results (PROCTOR_SERVER)."
)

problems_option = click.option(
    "--problems",
    "problems_folder",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    metavar="DIR",
    help="A folder with problems of your own.",
)

SAMPLING = ("temperature", "top_p", "max_tokens")
NUMBERS = ("shots", "temperature", "top_p", "max_tokens")
"""What can be varied and is a number."""
LIMITS = {
    "concurrency": "concurrency",
    "max_cost": "cost_usd",
    "assume_price": "assume_price",
    "max_minutes": "minutes",
    "retries": "retries",
    "timeout": "timeout_seconds",
    "max_rpm": "requests_per_minute",
    "max_tpm": "tokens_per_minute",
}


def _together(*options: Callable[[F], F]) -> Callable[[F], F]:
    def add(function: F) -> F:
        for option in reversed(options):
            function = option(function)
        return function

    return add


assume_price_option = click.option(
    "--assume-price", metavar="IN/OUT", help="Dollars per million tokens for models without a known price."
)

limit_options = _together(
    click.option(
        "--concurrency", type=click.IntRange(1, 4096), metavar="N", help="Maximum concurrent requests per model (64)."
    ),
    click.option("--max-cost", metavar="USD", help="Stop before the run costs more than this."),
    assume_price_option,
    click.option("--max-minutes", type=NUMBER, metavar="M", help="Stop after M minutes; resume later."),
    click.option("--max-rpm", type=NUMBER, metavar="N", help="Maximum requests per minute, per model."),
    click.option("--max-tpm", type=NUMBER, metavar="N", help="Maximum tokens per minute, per model."),
    click.option("--retries", type=click.IntRange(0, 50), metavar="N", help="Retries after a failed request (5)."),
    click.option("--timeout", type=NUMBER, metavar="S", help="Timeout of one request in seconds (600)."),
)

data_option = click.option(
    "--data",
    type=click.Path(exists=True, file_okay=False),
    metavar="DIR",
    help="Read benchmark data from DIR/NAME.jsonl instead of the hub (PROCTOR_DATA).",
)

here_option = click.option(
    "--here", is_flag=True, help="Execute it in this process, although there are workers (PROCTOR_BROKER_URL)."
)

offline_option = click.option(
    "--offline", is_flag=True, help="Make no network connection beyond this machine (PROCTOR_OFFLINE=1)."
)

judge_option = click.option(
    "--judge",
    multiple=True,
    metavar="MODEL",
    shell_complete=complete_model,
    help="A model that judges open answers. Repeatable: several form a panel.",
)

execution_options = _together(
    click.option("--limit", type=COUNT, metavar="N", help="Use N samples of each benchmark, drawn with the seed."),
    click.option("--where", multiple=True, metavar="KEY=VALUE", help="Only matching samples, e.g. category=algebra."),
    click.option("--shots", type=click.IntRange(min=0), metavar="N", help="Worked examples in each prompt (few-shot)."),
    click.option(
        "--vary",
        multiple=True,
        metavar="NAME=V,V",
        help="Run once with each value: shots=0,5, temperature=0,1, variant=direct,cot. Repeatable: all combinations.",
    ),
    click.option("--epochs", type=COUNT, metavar="K", help="Ask each sample K times (1)."),
    click.option("--seed", type=int, metavar="S", help="Random seed (0)."),
    click.option("--temperature", type=NUMBER, metavar="T", help="Sent to every model; not sent if left out."),
    click.option("--top-p", type=NUMBER, metavar="P", help="Sent to every model; not sent if left out."),
    click.option("--max-tokens", type=COUNT, metavar="N", help="Sent to every model; not sent if left out."),
    judge_option,
    click.option("--name", metavar="TEXT", help="A name for the run."),
    click.option("--tag", "tags", multiple=True, metavar="TAG", help="A word to find the run by. Repeatable."),
    click.option("--sandbox", metavar="NAME", help="Sandbox backend for a model's code."),
    click.option("--unsafe-no-sandbox", is_flag=True, help="Run a model's code without isolation. Dangerous."),
    click.option(
        "--until", metavar="RULE", help="Stop rule: 'ci<0.02' (narrow interval) or 'decided' (one model is better)."
    ),
    click.option("--write-tests", is_flag=True, help="Ask for tests with each program; they are shown, not scored."),
    click.option("--no-cache", is_flag=True, help="Do not use cached answers."),
    offline_option,
    click.option("--batch", is_flag=True, help="Use the provider's batch API: half the price, results within a day."),
    data_option,
    limit_options,
)  # fmt: skip

gates = _together(
    click.option(
        "--fail-under",
        multiple=True,
        metavar="METRIC=VALUE",
        help="Exit with code 1 if a metric is below VALUE, e.g. accuracy=0.8. Repeatable.",
    ),
    click.option(
        "--fail-on-regression",
        metavar="RUN",
        shell_complete=complete_run,
        help="Exit with code 1 if a model is significantly worse than in RUN.",
    ),
    click.option(
        "--report",
        "reports",
        multiple=True,
        metavar="FILE",
        type=click.Path(dir_okay=False, path_type=Path),
        help="Write a report at the end: .html, .md, .json, or .xml (JUnit, the gates). Repeatable.",
    ),
)


def plan_values(flags: dict[str, Any]) -> dict[str, Any]:
    """The flags that were given, in a plan's form; `benchmark` holds those that belong to each benchmark."""

    def given(*names: str) -> dict[str, Any]:
        return {name: flags[name] for name in names if flags.get(name) is not None}

    values = given("epochs", "seed", "name", "sandbox", "until")
    if flags.get("tags"):
        values["tags"] = list(flags["tags"])
    if flags.get("judge"):
        values["judge"] = list(flags["judge"])
    if flags.get("no_cache"):
        values["cache"] = False
    if flags.get("unsafe_no_sandbox"):
        values["unsafe_no_sandbox"] = True
    values |= {name: True for name in ("offline", "batch") if flags.get(name)}
    if flags.get("vary"):
        values["matrix"] = _axes(flags["vary"])
    where = {"where": _pairs(flags["where"])} if flags.get("where") else {}
    tests = {"write_tests": True} if flags.get("write_tests") else {}
    parts = {
        "limits": limit_values(flags),
        "sampling": given(*SAMPLING),
        "benchmark": {**given("limit", "shots"), **where, **tests},
    }
    return {**values, **{name: part for name, part in parts.items() if part}}


def limit_values(flags: dict[str, Any]) -> dict[str, Any]:
    """The limits that were given, in a plan's form; one that cannot be used is refused by its option's name."""
    from proctor.planning.plan_file import refuse_unusable_limit

    given = {flag: flags[flag] for flag in LIMITS if flags.get(flag) is not None}
    for flag, value in given.items():
        refuse_unusable_limit(LIMITS[flag], value, name=f"--{flag.replace('_', '-')}")
    return {LIMITS[flag]: value for flag, value in given.items()}


def _axes(texts: tuple[str, ...]) -> dict[str, list[int | float | str]]:
    axes: dict[str, list[int | float | str]] = {}
    for text in texts:
        name, _, values = text.partition("=")
        parts = [part.strip() for part in values.split(",")]
        if not name or not all(parts):
            raise click.UsageError(f"--vary takes NAME=VALUE,VALUE, for example shots=0,5, not {text!r}.")
        if name in axes:
            raise click.UsageError(f"--vary names {name} twice: give all its values at once, {name}=VALUE,VALUE.")
        axes[name] = [_value(part) for part in parts] if name in NUMBERS else list(parts)
    return axes


def _value(text: str) -> int | float | str:
    """A number as it was written; what is none is refused where the plan is read."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def _pairs(texts: tuple[str, ...]) -> dict[str, list[str]]:
    pairs: dict[str, list[str]] = {}
    for text in texts:
        key, equals, value = text.partition("=")
        if not equals or not key or not value:
            raise click.UsageError(f"--where takes KEY=VALUE, for example category=algebra, not {text!r}.")
        pairs.setdefault(key, []).append(value)
    return pairs
