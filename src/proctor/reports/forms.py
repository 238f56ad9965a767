"""A page in one of the forms that files have."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from proctor.reports.sections import Page

ENDINGS = {".html": "html", ".htm": "html", ".md": "md", ".markdown": "md", ".json": "json"}


def page_text(page: Page, document: Mapping[str, Any], form: str) -> str:
    """The page in one of the forms; all of them hold the same numbers."""
    if form == "json":
        import orjson

        return orjson.dumps(document, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE, default=plain).decode()
    if form == "md":
        from proctor.reports.markdown import page_markdown

        return page_markdown(page)
    from proctor.reports.html import page_html

    return page_html(page)


def plain(value: Any) -> Any:
    """What JSON has no form for: values as objects, anything else as text."""
    from msgspec import Struct
    from msgspec.structs import asdict

    return asdict(value) if isinstance(value, Struct) else str(value)
