"""`proctor export`: results for other programs."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from proctor.cli.echo import echo
from proctor.cli.options import run_or_latest


def _extras(_context: click.Context, _option: click.Parameter, value: str | None) -> tuple[str, ...]:
    from proctor.domain.errors import did_you_mean
    from proctor.reports.rows import EXTRAS

    names = tuple(dict.fromkeys(name.strip() for name in value.split(","))) if value is not None else ()
    for name in names:
        if name not in EXTRAS:
            hint = did_you_mean(name, EXTRAS)
            raise click.BadParameter(f"there is no field {name!r}.{hint} There are: {', '.join(EXTRAS)}.")
    return names


@click.command(short_help="Export a run's results as JSONL, CSV, Parquet or JUnit XML.")
@run_or_latest
@click.option(
    "-f", "--format", "kind", type=click.Choice(["jsonl", "csv", "parquet", "junit"]), default="jsonl",
    show_default=True, help="The format.",
)  # fmt: skip
@click.option(
    "-o", "--output", type=click.Path(dir_okay=False, path_type=Path), help="A file; standard output if left out."
)
@click.option("--all-attempts", is_flag=True, help="Every attempt at a trial, not only the current one.")
@click.option(
    "--with", "extras", callback=_extras, metavar="FIELDS",
    help="Add fields, separated by commas: prompt (as sent), metadata, choices, tags.",
)  # fmt: skip
def export(reference: str, kind: str, output: Path | None, all_attempts: bool, extras: tuple[str, ...]) -> None:
    """Write one row for each trial of RUN, streamed: a run of any size needs little memory.

    RUN is an id, a unique prefix of one, or 'latest' (the default). A CSV has a row for each trial and scorer;
    JUnit XML has a test case for each trial, for CI.

    \b
    proctor export latest -f csv -o results.csv
    proctor export latest --with prompt,metadata -o results.jsonl
    """
    if extras and kind == "junit":
        raise click.UsageError("--with adds fields to jsonl, csv and parquet; JUnit XML has no place for them.")
    from proctor.cli.workplace import database
    from proctor.reports.export import as_csv, as_jsonl
    from proctor.stores.results import ResultRow, ResultStore
    from proctor.stores.runs import RunStore

    with database() as opened:
        run = RunStore(opened).get(reference)

        def rows() -> Iterator[ResultRow]:
            return ResultStore(opened).results(run.id, all_attempts=all_attempts)

        if kind == "parquet":
            _write_parquet(output, rows(), extras)
            return
        if kind == "junit":
            from proctor.reports.junit import as_junit

            chunks = as_junit(f"proctor {run.id}", rows)
        else:
            chunks = as_jsonl(rows(), extras) if kind == "jsonl" else as_csv(rows(), extras)
        if output is None:
            sys.stdout.flush()
            for chunk in chunks:
                sys.stdout.buffer.write(chunk)
            sys.stdout.buffer.flush()
            return
        _write(output, chunks)
    echo(f"Written to {output}.", err=True)


def _write(output: Path, chunks: Iterator[bytes]) -> None:
    from proctor.domain.errors import UserError

    try:
        with output.open("wb") as file:
            file.writelines(chunks)
    except OSError as error:
        raise UserError(f"{output} cannot be written: {error.strerror}.") from None


def _write_parquet(output: Path | None, rows: Iterator[Any], extras: tuple[str, ...]) -> None:
    from proctor.domain.errors import UserError
    from proctor.reports.parquet import write_parquet

    if output is None:
        if sys.stdout.isatty():
            raise click.UsageError("Parquet is binary and cannot be printed on a terminal: give a file with -o.")
        sys.stdout.flush()
        write_parquet(rows, sys.stdout.buffer, extras=extras)
        return
    try:
        with output.open("wb") as file:
            count = write_parquet(rows, file, extras=extras)
    except OSError as error:
        raise UserError(f"{output} cannot be written: {error.strerror}.") from None
    echo(f"{count:,} rows written to {output}.", err=True)
