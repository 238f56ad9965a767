"""`proctor samples`: prompt, response, target and score, one trial at a time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from proctor.cli.echo import echo
from proctor.cli.options import as_json, run_or_latest, server_option
from proctor.metrics.rounding import figure_text
from proctor.reports.figures import plural

if TYPE_CHECKING:
    from rich.console import Console

    from proctor.domain.documents.result import TrialResult
    from proctor.domain.documents.served import FoundResults, ShownSample

CUT = 1_500


@click.command(short_help="Show prompts, responses, targets and scores.")
@run_or_latest
@click.option("--outcome", type=click.Choice(["scored", "invalid", "failed"]), help="Only trials with this outcome.")
@click.option("--wrong", is_flag=True, help="Only trials with a score below 1, invalid ones included.")
@click.option("--sample", metavar="ID", help="Only this sample.")
@click.option("--category", metavar="NAME", help="Only this category.")
@click.option("--model", metavar="MODEL", help="Only this model or side.")
@click.option("--benchmark", metavar="NAME", help="Only this benchmark.")
@click.option("-n", "--limit", default=10, show_default=True, type=click.IntRange(1), help="How many trials.")
@click.option("--full", is_flag=True, help="Show long texts and worked examples in full.")
@server_option
@as_json
def samples(
    reference: str, outcome: str | None, wrong: bool, limit: int, full: bool, server: str | None, as_json: bool,
    **where: Any,
) -> None:  # fmt: skip
    """Show trials: the prompt, the response, the answer extracted from it, the target and the score.

    RUN is an id, a unique prefix of one, or 'latest' (the default). Worked examples (few-shot) are folded into one
    line, and long texts are shortened; --full shows everything.
    """
    from proctor.cli.context import print_json
    from proctor.cli.remote import client_of
    from proctor.reports.scorer_notes import scorer_notes

    given = {key: value for key, value in where.items() if value is not None}
    client = client_of(server)
    found = (_local if client is None else client.samples)(reference, given, limit=limit, outcome=outcome, wrong=wrong)
    if as_json:
        print_json([sample.result for sample in found.samples])
        return
    _print(found.samples, found.run_id, full)
    for note in scorer_notes(found.scorers) if found.samples else ():
        echo(note, err=True)
    if found.has_more:
        echo(f"There are more trials; show more with -n {limit * 10}.", err=True)


def _local(
    reference: str, where: Mapping[str, str], *, limit: int, outcome: str | None, wrong: bool
) -> FoundResults:  # fmt: skip
    from proctor.cli.context import database
    from proctor.domain.documents.served import FoundResults, ShownSample
    from proctor.domain.trial import Outcome
    from proctor.runs.results import count_worked_examples, find_samples, trial_result

    wanted = Outcome(outcome) if outcome else None
    with database() as opened:
        found = find_samples(opened, reference, where, limit=limit, outcome=wanted, is_wrong=wrong)
    shown = [ShownSample(trial_result(row, extras=("prompt",)), count_worked_examples(row)) for row in found.rows]
    return FoundResults(found.run_id, shown, found.has_more, found.scorers)


def _print(samples: Sequence[ShownSample], run_id: str, full: bool) -> None:
    from rich.text import Text

    from proctor.cli.terminal import console
    from proctor.domain.text import visible

    out = console()
    if not samples:
        out.print(f"No trial of run {run_id} matches.")
    for index, sample in enumerate(samples):
        row = sample.result
        title = f"{row.sample_id}  {row.side or row.model}  {row.benchmark}" + (
            f"  epoch {row.epoch}" if row.epoch else ""
        )
        out.print(Text(("\n" if index else "") + visible(title), "bold underline"))
        for name, text in _prompt(sample, full):
            _part(out, name, text, full, keeps_end=True)
        _part(out, "response", row.response, full)
        for name, text in _beside(row):
            _part(out, name, text, full)
        _part(out, "target", row.target, full)
        for name, score in row.scores.items():
            mark = "not measured" if score.value is None else figure_text(score.value, 6)
            read = "" if score.answer is None else f"; extracted answer {score.answer!r}"
            said = f"{mark}{read}; {score.reason}" if score.reason else f"{mark}{read}"
            _part(out, name, said, full)
        if "program" in row.scores:
            _part(out, "scorecard", _short_card(row), full)
        verdict = row.outcome.value + (f": {row.error}" if row.error else "") + (" (cached)" if row.cached else "")
        _part(out, "outcome", verdict, full)


def _prompt(sample: ShownSample, full: bool) -> Iterator[tuple[str, str]]:
    """The messages by role; worked examples are one line unless everything is to be shown."""
    import orjson

    from proctor.reports.rows import example_places
    from proctor.stores.codec import read_prompt

    messages = read_prompt(orjson.dumps(sample.result.prompt).decode()).messages
    count = 0 if full else sample.worked_examples
    folded = example_places([message.role for message in messages], count)
    for place, message in enumerate(messages):
        if place not in folded:
            yield message.role, message.shown
        elif place == folded.start:
            yield "prompt", f"{plural(count, 'worked example')} (--full shows them)"


def _beside(result: TrialResult) -> Iterator[tuple[str, str]]:
    import orjson

    for number, answer in enumerate(result.turns or (), 1):
        yield f"earlier answer {number}", answer
    if result.reasoning is not None:
        yield "reasoning", result.reasoning
    for call in result.tool_calls or ():
        arguments = call["arguments"]
        written = arguments if isinstance(arguments, str) else orjson.dumps(arguments).decode()
        problem = f" ({call['problem']})" if call.get("problem") else ""
        yield "tool call", f"{call['name']} {written}{problem}"
    if result.note is not None:
        yield "note", result.note
    if result.files is not None:
        yield "files", ", ".join(f"{name} ({size:,} bytes)" for name, size in result.files.items())
    if result.left_out is not None:
        yield "left out", "; ".join(f"{name}: {why}" for name, why in result.left_out.items())


def _short_card(row: TrialResult) -> str:
    from proctor.runs.submissions.scorecards import short_card

    card = short_card(row.scores["program"].details)
    return "none" if card is None else f"{card}. Full scorecard: proctor problems card {row.run_id} {row.sample_id}"


def _part(out: Console, name: str, text: str | None, full: bool, *, keeps_end: bool = False) -> None:
    """A text by its name, shortened; of a prompt the end is kept too, because the question is there."""
    from rich.text import Text

    from proctor.domain.text import visible

    if text is None:
        text = "–"
    elif not full and len(text) > CUT:
        end = CUT // 2 if keeps_end else 0
        more = f" … ({len(text) - CUT:,} more characters, --full shows them)"
        text = f"{text[: CUT - end]}{more}" + (f" … {text[-end:]}" if end else "")
    out.print(Text.assemble((f"{name}: ", "bold"), visible(text)), soft_wrap=not out.is_terminal)
