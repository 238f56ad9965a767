"""`proctor benchmarks`: list, show, check."""

from __future__ import annotations

from typing import Any

import click

from proctor.cli.completing import complete_benchmark
from proctor.cli.options import as_json


@click.group(invoke_without_command=True, short_help="List, show and check benchmarks.")
@as_json
@click.pass_context
def benchmarks(context: click.Context, as_json: bool) -> None:
    """List the benchmarks that can be run by name."""
    if context.invoked_subcommand is not None:
        return
    from dataclasses import asdict

    from proctor.benchmarks.registry import list_benchmarks
    from proctor.cli.workplace import print_json

    found = list_benchmarks()
    if as_json:
        print_json([asdict(item) for item in found])
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
    out.print("\nLook at one with: proctor benchmarks show NAME. Your own: proctor run FILE.yaml -m MODEL")


@benchmarks.command()
@click.argument("name", shell_complete=complete_benchmark)
@as_json
def show(name: str, as_json: bool) -> None:
    """Show one benchmark: its samples, its first prompt, how it is scored."""
    _report(name, as_json, is_check=False)


@benchmarks.command()
@click.argument("file", metavar="FILE|NAME", shell_complete=complete_benchmark)
@as_json
def check(file: str, as_json: bool) -> None:
    """Read a whole benchmark and say what is wrong with it; exit code 1 when something is."""
    _report(file, as_json, is_check=True)


def _report(name: str, is_json: bool, *, is_check: bool) -> None:
    from pathlib import Path

    from proctor.benchmarks.check import check_benchmark
    from proctor.benchmarks.registry import load_benchmark
    from proctor.cli.workplace import print_json
    from proctor.planning.plan_file import benchmark_spec
    from proctor.settings import Settings

    settings = Settings.from_environment()
    benchmark = load_benchmark(benchmark_spec(name), seed=0, folder=Path.cwd(), data=settings.data)
    report = check_benchmark(benchmark)
    document = {
        "name": benchmark.name,
        "version": benchmark.version,
        "description": benchmark.description,
        "licence": benchmark.licence,
        "source": benchmark.source,
        "tags": dict(benchmark.tags),
        "samples": report.count,
        "digest": report.digest,
        "categories": report.categories,
        "scorers": {scorer.name: dict(scorer.options) for scorer in benchmark.scorers},
        "metrics": list(benchmark.metrics),
        "options": dict(benchmark.options),
        "first_prompt": [{"role": item.role, "content": item.text} for item in report.first_prompt.messages],
        "first_target": list(report.first_target),
        "warnings": list(report.warnings),
    }
    if is_json:
        print_json(document)
    else:
        _print(document)
        if is_check and not report.warnings:
            click.echo(f"Checked: all {report.count:,} samples can be read, rendered and scored against a target.")
    if is_check and report.warnings:
        raise click.exceptions.Exit(1)


def _print(document: dict[str, Any]) -> None:
    from rich.text import Text

    from proctor.cli.terminal import console, printable

    out = console()

    def line(name: str, text: object) -> None:
        out.print(Text.assemble((f"{name}: ", "bold"), printable(str(text))))

    out.print(Text(f"{document['name']}, version {document['version']}", "bold"))
    for name in ("description", "licence", "source"):
        if document[name]:
            line(name, document[name])
    line("samples", f"{document['samples']:,} (content {document['digest'][:8]})")
    for name in ("tags", "categories", "scorers", "options"):
        if document[name]:
            line(name, ", ".join(f"{key} {value}" if value != {} else key for key, value in document[name].items()))
    line("metrics", ", ".join(document["metrics"]))
    out.print(Text("The first prompt:", "bold"))
    for message in document["first_prompt"]:
        out.print(Text.assemble((f"  {message['role']}: ", "bold"), printable(message["content"])))
    line("  target", " or ".join(document["first_target"]) or "none")
    for warning in document["warnings"]:
        out.print(Text.assemble(("Warning: ", "bold yellow"), printable(f"{warning}.")))
