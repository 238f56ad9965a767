"""A run's report in every format."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from msgspec import Struct

from proctor.domain.documents.report import RunReport
from proctor.domain.errors import PlanError, UserError


class Report(Struct, frozen=True):
    """A run's report in every format; the numbers are the same in each."""

    contents: RunReport

    @property
    def run_id(self) -> str:
        return self.contents.run_id

    @property
    def document(self) -> dict[str, Any]:
        """All that `-f json` writes, as plain values."""
        return self.contents.document

    @property
    def html(self) -> str:
        """One self-contained page."""
        return self._text("html")

    @property
    def markdown(self) -> str:
        return self._text("md")

    @property
    def json(self) -> str:
        return self._text("json")

    def save(self, path: Path | str) -> Path:
        """Write the report in the format that the file's ending names, such as .html, .md or .json."""
        from proctor.reports.formats import format_of, report_endings

        target = Path(path)
        format_name = format_of(target.suffix)
        if format_name is None:
            raise PlanError(f"{target} names no format: a report is written as {', '.join(report_endings())}.")
        try:
            target.write_text(self._text(format_name), encoding="utf-8", errors="backslashreplace")
        except OSError as error:
            raise UserError(f"{target} cannot be written: {error.strerror}.") from None
        return target

    def _text(self, format_name: str) -> str:
        from proctor.reports.formats import page_text
        from proctor.reports.run_page import run_page

        return page_text(run_page(self.contents), self.contents, format_name)
