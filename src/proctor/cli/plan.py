"""`proctor plan`: a sentence becomes a plan that can be read, edited, written and run."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from proctor.cli.completing import complete_model
from proctor.cli.echo import echo
from proctor.cli.options import as_json, data_option, yes_option

if TYPE_CHECKING:
    from proctor.domain.documents.draft import PlanDraft


@click.command(short_help="Turn a sentence into a plan.")
@click.argument("query")
@click.option(
    "--from",
    "base",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Change this plan instead of making a new one, and show the difference.",
)
@click.option("-o", "--output", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE", help="Write the plan.")
@click.option("--edit", is_flag=True, help="Open the plan in $EDITOR first.")
@click.option("--run", "is_run", is_flag=True, help="Run the plan, after a question.")
@yes_option
@click.option(
    "--planner",
    metavar="MODEL",
    shell_complete=complete_model,
    help="A model that reads what the rules did not understand. It costs what its answer costs.",
)
@data_option
@as_json
def plan(
    query: str,
    base: Path | None,
    output: Path | None,
    edit: bool,
    is_run: bool,
    yes: bool,
    planner: str | None,
    data: str | None,
    as_json: bool,
) -> None:
    """Turn a sentence into a plan, and say what was understood, what was assumed, and what was not understood.

    \b
    proctor plan "haiku and gpt-5-mini on German maths, 100 questions, under $2"
    proctor plan "a quick look at my local model on puzzles" --run
    proctor plan --from plan.yaml "only 50 questions, and add anthropic"

    It is read here, by rules, in English, German, Korean, Japanese, Chinese, Spanish and French; no model is asked
    unless --planner names one.
    """
    if as_json and (is_run or edit):
        raise click.UsageError("--json prints the draft; it does not go with --run or --edit.")
    if yes and not is_run:
        raise click.UsageError("--yes needs --run.")
    draft = _draft(query, base, planner)
    if as_json:
        from proctor.cli.context import print_json

        _write(draft, output)
        print_json(draft)
        return
    values = dict(draft.plan)
    if edit:
        values = _edited(draft)
    text = _document(draft, values)
    if output is not None:
        _put(text, output)
        echo(f"Run it with: {_command(draft, str(output))}", err=True)
    else:
        echo(text.rstrip("\n"))
    if is_run:
        _run(draft, values, yes=yes, data=data)


def _draft(query: str, base: Path | None, planner: str | None) -> PlanDraft:
    import os

    from proctor.runs.plans.draft_plan import draft_plan
    from proctor.runs.plans.planner_catalogue import planner_catalogue

    values = None if base is None else _plan_in(base)
    catalogue = planner_catalogue(os.environ)
    if planner is None:
        return draft_plan(query, catalogue, base=values)
    from proctor.cli.context import context
    from proctor.runs.plans.ask_planner import draft_with_model

    return draft_with_model(query, catalogue, planner, context(), base=values)


def _plan_in(path: Path) -> dict[str, Any]:
    """The values of a plan file; it passes what every plan file passes."""
    from proctor.domain.errors import PlanError
    from proctor.planning.plan_file import plan_in
    from proctor.yaml_document import as_mapping, load_yaml

    document = load_yaml(path, error=PlanError)
    plan_in(document)
    return dict(as_mapping(document, "a plan"))


def _document(draft: PlanDraft, values: dict[str, Any]) -> str:
    """The plan as a file, with what was made of the query as comments above it."""
    from proctor.reports.plan_text import plan_yaml, reading_lines

    comments = "".join(f"# {line}".rstrip() + "\n" for line in reading_lines(draft))
    return f"{comments}{plan_yaml(values)}"


def _write(draft: PlanDraft, output: Path | None) -> None:
    if output is not None:
        _put(_document(draft, dict(draft.plan)), output)


def _put(text: str, path: Path) -> None:
    from proctor.cli.pages import put

    put(text, path)


def _edited(draft: PlanDraft) -> dict[str, Any]:
    from proctor.domain.errors import PlanError
    from proctor.planning.plan_file import plan_in
    from proctor.yaml_document import as_mapping, load_yaml

    text = click.edit(_document(draft, dict(draft.plan)), extension=".yaml")
    if text is None:
        return dict(draft.plan)
    document = load_yaml(text, name="the edited plan", error=PlanError)
    plan_in(document)
    return dict(as_mapping(document, "a plan"))


def _command(draft: PlanDraft, path: str) -> str:
    from msgspec import UNSET

    bars = {} if draft.fail_under is UNSET else draft.fail_under
    return " ".join(["proctor run", path, *(f"--fail-under {name}={bar:g}" for name, bar in bars.items())])


def _run(draft: PlanDraft, values: dict[str, Any], *, yes: bool, data: str | None) -> None:
    """What `proctor run` does with the plan; nothing is asked of a model before the question is answered."""
    from msgspec import UNSET

    from proctor.cli.asking import confirm
    from proctor.cli.context import context, database
    from proctor.cli.executing import finish
    from proctor.cli.gates import refuse_unknown
    from proctor.offline import confined
    from proctor.planning.plan_file import plan_from
    from proctor.runs.asking import refuse_gaps
    from proctor.runs.execute import submit

    plan, here = plan_from(values), context(data)
    refuse_gaps(plan)
    bars = {} if draft.fail_under is UNSET else dict(draft.fail_under)
    with confined(plan.offline or here.is_offline):
        if bars:
            from proctor.runs.plans.metric_names import metrics_of_plan

            refuse_unknown(bars, metrics_of_plan(plan, here))
        confirm("Run this plan?", yes=yes)
        with database() as opened:
            finish(submit(plan, here, opened), opened, is_json=False, gates=bars)
