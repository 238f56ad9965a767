"""`proctor problems`: list, show, lint, check, submit, rank, compare, start one's own."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from proctor.cli.completing import complete_problem, complete_run
from proctor.cli.echo import echo
from proctor.cli.options import as_json, problems_option
from proctor.cli.pages import format_option, output_option

if TYPE_CHECKING:
    from proctor.domain.documents.scorecard import ProgramCard
    from proctor.domain.problem import Problem

F = TypeVar("F", bound=Callable[..., Any])


def _filters(function: F) -> F:
    """What narrows the list."""
    for option in (
        as_json,
        problems_option,
        click.option("--language", metavar="WORD", help="Only those that may be answered in it: python or javascript."),
        click.option("--kind", metavar="WORD", help="Only this interface: command, library or service."),
        click.option("--area", metavar="WORD", help="Only this area, such as command-line, http-service or storage."),
        click.option("--difficulty", metavar="WORD", help="Only these: basic, intermediate, advanced or expert."),
    ):
        function = option(function)
    return function


@click.group(invoke_without_command=True, short_help="Programs to build from requirements: list, check, submit.")
@_filters
@click.pass_context
def problems(context: click.Context, /, problems_folder: Path | None, as_json: bool, **wanted: str | None) -> None:
    """List the programming problems: programs to build from written requirements.

    'proctor run requirements -m MODEL' evaluates models on them.
    """
    if context.invoked_subcommand is None:
        context.invoke(list_, problems_folder=problems_folder, as_json=as_json, **wanted)


@problems.command("list")
@_filters
def list_(problems_folder: Path | None, as_json: bool, **wanted: str | None) -> None:
    """List the problems, as 'proctor problems' does."""
    from proctor.benchmarks.problems.finding import all_problems
    from proctor.cli.context import print_json
    from proctor.domain.documents.problem import ListedProblem

    given = {name: word for name, word in wanted.items() if word is not None}
    everything = all_problems(problems_folder)
    found = [problem for problem in everything if all(word in _words(problem)[name] for name, word in given.items())]
    for name, word in given.items():
        _refuse_unknown_word(name, word, everything)
    if as_json:
        print_json([ListedProblem.of(problem) for problem in found])
        return
    _print_list(found)


def _words(problem: Problem) -> dict[str, tuple[str, ...]]:
    interface = problem.interface
    kinds = (str(interface.kind),)
    return {
        "difficulty": (problem.difficulty,),
        "area": (problem.area,),
        "kind": kinds,
        "language": interface.languages,
    }


def _refuse_unknown_word(name: str, word: str, everything: list[Problem]) -> None:
    from proctor.domain.errors import UserError, did_you_mean

    known = sorted({one for problem in everything for one in _words(problem)[name]})
    if word not in known:
        raise UserError(
            f"No problem has the {name} {word!r}.{did_you_mean(word, known)} There are: {', '.join(known)}."
        )


def _print_list(found: list[Problem]) -> None:
    from proctor.cli.terminal import cell, console, plain_table

    out = console()
    if not found:
        out.print("No problem matches.")
        return
    table = plain_table(("Problem", "Title", "Difficulty", "Area", "Kind"), ("requirements", "checks", "mutants"))
    for problem in found:
        words = (problem.id, problem.title, problem.difficulty, problem.area, problem.interface.kind)
        figures = (len(problem.requirements), len(problem.checks), len(problem.mutants))
        table.add_row(*map(cell, words), *map(str, figures))
    out.print(table)
    out.print("\nDetails: proctor problems show ID. Evaluate models: proctor run requirements -m MODEL")


problem_argument = click.argument("name", metavar="ID|DIR", shell_complete=complete_problem)


@problems.command()
@problem_argument
@problems_option
@as_json
def show(name: str, problems_folder: Path | None, as_json: bool) -> None:
    """Show a problem: its brief, its requirements with their checks, its thresholds and mutants."""
    from proctor.benchmarks.problems.finding import find_problem
    from proctor.cli.context import print_json
    from proctor.domain.documents.problem import ProblemDescription

    problem = find_problem(name, problems_folder)
    if as_json:
        print_json(ProblemDescription.of(problem))
        return
    from proctor.cli.pages import print_page
    from proctor.reports.problem_page import problem_page

    print_page(problem_page(problem))


@problems.command()
@click.argument("names", metavar="[ID|DIR]...", nargs=-1, shell_complete=complete_problem)
@problems_option
@as_json
def lint(names: tuple[str, ...], problems_folder: Path | None, as_json: bool) -> None:
    """Check the wording of requirements: EARS patterns, RFC 2119 keywords, vague words, missing tests.

    Runs nothing. Exit code 1 when there are errors; warnings do not change it.
    """
    from msgspec.structs import replace

    from proctor.benchmarks.problems.lint import lint_problem
    from proctor.cli.context import print_json
    from proctor.reports.figures import plural
    from proctor.runs.programs.proving import lint_result

    found = {problem.id: lint_problem(problem) for problem in named_problems(names, problems_folder)}
    if as_json:
        print_json({name: replace(lint_result(one), is_clean=one.is_clean) for name, one in found.items()})
    else:
        for name, one in found.items():
            for remark in one.findings:
                about = f" {remark.requirement}:" if remark.requirement else ""
                echo(f"{remark.where}: {remark.severity}:{about} {remark.message}")
            errors = sum(remark.severity == "error" for remark in one.findings)
            warnings = len(one.findings) - errors
            echo(f"{name}: {plural(errors, 'error')}, {plural(warnings, 'warning')}.")
    if not all(one.is_clean for one in found.values()):
        raise click.exceptions.Exit(1)


def named_problems(names: tuple[str, ...], problems_folder: Path | None) -> list[Problem]:
    """Those that are named, or all of the folder."""
    from proctor.benchmarks.problems.finding import all_problems, find_problem

    return [find_problem(name, problems_folder) for name in names] if names else all_problems(problems_folder)


@problems.command()
@output_option
def schema(output: Path | None) -> None:
    """Print the JSON schema of problem.yaml, for editors and checks."""
    import orjson

    from proctor.benchmarks.problems.schema import json_schema
    from proctor.cli.pages import put

    put(orjson.dumps(json_schema(), option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE).decode(), output)


@problems.command()
@click.argument("folder", type=click.Path(path_type=Path), metavar="DIR")
def new(folder: Path) -> None:
    """Create a small valid problem in a new folder, as a template."""
    from proctor.benchmarks.problems.scaffold import scaffold

    written = scaffold(folder)
    echo(f"Wrote {len(written)} files. Edit them, then verify the problem: proctor problems check {folder}")


@problems.command()
@click.argument("reference", metavar="RUN|SUBMISSION|FILE", shell_complete=complete_run)
@click.argument("sample", required=False)
@click.option("--model", metavar="MODEL", help="Only this model's; needed where the run has several.")
@click.option("--epoch", type=click.IntRange(0), default=0, show_default=True, help="Which of several answers.")
@format_option()
@output_option
@problems_option
def card(
    reference: str,
    sample: str | None,
    model: str | None,
    epoch: int,
    format_name: str | None,
    output: Path | None,
    problems_folder: Path | None,
) -> None:
    """Show a scorecard: of a submission, of a trial (SAMPLE is the problem's id in the run RUN), or one in a FILE.

    FILE is a scorecard as JSON, as this command and 'proctor problems submit' write it. In each case its marks are
    recomputed from its evidence; a difference to what was stored is reported.
    """
    from proctor.cli.pages import chosen_format, print_page, put
    from proctor.reports.formats import page_text
    from proctor.reports.scorecard_page import scorecard_page

    format_name = chosen_format(format_name, output)
    document = _card_document(reference, sample, model, epoch, problems_folder)
    page = scorecard_page(document)
    if format_name is None:
        print_page(page)
        return
    put(page_text(page, document, format_name), output)


def _card_document(
    reference: str, sample: str | None, model: str | None, epoch: int, problems_folder: Path | None
) -> ProgramCard:
    from proctor.cli.context import artifacts, database
    from proctor.runs.submissions.scorecards import card_of_trial

    if sample is None:
        if model is not None:
            raise click.UsageError("--model is for a trial of a run: a submission or a file holds one scorecard.")
        hint = f"For a trial of a run, name the problem too: proctor problems card {reference} SAMPLE."
        return _stored_card(reference, problems_folder, hint)
    with database() as opened:
        return card_of_trial(
            opened, artifacts(), reference, sample, model=model, epoch=epoch, problems_folder=problems_folder
        )


def _stored_card(reference: str, problems_folder: Path | None, hint: str = "") -> ProgramCard:
    """The scorecard in a file, or of a submission."""
    from proctor.cli.context import artifacts, database
    from proctor.runs.submissions.scorecards import read_card
    from proctor.runs.submissions.stored import card_of_submission
    from proctor.stores.submissions import PREFIX

    if Path(reference).is_file():
        return read_card(Path(reference), problems_folder)
    if not reference.startswith(PREFIX):
        listed = "'proctor problems submissions' lists the ids of submissions."
        raise click.UsageError(f"There is no file {reference}. {hint or listed}")
    with database() as opened:
        return card_of_submission(opened, artifacts(), reference, problems_folder)


@problems.command()
@click.argument("a", metavar="SUBMISSION|FILE")
@click.argument("b", metavar="SUBMISSION|FILE")
@format_option()
@output_option
@problems_option
def diff(a: str, b: str, format_name: str | None, output: Path | None, problems_folder: Path | None) -> None:
    """Compare two scorecards: marks, requirements whose status changed, and file differences.

    Each is a submission's id, or a scorecard as JSON, written by 'proctor problems submit … --report a.json' or
    'proctor problems card'. Their marks are recomputed from their evidence; for a problem of your own, give its folder
    with --problems.
    """
    from proctor.cli.pages import chosen_format, print_page, put
    from proctor.reports.formats import page_text
    from proctor.reports.scorecard_diff_page import difference_page
    from proctor.runs.submissions.scorecard_diff import compare_scorecards

    format_name = chosen_format(format_name, output)
    document = compare_scorecards(_stored_card(a, problems_folder), _stored_card(b, problems_folder))
    page = difference_page(document)
    if format_name is None:
        print_page(page)
        for file in document.files:
            echo(f"\n{file.diff}")
        return
    put(page_text(page, document, format_name), output)


# The commands that run programs, and those about programs that were marked, in modules of their own.
from proctor.cli.problem_checks import check, submit  # noqa: E402
from proctor.cli.problem_submissions import ranking, submissions  # noqa: E402

for command in (check, submit, submissions, ranking):
    problems.add_command(command)
