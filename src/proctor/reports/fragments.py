"""Documents as pieces of HTML, for pages that are others': a notebook's output. Style comes from that page."""

from __future__ import annotations

from html import escape

from proctor.domain.documents.comparison import Comparison, Comparisons
from proctor.domain.documents.leaderboard import Leaderboard
from proctor.domain.documents.run import RunSummary
from proctor.domain.text import visible
from proctor.metrics.verdicts import TARGET
from proctor.reports.comparison_page import comparison_page
from proctor.reports.leaderboard_page import leaderboard_page
from proctor.reports.run_page import summary_section
from proctor.reports.sections import Page, Section, Table

LEFT, RIGHT = "text-align:left", "text-align:right"


def run_html(run: RunSummary) -> str:
    """The scores of a run with their intervals, and what is to be known of them."""
    name = f" ({run.name})" if run.name else ""
    return (
        f"<p><b>Run {_text(run.run_id)}</b>{_text(name)}: {_text(run.status.value)}</p>{_section(summary_section(run))}"
    )


def comparisons_html(document: Comparisons) -> str:
    """Verdicts, the numbers behind them, and the samples that only one side got right."""
    return _page(comparison_page(document))


def comparison_html(document: Comparison) -> str:
    return comparisons_html(Comparisons("comparison", [document], [], TARGET))


def leaderboard_html(document: Leaderboard) -> str:
    return _page(leaderboard_page(document))


def _page(page: Page) -> str:
    return f"<p><b>{_text(page.title)}</b></p>" + "".join(map(_section, page.sections))


def _section(section: Section) -> str:
    texts = "".join(f"<p>{_text(text)}</p>" for text in section.text)
    notes = "".join(f"<li>{_text(note)}</li>" for note in section.notes)
    return f"{texts}{''.join(map(_table, section.tables))}" + (f"<ul>{notes}</ul>" if notes else "")


def _table(table: Table) -> str:
    title = f"<caption>{_text(table.title)}</caption>" if table.title else ""
    head = "".join(_cell("th", place, text, table) for place, text in enumerate(table.headers))
    rows = "".join(
        f"<tr>{''.join(_cell('td', place, text, table) for place, text in enumerate(row))}</tr>" for row in table.rows
    )
    return f"<table>{title}<thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"


def _cell(kind: str, place: int, text: str, table: Table) -> str:
    return f'<{kind} style="{LEFT if place < table.words else RIGHT}">{_text(text)}</{kind}>'


def _text(text: str) -> str:
    return escape(visible(text))
