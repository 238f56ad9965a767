"""`proctor benchmarks draft` and `review`: samples from a document, checked by rules, models and a person."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from proctor.cli.completing import complete_model
from proctor.cli.echo import echo
from proctor.cli.figures import cost_text
from proctor.cli.options import COUNT, as_json, offline_option

if TYPE_CHECKING:
    from proctor.domain.documents.drafted_sample import DraftedSample

FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
DECISIONS: dict[str, Literal["kept", "dropped"]] = {"k": "kept", "d": "dropped"}


@click.command()
@click.argument("document", type=FILE)
@click.option(
    "--kind", type=click.Choice(["qa", "choice", "true-false"]), default="qa", show_default=True,
    help="What is drafted: questions with short answers, multiple choice, or statements that are true or false.",
)  # fmt: skip
@click.option("--n", "count", type=COUNT, default=20, show_default=True, metavar="N", help="Accepted samples wanted.")
@click.option("--writer", required=True, metavar="MODEL", shell_complete=complete_model, help="Writes the samples.")
@click.option(
    "--checker", required=True, metavar="MODEL", shell_complete=complete_model,
    help="Another model: answers each question with its passage, and without.",
)  # fmt: skip
@click.option("--pilot", "pilots", multiple=True, metavar="MODEL", help="Answers too, for the difficulty. Repeatable.")
@click.option("-o", "--output", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE", help="DOCUMENT.yaml")
@offline_option
@as_json
def draft(document: Path, output: Path | None, as_json: bool, offline: bool, **given: Any) -> None:
    """Draft a benchmark from a document (.txt, .md, .pdf): each sample with the passage it rests on.

    A sample is used only when its answer, or what it rests on, stands in the passage, the question does not give it
    away, no other asks the same, and the checker answers it with the passage and not without. Run it
    again to go on where it was interrupted.
    """
    from proctor.cli.context import context, print_json
    from proctor.domain.errors import UserError
    from proctor.offline import confined
    from proctor.runs.benchmarks.draft import DraftRequest, draft_benchmark

    path = output or Path(f"{document.stem}.yaml")
    if path.suffix not in (".yaml", ".yml"):
        raise UserError(f"A benchmark file ends in .yaml, not {path.name}.")
    here = context()
    with confined(offline or here.is_offline):
        found = draft_benchmark(DraftRequest(document, path, **given), here)
    if as_json:
        print_json(found)
        return
    echo(f"{found.accepted} of {found.asked_for} samples accepted, of {found.passages} passages.")
    for reason, number in found.refused.items():
        echo(f"  {number} refused: {reason}")
    if found.difficulties:
        spread = ", ".join(f"{value}: {number}" for value, number in found.difficulties.items())
        echo(f"  difficulty, as the share of pilots that failed: {spread}")
    for note in found.notes:
        echo(f"  not drafted: {note}")
    cost = "an amount nobody knows" if found.cost_usd is None else cost_text(found.cost_usd)
    echo(f"{found.requests} requests, for {cost}. Every draft is in {found.drafts}.")
    echo(f"Review: proctor benchmarks review {found.benchmark}")


@click.command()
@click.argument("file", type=FILE)
def review(file: Path) -> None:
    """Go through a drafted benchmark: keep or drop each sample; every decision is on the disk at once."""
    from proctor.domain.errors import NotFoundError
    from proctor.runs.benchmarks.draft import decide, drafts_beside, read_drafts

    drafts = drafts_beside(file)
    if not drafts.is_file():
        raise NotFoundError(f"{file} was not drafted: there is no {drafts.name} beside it.")
    open_ones = [one for one in read_drafts(drafts) if one.verdict == "accepted" and one.review is None]
    for number, sample in enumerate(open_ones, 1):
        _show(sample, f"{number} of {len(open_ones)}")
        chosen = click.prompt(
            "[k]eep, [d]rop, [s]kip or [q]uit", type=click.Choice(["k", "d", "s", "q"]), show_choices=False, err=True
        )
        if chosen == "q":
            break
        if chosen in DECISIONS:
            decide(file, sample.id, DECISIONS[chosen])
    decided = read_drafts(drafts)
    kept, dropped = (sum(one.review == name for one in decided) for name in ("kept", "dropped"))
    unseen = sum(one.verdict == "accepted" and one.review is None for one in decided)
    echo(f"{kept} kept, {dropped} dropped, {unseen} not reviewed yet.")


def _show(sample: DraftedSample, place: str) -> None:
    echo(f"\n{place}\n{sample.passage}\n")
    echo(f"Question: {sample.question}")
    for choice in sample.choices:
        echo(f"          - {choice}")
    hard = "" if sample.difficulty is None else f" (difficulty {sample.difficulty:.2f})"
    echo(f"Answer:   {sample.answer}{hard}")
