"""`proctor samples`: prompt, answer, target and verdict, one trial at a time."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any

import click
import orjson

from proctor.cli.options import as_json
from proctor.cli.workplace import complete_run

if TYPE_CHECKING:
    from proctor.stores.results import ResultRow

CUT = 1_500


@click.command(short_help="Look at single prompts, answers and verdicts.")
@click.argument("reference", metavar="RUN", default="latest", shell_complete=complete_run)
@click.option("--outcome", type=click.Choice(["scored", "invalid", "failed"]), help="Only trials that ended like this.")
@click.option("--wrong", is_flag=True, help="Only trials with a score below 1, and invalid ones.")
@click.option("--sample", metavar="ID", help="Only this sample.")
@click.option("--category", metavar="NAME", help="Only this category.")
@click.option("--model", metavar="MODEL", help="Only this model.")
@click.option("--benchmark", metavar="NAME", help="Only this benchmark.")
@click.option("-n", "--limit", default=10, show_default=True, type=click.IntRange(1), help="How many.")
@click.option("--full", is_flag=True, help="Do not shorten long texts.")
@as_json
def samples(
    reference: str, outcome: str | None, wrong: bool, limit: int, full: bool, as_json: bool, **where: Any
) -> None:
    """Show what was asked, what came back, what was read from it, and what was expected."""
    from proctor.cli.workplace import database, print_json
    from proctor.domain.trial import Outcome
    from proctor.reports.rows import result_json
    from proctor.stores.results import ResultStore
    from proctor.stores.runs import RunStore

    with database() as opened:
        run = RunStore(opened).get(reference)
        given = {key: value for key, value in where.items() if value is not None}
        rows = ResultStore(opened).results(run.id, outcome=Outcome(outcome) if outcome else None, where=given)
        if wrong:
            rows = (row for row in rows if _is_wrong(row))
        found = list(islice(rows, limit))
    if as_json:
        print_json([{**result_json(row), "prompt": orjson.loads(row.prompt)} for row in found])
        return
    _print(found, run.id, full)


def _is_wrong(row: ResultRow) -> bool:
    return any(score.value is not None and score.value < 1 for score in row.scores)


def _print(rows: list[ResultRow], run_id: str, full: bool) -> None:
    from rich.markup import escape

    from proctor.cli.tables import console

    out = console()
    if not rows:
        out.print(f"No such trials in run {run_id}.")
    for row in rows:
        out.rule(escape(f"{row.sample_id}  {row.model}  {row.benchmark}  epoch {row.epoch}"), align="left")
        for message in orjson.loads(row.prompt)["messages"]:
            _part(out, message["role"], _content(message["content"]), full)
        _part(out, "response", row.response, full)
        _part(out, "target", row.target, full)
        for score in row.scores:
            mark = "not measured" if score.value is None else f"{score.value:g}"
            _part(out, score.scorer, f"{mark}; read {score.answer!r}; {score.reason}", full)
        verdict = row.outcome.value + (f": {row.error}" if row.error else "") + (" (cached)" if row.is_cached else "")
        _part(out, "outcome", verdict, full)


def _content(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(part["text"] if "text" in part else f"[{part['media_type']}]" for part in content)


def _part(out: Any, name: str, text: str | None, full: bool) -> None:
    from rich.text import Text

    if text is None:
        text = "–"
    elif not full and len(text) > CUT:
        text = f"{text[:CUT]} … ({len(text) - CUT:,} more characters, --full shows them)"
    out.print(Text.assemble((f"{name}: ", "bold"), text.replace("\x1b", "␛")))
