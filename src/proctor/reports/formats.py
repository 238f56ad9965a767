"""The formats of a report: each is a function of the page and of the document behind it; the numbers are the same."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec.structs import replace

from proctor import plugins
from proctor.domain.documents.document import json_text, plain_values
from proctor.domain.errors import UserError
from proctor.domain.message import Json
from proctor.reports.sections import Page
from proctor.reports.theme import load_theme

WITHOUT_COLOURS = ("md", "json")
ENDINGS = {".htm": "html", ".markdown": "md"}
"""Other endings of files; every format has its own name as one."""


def page_text(page: Page, document: object, format_name: str, theme: str | None = None) -> str:
    """The report in the format of that name, built in or from a plugin, which is given the document as plain values."""
    if theme is not None:
        if format_name in WITHOUT_COLOURS:
            raise UserError(f"A theme is for formats with colours, such as html: {format_name} has none.")
        page = replace(page, theme=load_theme(theme))
    text: str = plugins.create("reports", format_name, page, plain_values(document))
    return text


def format_of(ending: str) -> str | None:
    """The format that a file with this ending is written in; None where there is none."""
    name = ENDINGS.get(ending.lower(), ending.lower().removeprefix("."))
    return name if plugins.is_known("reports", name) else None


def report_endings() -> list[str]:
    """The endings of files that a report can be written to."""
    found = []
    for name in plugins.names("reports"):
        found += [f".{name}", *(ending for ending, other in ENDINGS.items() if other == name)]
    return found


def write_html(page: Page, document: Mapping[str, Json]) -> str:  # noqa: ARG001 (all formats are called alike)
    from proctor.reports.html import page_html

    return page_html(page)


def write_markdown(page: Page, document: Mapping[str, Json]) -> str:  # noqa: ARG001
    from proctor.reports.markdown import page_markdown

    return page_markdown(page)


def write_json(page: Page, document: Mapping[str, Json]) -> str:  # noqa: ARG001
    return f"{json_text(document)}\n"
