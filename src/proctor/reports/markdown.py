"""A page as Markdown; nothing a model wrote can become markup."""

from __future__ import annotations

import re
from collections.abc import Iterator

from proctor.domain.text import visible
from proctor.reports.sections import Page, Section, Table

SPECIAL = re.compile(r"([\\`*_\[\]{}<>#|~!&$])")
MOST_SAMPLES = 20


def page_markdown(page: Page) -> str:
    """The whole page; charts are left out, their numbers are in the tables."""
    return "\n".join(_lines(page)) + "\n"


def _lines(page: Page) -> Iterator[str]:
    yield f"# {plain(page.title)}"
    yield f"\n{plain(page.subtitle)}"
    for section in page.sections:
        yield from _section(section)
    if page.samples_note:
        yield f"\n## Failed and invalid samples\n\n{plain(page.samples_note)}"
    if page.samples:
        yield ""
        yield from _table(_samples_table(page))
        if len(page.samples) > MOST_SAMPLES:
            yield f"\nThe first {MOST_SAMPLES} are listed here; the HTML report has more."


def _section(section: Section) -> Iterator[str]:
    yield f"\n## {plain(section.title)}"
    for place, text in enumerate(section.text):
        yield f"\n**{plain(text)}**" if section.tone and not place else f"\n{plain(text)}"
    for table in section.tables:
        yield f"\n### {plain(table.title)}\n" if table.title else ""
        yield from _table(table)
    if section.notes:
        yield ""
    yield from (f"- {plain(note)}" for note in section.notes)
    for detail in section.details:
        yield f"\n### {plain(detail.title)}\n"
        yield fenced(detail.text)


def _table(table: Table) -> Iterator[str]:
    yield _row(table.headers)
    yield "|" + "|".join(" --- " if place < table.words else " ---: " for place in range(len(table.headers))) + "|"
    yield from (_row(row) for row in table.rows)


def _row(cells: tuple[str, ...]) -> str:
    return "| " + " | ".join(plain(cell) for cell in cells) + " |"


def _samples_table(page: Page) -> Table:
    headers = ("Outcome", "Model", "Benchmark", "Sample", "What happened")
    rows = tuple(
        (item["outcome"], item["model"], item["benchmark"], item["sample_id"], item["what"])
        for item in page.samples[:MOST_SAMPLES]
    )
    return Table(headers, rows, words=len(headers))


def fenced(text: str) -> str:
    """Text as it is, in a fence longer than any in it."""
    text = visible(text)
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}text\n{text.rstrip()}\n{fence}"


def plain(text: str) -> str:
    """Text that shows as it is written, on one line."""
    return SPECIAL.sub(r"\\\1", " ".join(visible(text).split()))
