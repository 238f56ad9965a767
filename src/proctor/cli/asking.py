"""Before something is lost: ask, or be told that nobody need be asked."""

from __future__ import annotations

import sys

import click


def confirm(question: str, *, yes: bool) -> None:
    """Return when it is wanted; raises Abort when it is not, UsageError where there is nobody to ask."""
    if yes:
        return
    if not sys.stdin.isatty():
        raise click.UsageError(f"{question} There is no terminal to ask at: add --yes.")
    click.confirm(question, abort=True, err=True)
