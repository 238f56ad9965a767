"""`proctor problems submissions` and `ranking`: the programs that were marked, listed and ranked."""

from __future__ import annotations

from pathlib import Path

import click

from proctor.cli.completing import complete_problem
from proctor.cli.echo import echo
from proctor.cli.options import as_json, problems_option


@click.command(short_help="List the programs that were handed in.")
@click.argument("name", metavar="[ID|DIR]", required=False, shell_complete=complete_problem)
@problems_option
@as_json
def submissions(name: str | None, problems_folder: Path | None, as_json: bool) -> None:
    """List the programs that 'proctor problems submit' has marked, newest first: all, or those of one problem."""
    from proctor.benchmarks.problems.finding import find_problem
    from proctor.cli.context import database, print_json
    from proctor.cli.pages import print_page
    from proctor.reports.problem_ranking import submissions_page
    from proctor.runs.submissions.stored import list_submissions

    problem = None if name is None else find_problem(name, problems_folder).id
    with database() as opened:
        found = list_submissions(opened, problem)
    if as_json:
        print_json(found)
    elif found:
        print_page(submissions_page(found))
    else:
        echo("There are no submissions yet. Mark a program with 'proctor problems submit ID DIR'.")


@click.command(short_help="Rank the programs built for a problem.")
@click.argument("name", metavar="ID|DIR", shell_complete=complete_problem)
@problems_option
@as_json
def ranking(name: str, problems_folder: Path | None, as_json: bool) -> None:
    """Rank submissions and models' programs for a problem by their marks.

    Marks that were computed by another revision of the formula, or before the problem changed, are shown apart.
    """
    from proctor.benchmarks.problems.finding import find_problem
    from proctor.cli.context import database, print_json
    from proctor.cli.pages import print_page
    from proctor.reports.problem_ranking import ranking_page
    from proctor.runs.submissions.stored import ranking_of

    problem = find_problem(name, problems_folder)
    with database() as opened:
        document = ranking_of(opened, problem)
    if as_json:
        print_json(document)
    else:
        print_page(ranking_page(document))
