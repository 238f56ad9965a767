"""A page as Markdown; nothing a model wrote can become markup."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import zip_longest

from proctor.domain.text import visible
from proctor.reports.sections import Page, SampleSection, Section, Table

SPECIAL = re.compile(r"([\\`*_\[\]{}<>#|~!&$])")
MAX_SAMPLES = 20


def page_markdown(page: Page) -> str:
    """The whole page; charts are left out, their numbers are in the tables."""
    return "\n".join(_lines(page)) + "\n"


def _lines(page: Page) -> Iterator[str]:
    yield f"# {plain(page.title)}"
    yield f"\n{plain(page.subtitle)}"
    for section in page.sections:
        yield from _section(section)
    if page.samples_note:
        yield f"\n## Failed, invalid and wrong answers\n\n{plain(page.samples_note)}"
    if page.samples:
        yield ""
        listed = _listed(page.samples)
        yield from _table(_samples_table(listed))
        if len(page.samples) > MAX_SAMPLES:
            yield f"\n{len(listed)} are listed here; the HTML report shows {len(page.samples):,}."
        for item in listed:
            yield from _sample(item)


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


def _listed(samples: Sequence[SampleSection]) -> list[SampleSection]:
    """The first of each kind in turns, so that a kind with many does not hide the others; in their order."""
    kinds = dict.fromkeys(item.kind for item in samples)
    by_kind = [[place for place, item in enumerate(samples) if item.kind == kind] for kind in kinds]
    in_turns = [place for turn in zip_longest(*by_kind) for place in turn if place is not None]
    return [samples[place] for place in sorted(in_turns[:MAX_SAMPLES])]


def _samples_table(listed: Sequence[SampleSection]) -> Table:
    headers = ("Kind", "Model", "Benchmark", "Sample", "Reason")
    rows = tuple(
        (item.kind, item.model, item.benchmark, item.sample_id, item.what) for item in listed
    )  # fmt: skip
    return Table(headers, rows, words=len(headers))


def _sample(item: SampleSection) -> Iterator[str]:
    """A trial with its prompt, response, target, scores and reasons."""
    title = f"{item.kind}: {item.sample_id}, {item.model} on {item.benchmark}"
    yield f"\n### {plain(title)}"
    for name, text in item.parts:
        yield f"\n{plain(name)}:\n"
        yield fenced(text)


def fenced(text: str) -> str:
    """Text as it is, in a fence longer than any in it."""
    text = visible(text)
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}text\n{text.rstrip()}\n{fence}"


def plain(text: str) -> str:
    """Text that shows as it is written, on one line."""
    return SPECIAL.sub(r"\\\1", " ".join(visible(text).split()))
