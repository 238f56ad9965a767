"""`proctor export`: results for other programs."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from itertools import chain, islice
from pathlib import Path

import click

from proctor.cli.echo import echo
from proctor.cli.options import run_or_latest, server_option
from proctor.cli.plugin_names import PluginName


def _extras(_context: click.Context, _option: click.Parameter, value: str | None) -> tuple[str, ...]:
    from proctor.domain.documents.result import EXTRAS
    from proctor.domain.errors import did_you_mean

    names = tuple(dict.fromkeys(name.strip() for name in value.split(","))) if value is not None else ()
    for name in names:
        if name not in EXTRAS:
            hint = did_you_mean(name, EXTRAS)
            raise click.BadParameter(f"there is no field {name!r}.{hint} There are: {', '.join(EXTRAS)}.")
    return names


@click.command(short_help="Export results as JSONL, CSV, Parquet, JUnit or Inspect log.")
@run_or_latest
@click.option(
    "-f", "--format", "kind", type=PluginName("exports"), default="jsonl", show_default=True, help="The format."
)
@click.option(
    "-o", "--output", type=click.Path(dir_okay=False, path_type=Path), help="A file; standard output if left out."
)
@click.option("--all-attempts", is_flag=True, help="Every attempt at a trial, not only the current one.")
@click.option(
    "--with", "extras", callback=_extras, metavar="FIELDS",
    help="Add fields, separated by commas: prompt (as sent), metadata, choices, tags.",
)  # fmt: skip
@click.option("--model", metavar="MODEL", help="Only what this model or side answered.")
@click.option("--benchmark", metavar="NAME", help="Only this benchmark.")
@server_option
def export(
    reference: str,
    kind: str,
    output: Path | None,
    all_attempts: bool,
    extras: tuple[str, ...],
    model: str | None,
    benchmark: str | None,
    server: str | None,
) -> None:
    """Write one row for each trial of RUN, streamed: a run of any size needs little memory.

    RUN is an id, a unique prefix of one, or 'latest' (the default). A CSV has a row for each trial and scorer;
    JUnit XML has a test case for each trial, for CI. A log of Inspect holds one model on one benchmark.

    \b
    proctor export latest -f csv -o results.csv
    proctor export latest --with prompt,metadata -o results.jsonl
    """
    if all_attempts and kind == "inspect":
        raise click.UsageError("A log of Inspect has one attempt at each sample and epoch: leave out --all-attempts.")
    if kind == "inspect" and output is not None and output.suffix == ".eval":
        raise click.UsageError(f"The log is JSON, and Inspect reads .eval as an archive: name it {output.stem}.json.")
    if extras and kind == "junit":
        raise click.UsageError("--with adds fields to jsonl, csv and parquet; JUnit XML has no place for them.")
    from proctor import plugins
    from proctor.cli.context import database
    from proctor.cli.remote import client_of
    from proctor.runs.results import read_rows

    client, where = client_of(server), {"model": model, "benchmark": benchmark}
    if client is not None:
        query = {"all_attempts": all_attempts, "with": ",".join(extras) or None, **where}
        pieces = client.export(reference, kind, **query)
        if output is None:
            _print(kind, pieces)
            return
        _write(output, pieces)
        echo(f"Written to {output}.", err=True)
        return
    with database() as opened:
        rows = read_rows(opened, reference, all_attempts=all_attempts, extras=extras, where=where)
        chunks = _attributing_faults(kind, plugins.create("exports", kind, rows))
        if output is None:
            _print(kind, chunks)
            return
        _write(output, chunks)
    echo(f"Written to {output}.", err=True)


def _attributing_faults(kind: str, chunks: Iterable[bytes]) -> Iterator[bytes]:
    """The format's own faults are told apart from those of the file that is written to."""
    from proctor import plugins

    walker = iter(chunks)
    while True:
        with plugins.attribute_faults("exports", kind):
            chunk = next(walker, None)
            if chunk is None:
                return
            content = bytes(memoryview(chunk))
        yield content


def _print(kind: str, chunks: Iterable[bytes]) -> None:
    sys.stdout.flush()
    is_terminal = sys.stdout.isatty()
    for chunk in chunks:
        if is_terminal and b"\0" in chunk:
            raise click.UsageError(f"{kind} is binary and cannot be printed on a terminal: give a file with -o.")
        sys.stdout.buffer.write(chunk)
    sys.stdout.buffer.flush()


def _write(output: Path, chunks: Iterable[bytes]) -> None:
    from proctor.domain.errors import UserError

    # What cannot be exported at all says so before the file that may be there already is emptied.
    walker = iter(chunks)
    first = list(islice(walker, 1))
    try:
        with output.open("wb") as file:
            file.writelines(chain(first, walker))
    except OSError as error:
        raise UserError(f"{output} cannot be written: {error.strerror}.") from None
