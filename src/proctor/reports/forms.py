"""The forms of a report: each is a function of the page and of the document behind it; all hold the same numbers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from proctor import plugins
from proctor.reports.sections import Page

ENDINGS = {".htm": "html", ".markdown": "md"}
"""Other endings of files; any form has its own name as one."""


def write_report(form: str, page: Page, document: Mapping[str, Any]) -> str:
    """The report in the form of that name, built in or of another package."""
    text: str = plugins.create("reports", form, page, document)
    return text


def form_of(ending: str) -> str | None:
    """The form that a file with this ending is written in; None where there is none."""
    form = ENDINGS.get(ending.lower(), ending.lower().removeprefix("."))
    return form if plugins.is_known("reports", form) else None


def report_endings() -> list[str]:
    """The endings of files that a report can be written to."""
    other = [(name, ending) for ending, name in ENDINGS.items()]
    own = [(name, f".{name}") for name in plugins.names("reports")]
    return [ending for name, first in own for ending in (first, *(more for form, more in other if form == name))]


def write_html(page: Page, document: Mapping[str, Any]) -> str:  # noqa: ARG001 (all forms are asked alike)
    from proctor.reports.html import page_html

    return page_html(page)


def write_markdown(page: Page, document: Mapping[str, Any]) -> str:  # noqa: ARG001
    from proctor.reports.markdown import page_markdown

    return page_markdown(page)


def write_json(page: Page, document: Mapping[str, Any]) -> str:  # noqa: ARG001
    import orjson

    from proctor.domain.json_value import plain

    return orjson.dumps(document, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE, default=plain).decode()
