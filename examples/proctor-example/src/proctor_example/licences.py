"""A command: `proctor licences` counts the benchmarks of each licence."""

from __future__ import annotations

from collections import Counter

import click

from proctor.cli.echo import echo  # no name that a package gave can steer the terminal


@click.command(short_help="Count the benchmarks of each licence.")
def licences() -> None:
    """Count the benchmarks of each licence, the most frequent first."""
    from proctor.benchmarks.registry import list_benchmarks

    counts = Counter(item.licence or "not stated" for item in list_benchmarks())
    for licence, count in counts.most_common():
        echo(f"{count:4}  {licence}")
