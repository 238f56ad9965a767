"""`proctor benchmarks`: list, show, check."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

import click

from proctor.cli.benchmark_drafts import draft, review
from proctor.cli.completing import complete_benchmark
from proctor.cli.echo import echo
from proctor.cli.options import as_json, data_option
from proctor.domain.taxonomy import TAXONOMY, refuse_foreign_words

if TYPE_CHECKING:
    from rich.console import Console

    from proctor.domain.documents.benchmark import BenchmarkDescription
    from proctor.domain.message import Json

F = TypeVar("F", bound=Callable[..., Any])


def _filters(function: F) -> F:
    """One option for each part of the taxonomy."""
    for name in reversed(list(TAXONOMY)):
        help_text = f"Only benchmarks of this {name}: {', '.join(TAXONOMY[name][:6])}, …"
        function = click.option(f"--{name}", metavar="WORD", help=help_text)(function)
    return function


@click.group(invoke_without_command=True, short_help="List, show and check benchmarks.")
@_filters
@as_json
@click.pass_context
def benchmarks(context: click.Context, /, as_json: bool, **wanted: str | None) -> None:
    """List the built-in and installed benchmarks; needs no data and no network."""
    if context.invoked_subcommand is None:
        context.invoke(list_, as_json=as_json, **wanted)


@benchmarks.command("list")
@_filters
@as_json
def list_(as_json: bool, **wanted: str | None) -> None:
    """List the benchmarks, as 'proctor benchmarks' does."""
    from proctor.benchmarks.registry import list_benchmarks
    from proctor.cli.context import print_json

    given = {name: word for name, word in wanted.items() if word is not None}
    _refuse_unknown_words(given)
    found = [item for item in list_benchmarks() if given.items() <= item.tags.items()]
    if as_json:
        print_json(found)
        return
    if not found:
        echo(f"No benchmark is tagged {', '.join(f'{name} {word}' for name, word in given.items())}.")
        return
    from proctor.cli.terminal import cell, console, fits, plain_table

    out = console()
    for has_tags in (True, False):
        table = plain_table(("Benchmark", "Description", "Licence", *(["Tags"] if has_tags else [])))
        for item in found:
            tags = [", ".join(f"{key} {value}" for key, value in item.tags.items())] if has_tags else []
            table.add_row(item.name, *map(cell, (item.description, item.licence or "–", *tags)))
        if fits(table, out):
            break
    out.print(table)
    out.print("\nDetails: proctor benchmarks show NAME. A benchmark of your own: proctor run FILE.yaml -m MODEL")


@benchmarks.command()
@click.argument("name", shell_complete=complete_benchmark)
@data_option
@as_json
def show(name: str, data: str | None, as_json: bool) -> None:
    """Show one benchmark: protocol, samples, first prompt, scorers and metrics."""
    _report(name, data, as_json, is_check=False)


@benchmarks.command()
@click.argument("file", metavar="FILE|NAME", shell_complete=complete_benchmark)
@data_option
@as_json
def check(file: str, data: str | None, as_json: bool) -> None:
    """Validate a benchmark and all its samples; exit code 1 when there are warnings."""
    _report(file, data, as_json, is_check=True)


benchmarks.add_command(draft)
benchmarks.add_command(review)


def _refuse_unknown_words(tags: dict[str, str]) -> None:
    try:
        refuse_foreign_words(tags)
    except ValueError as mistake:
        raise click.UsageError(f"{mistake}.") from mistake


def _report(name: str, data: str | None, is_json: bool, *, is_check: bool) -> None:
    from proctor.cli.context import context, print_json
    from proctor.runs.benchmarks.describe import describe_benchmark

    found = describe_benchmark(name, context(data), is_check=is_check)
    if is_json:
        print_json(found)
    else:
        _print(found)
        if is_check and not found.warnings:
            echo(f"Valid: all {found.samples:,} samples can be read, rendered and scored against a target.")
    if is_check and found.warnings:
        raise click.exceptions.Exit(1)


def _print(document: BenchmarkDescription) -> None:
    from rich.text import Text

    from proctor.cli.terminal import console
    from proctor.domain.text import visible

    out = console()

    def line(name: str, text: object) -> None:
        out.print(Text.assemble((f"{name}: ", "bold"), visible(str(text))))

    out.print(Text(f"{document.name}, version {document.version}", "bold"))
    for name in ("description", "protocol", "licence", "source", "homepage", "input"):
        if text := getattr(document, name):
            line(name, text)
    if document.shots is not None:
        line("shots", document.shots)
    for name, text in document.variants.items():
        line(f"variant {name}", text)
    parts: dict[str, Mapping[str, Json]] = {
        "tags": document.tags,
        "scorers": document.scorers,
        "options": document.options,
    }
    for name, values in parts.items():
        if values:
            line(name, ", ".join(_with_options(key, value) for key, value in values.items()))
    line("metrics", ", ".join(document.metrics))
    if document.needs_sandbox:
        line("sandbox", "required: answers are executed")
    if document.samples is None:
        line("samples", f"not available. {document.no_data}")
    else:
        _print_contents(document, out, line)


def _with_options(name: str, value: Json) -> str:
    """`language en`, `exact (ignore_case: true)`: nothing is shown as Python or JSON writes it."""
    if not isinstance(value, Mapping):
        return f"{name} {_plain(value)}"
    return f"{name} ({'; '.join(f'{key}: {_plain(part)}' for key, part in value.items())})" if value else name


def _plain(value: Json) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {_plain(part)}" for key, part in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(map(_plain, value))
    return str(value).lower() if isinstance(value, bool) else str(value)


def _print_contents(document: BenchmarkDescription, out: Console, line: Callable[[str, object], None]) -> None:
    from rich.text import Text

    from proctor.domain.text import visible

    line("samples", f"{document.samples:,} (digest {(document.digest or '')[:8]})")
    if document.categories:
        line("categories", ", ".join(f"{key} {value}" for key, value in document.categories.items()))
    out.print(Text("First prompt:", "bold"))
    for message in document.first_prompt or ():
        out.print(Text.assemble((f"  {message.role}: ", "bold"), visible(message.content)))
    line("  target", " or ".join(document.first_target or ()) or "none")
    for warning in document.warnings or ():
        out.print(Text.assemble(("Warning: ", "bold yellow"), visible(f"{warning}.")))
