"""A report format: plain text, for `proctor report -f txt` and `--report out.txt`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from proctor.reports.sections import Page, Table


def write(page: Page, document: Mapping[str, Any]) -> str:
    """`page` is what a reader sees, `document` what `-f json` writes."""
    return "\n".join([page.title, page.subtitle, *_sections(page)]) + "\n"


def _sections(page: Page) -> Iterator[str]:
    for section in page.sections:
        yield f"\n{section.title}\n{'-' * len(section.title)}"
        yield from section.text
        for table in section.tables:
            yield from _lines(table)
        yield from section.notes


def _lines(table: Table) -> Iterator[str]:
    rows = [table.headers, *table.rows]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        yield "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
