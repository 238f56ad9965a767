"""Lines of text on standard output and standard error; tables are printed by the console in `terminal`."""

from __future__ import annotations

import click

from proctor.domain.text import visible

Coloured = tuple[str, str]
"""A text, and the colour that it has on a terminal."""


def echo(*parts: str | Coloured, err: bool = False) -> None:
    """Print a line; names, errors and answers in it steer no terminal."""
    shown = [visible(part) if isinstance(part, str) else click.style(visible(part[0]), part[1]) for part in parts]
    click.echo("".join(shown), err=err)  # noqa: TID251 - the one place
