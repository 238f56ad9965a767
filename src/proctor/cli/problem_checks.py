"""`proctor problems check` and `submit`: what runs programs."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from proctor.cli.completing import complete_problem
from proctor.cli.echo import echo
from proctor.cli.options import as_json, problems_option

if TYPE_CHECKING:
    from proctor.domain.artifacts import Artifacts
    from proctor.domain.problem import Problem
    from proctor.domain.scorecard import Scorecard
    from proctor.programs.options import MarkOptions
    from proctor.runs.programs.proving import Probe, ProblemProof

F = TypeVar("F", bound=Callable[..., Any])


def _running(function: F) -> F:
    """The options of whatever runs programs."""
    options = (
        click.option("--runner", metavar="NAME", help="Where programs run: bubblewrap, docker, podman, kubernetes."),
        click.option("--unsafe-no-sandbox", is_flag=True, help="Run programs without isolation. Dangerous."),
        click.option(
            "--wheelhouse",
            type=click.Path(exists=True, file_okay=False, path_type=Path),
            metavar="DIR",
            help="A folder with wheels of the packages that programs may use.",
        ),
        click.option(
            "--index", metavar="URL", help="A package index for such wheels; by default the one pip is set to."
        ),
    )
    for option in reversed(options):
        function = option(function)
    return function


@click.command(short_help="Verify problems with their gold solutions and mutants.")
@click.argument("names", metavar="[ID|DIR]...", nargs=-1, shell_complete=complete_problem)
@problems_option
@click.option(
    "--repeats", type=click.IntRange(1, 100), default=1, show_default=True, help="Repeat N times to find flaky checks."
)
@click.option("--quick", is_flag=True, help="No load test, no static analysis, and two mutants of each problem.")
@click.option("--all-mutants", is_flag=True, help="Every mutant, even with --quick.")
@click.option("--jobs", type=click.IntRange(1, 64), default=2, show_default=True, help="Programs marked in parallel.")
@_running
@as_json
def check(
    names: tuple[str, ...],
    problems_folder: Path | None,
    repeats: int,
    quick: bool,
    all_mutants: bool,
    jobs: int,
    as_json: bool,
    **running: Any,
) -> None:
    """Verify problems by running them; all built-in ones if none is named.

    The gold solution must pass with 0.95 or more; an empty answer and a program that does nothing must fail with 0;
    every mutant must fail exactly the requirements it breaks. Exit code 1 otherwise.
    """
    from proctor.cli.context import print_json
    from proctor.cli.problems import named_problems

    proofs = _prove(
        named_problems(names, problems_folder),
        running,
        repeats=repeats,
        is_quick=quick,
        has_all_mutants=all_mutants,
        jobs=jobs,
    )
    if as_json:
        print_json([proof.result for proof in proofs])
    else:
        _print_proofs(proofs)
    if not all(proof.holds for proof in proofs):
        raise click.exceptions.Exit(1)


def _prove(problems: Sequence[Problem], running: dict[str, Any], **how: Any) -> list[ProblemProof]:
    from proctor.cli.notices import show_notices
    from proctor.runs.programs.programming import opened_runner
    from proctor.runs.programs.proving import check_problem

    def tell(problem: str, probe: Probe) -> None:
        state = probe.fault or "as expected"
        echo(f"{problem}: {probe.name}: {state} ({probe.seconds:.1f} s)", err=True)

    async def work() -> list[ProblemProof]:
        runner, unsafe = running["runner"], running["unsafe_no_sandbox"]
        async with opened_runner(show_notices, runner, is_unsafe=unsafe) as opened:
            return [
                await check_problem(problem, opened, options=_options(running), on_probe=tell, **how)
                for problem in problems
            ]

    proofs: list[ProblemProof] = _run(work)
    return proofs


def _run(work: Callable[[], Any]) -> Any:
    """To the end; Ctrl-C ends whatever runs, and leaves nothing of it."""
    import asyncio

    from proctor.cli.event_loop import loop_factory

    with asyncio.Runner(loop_factory=loop_factory()) as runner:
        return runner.run(work())


def _options(running: dict[str, Any]) -> MarkOptions:
    from proctor.programs.options import MarkOptions
    from proctor.programs.packages.kept import PACKAGES
    from proctor.settings import Settings

    return MarkOptions(
        wheelhouse=running["wheelhouse"],
        index_url=running["index"],
        packages=Settings.from_environment().home / PACKAGES,
        is_measuring=not running.get("no_load", False),
    )


def _print_proofs(proofs: Sequence[ProblemProof]) -> None:
    from proctor.metrics.rounding import decimal_text, figure_text
    from proctor.reports.figures import plural

    for proof in proofs:
        gold = next((probe for probe in proof.probes if probe.name == "gold"), None)
        mark = (
            ""
            if gold is None or gold.total is None
            else f", gold {decimal_text(gold.total)} of {figure_text(gold.covers)}"
        )
        mutants = len({probe.name for probe in proof.probes}) - 3
        state = ("valid", "green") if proof.holds else ("not valid", "red")
        echo(f"{proof.problem}: ", state, f"{mark}, {plural(mutants, 'mutant')}, {proof.seconds:.1f} s")
        for fault in proof.faults:
            echo(f"  {fault}")
        if gold is not None:
            for name, reason in gold.not_measured.items():
                echo(f"  {name} was not measured: {reason}")
        for name in proof.lint.untested:
            echo(f"  {name} is untested")
    held = sum(proof.holds for proof in proofs)
    echo(f"{held} of {plural(len(proofs), 'problem')} valid.")


@click.command(short_help="Mark an existing program.")
@click.argument("name", metavar="ID|DIR", shell_complete=complete_problem)
@click.argument("program", metavar="DIR|ARCHIVE", type=click.Path(path_type=Path))
@problems_option
@click.option(
    "--report",
    "reports",
    multiple=True,
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Write the scorecard: .html, .md or .json. Repeatable.",
)
@click.option("--name", "label", metavar="TEXT", help="The submission's name; the folder's or archive's if left out.")
@click.option("--no-load", is_flag=True, help="Skip the load test and the profile; performance is not measured.")
@click.option("--short", is_flag=True, help="Show the verdict, the marks and the requirements only.")
@_running
@as_json
def submit(
    name: str,
    program: Path,
    problems_folder: Path | None,
    reports: tuple[Path, ...],
    label: str | None,
    no_load: bool,
    short: bool,
    as_json: bool,
    **running: Any,
) -> None:
    """Mark the program in a folder or archive (.zip, .tar, .tar.gz, .tar.bz2, .tar.xz) like a model's answer.

    It is stored as a submission: 'proctor problems submissions' lists them, 'proctor problems ranking' ranks them.
    Exit code 1 when it does not pass.
    """
    from proctor.benchmarks.problems.finding import find_problem
    from proctor.cli.context import artifacts, database, print_json
    from proctor.cli.gates import refuse_unwritable
    from proctor.cli.pages import print_page, put
    from proctor.programs.submissions import submission_from
    from proctor.reports.formats import format_of, page_text
    from proctor.reports.scorecard_page import scorecard_page
    from proctor.runs.submissions.stored import keep_submission

    refuse_unwritable(reports, is_of_gates=False)
    problem = find_problem(name, problems_folder)
    submission = submission_from(program)
    kept = artifacts()
    kept.check()
    with database() as opened:
        card = _mark(problem, submission.files, {**running, "no_load": no_load}, kept)
        document = keep_submission(opened, kept, label or program.resolve().name, problem, submission, card)
    if as_json:
        print_json(document)
    else:
        print_page(scorecard_page(document, is_short=short))
    sys.stdout.flush()
    echo(f"Stored as submission {document.submission_id} ({document.name}).", err=True)
    if delayed := kept.delayed():
        echo(f"Warning: {delayed}", err=True)
    for path in reports:
        put(page_text(scorecard_page(document), document, format_of(path.suffix) or "html"), path)
    if not card.passed:
        raise click.exceptions.Exit(1)


def _mark(problem: Problem, files: Any, running: dict[str, Any], artifacts: Artifacts) -> Scorecard:
    from proctor.cli.notices import show_notices
    from proctor.runs.programs.programming import opened_runner
    from proctor.runs.programs.programming import submit as mark_it

    async def work() -> Scorecard:
        async with opened_runner(show_notices, running["runner"], is_unsafe=running["unsafe_no_sandbox"]) as runner:
            return await mark_it(problem, files, runner, options=_options(running), artifacts=artifacts)

    card: Scorecard = _run(work)
    return card
