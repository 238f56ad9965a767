"""`proctor benchmarks`: list, show, check."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

import click

from proctor.cli.completing import complete_benchmark
from proctor.cli.echo import echo
from proctor.cli.options import as_json, data_option
from proctor.domain.taxonomy import TAXONOMY, refuse_foreign_words

if TYPE_CHECKING:
    from proctor.benchmarks.registry import BenchmarkInfo
    from proctor.domain.benchmark import Benchmark
    from proctor.domain.plan import BenchmarkSpec
    from proctor.runs.resolve import PlanContext

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
    from msgspec.structs import asdict

    from proctor.benchmarks.registry import list_benchmarks
    from proctor.cli.context import print_json

    given = {name: word for name, word in wanted.items() if word is not None}
    _refuse_unknown_words(given)
    found = [item for item in list_benchmarks() if given.items() <= item.tags.items()]
    if as_json:
        print_json([asdict(item) for item in found])
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


def _refuse_unknown_words(tags: dict[str, str]) -> None:
    try:
        refuse_foreign_words(tags)
    except ValueError as mistake:
        raise click.UsageError(f"{mistake}.") from mistake


def _report(name: str, data: str | None, is_json: bool, *, is_check: bool) -> None:
    from proctor.benchmarks.registry import find_info, load_benchmark
    from proctor.cli.context import context, print_json
    from proctor.domain.errors import NoDataError
    from proctor.planning.plan_file import benchmark_spec

    spec, here = benchmark_spec(name), context(data)
    benchmark = load_benchmark(spec, seed=0, folder=here.folder, data=here.data)
    info = find_info(spec, here.folder)
    if is_check:
        benchmark = _with_scorers(benchmark, spec, info, here)
    document = _described(benchmark, info)
    try:
        document |= _contents(benchmark)
    except NoDataError as missing:
        if is_check:
            raise
        document |= {"samples": None, "no_data": str(missing)}
    warnings = document.get("warnings", ())
    if is_json:
        print_json(document)
    else:
        _print(document)
        if is_check and not warnings:
            count = document["samples"]
            echo(f"Valid: all {count:,} samples can be read, rendered and scored against a target.")
    if is_check and warnings:
        raise click.exceptions.Exit(1)


def _with_scorers(
    benchmark: Benchmark, spec: BenchmarkSpec, info: BenchmarkInfo | None, here: PlanContext
) -> Benchmark:
    """The benchmark with samples that its scorers are asked about; the scorers of its variants can be made, too."""
    from msgspec.structs import replace

    from proctor.benchmarks.registry import load_benchmark
    from proctor.domain.scorable import proven
    from proctor.scorers.registry import create_scorers

    scorers = create_scorers(benchmark.scorers, here.folder)
    variants = list(info.variants)[1:] if info is not None and "variant" not in spec.parameters else []
    for variant in variants:
        other = spec.model_copy(update={"parameters": {**spec.parameters, "variant": variant}})
        create_scorers(load_benchmark(other, seed=0, folder=here.folder, data=here.data).scorers, here.folder)
    return replace(benchmark, samples=proven(benchmark.samples, scorers))


def _described(benchmark: Benchmark, info: BenchmarkInfo | None) -> dict[str, Any]:
    """What is known without the data."""
    return {
        "name": benchmark.name,
        "version": benchmark.version,
        "description": benchmark.description,
        "protocol": info.protocol if info else "",
        "licence": benchmark.licence,
        "source": benchmark.source,
        "homepage": info.homepage if info else None,
        "input": benchmark.input_kind,
        "tags": dict(benchmark.tags),
        "shots": benchmark.shots,
        "variants": dict(info.variants) if info else {},
        "parameters": dict(info.parameters) if info else {},
        "scorers": _scorers(benchmark),
        "metrics": list(benchmark.metrics),
        "options": dict(benchmark.options),
        "needs_sandbox": benchmark.needs_sandbox,
    }


def _scorers(benchmark: Benchmark) -> dict[str, Any]:
    """Options by scorer; several of one kind are told apart by the name that each was given."""
    kinds = [scorer.name for scorer in benchmark.scorers]
    return {
        name if kinds.count(name) == 1 else str(options.get("name", options.get("label", name))): dict(options)
        for name, options in ((scorer.name, scorer.options) for scorer in benchmark.scorers)
    }


def _contents(benchmark: Benchmark) -> dict[str, Any]:
    from proctor.benchmarks.check import check_benchmark

    report = check_benchmark(benchmark)
    return {
        "samples": report.count,
        "digest": report.digest,
        "categories": report.categories,
        "first_prompt": [{"role": item.role, "content": item.shown} for item in report.first_prompt.messages],
        "first_target": list(report.first_target),
        "warnings": list(report.warnings),
    }


def _print(document: dict[str, Any]) -> None:
    from rich.text import Text

    from proctor.cli.terminal import console
    from proctor.domain.text import visible

    out = console()

    def line(name: str, text: object) -> None:
        out.print(Text.assemble((f"{name}: ", "bold"), visible(str(text))))

    out.print(Text(f"{document['name']}, version {document['version']}", "bold"))
    for name in ("description", "protocol", "licence", "source", "homepage", "input"):
        if document[name]:
            line(name, document[name])
    if document["shots"] is not None:
        line("shots", document["shots"])
    for name, text in document["variants"].items():
        line(f"variant {name}", text)
    for name in ("tags", "scorers", "options"):
        if document[name]:
            line(name, ", ".join(_with_options(key, value) for key, value in document[name].items()))
    line("metrics", ", ".join(document["metrics"]))
    if document["needs_sandbox"]:
        line("sandbox", "required: answers are executed")
    if document["samples"] is None:
        line("samples", f"not available. {document['no_data']}")
    else:
        _print_contents(document, out, line)


def _with_options(name: str, value: Any) -> str:
    """`language en`, `exact (ignore_case: true)`: nothing is shown as Python or JSON writes it."""
    if not isinstance(value, Mapping):
        return f"{name} {_plain(value)}"
    return f"{name} ({'; '.join(f'{key}: {_plain(part)}' for key, part in value.items())})" if value else name


def _plain(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {_plain(part)}" for key, part in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(map(_plain, value))
    return str(value).lower() if isinstance(value, bool) else str(value)


def _print_contents(document: dict[str, Any], out: Any, line: Callable[[str, object], None]) -> None:
    from rich.text import Text

    from proctor.domain.text import visible

    line("samples", f"{document['samples']:,} (digest {document['digest'][:8]})")
    if document["categories"]:
        line("categories", ", ".join(f"{key} {value}" for key, value in document["categories"].items()))
    out.print(Text("First prompt:", "bold"))
    for message in document["first_prompt"]:
        out.print(Text.assemble((f"  {message['role']}: ", "bold"), visible(message["content"])))
    line("  target", " or ".join(document["first_target"]) or "none")
    for warning in document["warnings"]:
        out.print(Text.assemble(("Warning: ", "bold yellow"), visible(f"{warning}.")))
