"""Where output goes: a terminal keeps its width, a file or a pipe gets lines that are not broken."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from typing import NoReturn

from rich.console import Console, ConsoleOptions, RenderableType
from rich.markup import escape
from rich.measure import Measurement
from rich.segment import Segment
from rich.table import Table

from proctor.domain.text import visible

PLAIN_WIDTH = 200
ENDLESS = 100_000
STATUS_COLOURS = {
    "completed": "green",
    "running": "cyan",
    "queued": "cyan",
    "failed": "red",
    "cancelled": "yellow",
    "interrupted": "yellow",
}


class _Output(Console):
    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """Every text there is, with nothing in it that steers the terminal: names, errors and answers are of others."""
        for segment in super().render(renderable, options):
            yield segment if segment.control else segment._replace(text=visible(segment.text))

    def on_broken_pipe(self) -> NoReturn:
        """Leave it to `main`, which treats every reader that has gone away alike."""
        raise BrokenPipeError


def console() -> Console:
    """Standard output for tables and text."""
    width = None if sys.stdout.isatty() else PLAIN_WIDTH
    return _Output(width=width, highlight=False, soft_wrap=False, emoji=False)


def error_console() -> Console:
    """Standard error, for what changes while a run goes on."""
    return _Output(stderr=True, highlight=False, emoji=False)


def cell(value: object) -> str:
    """Any text as a table's cell: nothing in it is taken for markup."""
    return escape(visible(str(value)))


def status_text(status: str) -> str:
    return f"[{STATUS_COLOURS.get(status, 'default')}]{status}[/]"


def plain_table(words: Sequence[str] = (), numbers: Sequence[str] = (), *, widest: int | None = None) -> Table:
    """A table without lines: columns of words that may be folded, then columns of figures that may not."""
    table = Table(box=None, header_style="bold", pad_edge=False)
    for title in words:
        table.add_column(escape(title), overflow="fold", max_width=widest)
    for title in numbers:
        table.add_column(escape(title), justify="right", no_wrap=True)
    return table


def fits(table: Table, out: Console) -> bool:
    """Whether the table can be shown without cutting or folding anything."""
    return Measurement.get(out, out.options.update(width=ENDLESS), table).maximum <= out.width
