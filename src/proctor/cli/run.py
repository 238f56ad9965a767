"""`proctor run`: plan in, results out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from proctor.cli.options import as_json, execution_options, gates, plan_values
from proctor.domain.plan import Plan

YAML_ENDINGS = (".yaml", ".yml")


@click.command(short_help="Evaluate models on benchmarks.")
@click.argument("targets", nargs=-1, required=True, metavar="BENCHMARK|plan.yaml...")
@click.option("-m", "--model", "models", multiple=True, metavar="MODEL", help="A model, as provider/name. Repeatable.")
@execution_options
@gates
@click.option("--dry-run", is_flag=True, help="Show what would be done; ask no model.")
@as_json
def run(targets: tuple[str, ...], models: tuple[str, ...], **flags: Any) -> None:
    """Evaluate models on benchmarks, given by name, as a benchmark file, or together in a plan file.

    \b
    proctor run puzzles -m demo/strong -m demo/weak
    proctor run my.yaml -m openai/gpt-5-mini --limit 100
    proctor run plan.yaml
    """
    from proctor.cli.executing import dry_run, execute_plan

    plan = _plan(targets, models, flags)
    if flags["dry_run"]:
        dry_run(plan, is_json=flags["as_json"])
    else:
        execute_plan(plan, is_json=flags["as_json"], fail_under=flags["fail_under"])


def _plan(targets: tuple[str, ...], models: tuple[str, ...], flags: dict[str, Any]) -> Plan:
    from proctor.domain.errors import PlanError
    from proctor.planning.plan_file import plan_from, read_plan

    values = plan_values(flags)
    if models:
        values["models"] = list(models)
    plans = [target for target in targets if _is_plan_file(target)]
    if plans:
        if len(targets) > 1:
            raise PlanError(f"{plans[0]} is a plan, and a plan is run alone: list the benchmarks inside it.")
        return read_plan(Path(plans[0]), _without_benchmark_flags(values, plans[0]))
    if not models:
        raise PlanError("No model given. Name one with -m, for example -m demo/strong, or list them: 'proctor models'.")
    spec = values.pop("benchmark", {})
    values["benchmarks"] = [{"benchmark": target, **spec} for target in targets]
    return plan_from(values)


def _without_benchmark_flags(values: dict[str, Any], plan: str) -> dict[str, Any]:
    from proctor.domain.errors import PlanError

    spec = values.pop("benchmark", {})
    if spec:
        raise PlanError(f"--{next(iter(spec))} belongs to one benchmark: set it in {plan}, beside the benchmark.")
    return values


def _is_plan_file(target: str) -> bool:
    if not target.endswith(YAML_ENDINGS) or "://" in target or not Path(target).is_file():
        return False
    from proctor.domain.errors import PlanError
    from proctor.domain.yaml_document import load_yaml
    from proctor.planning.plan_file import is_plan

    return is_plan(load_yaml(Path(target), error=PlanError))
