"""A run's export or report kept as a file: at an address that stays until it expires, or the run is deleted."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from proctor import plugins
from proctor.domain.artifacts import Artifacts
from proctor.domain.documents.file import StoredFile
from proctor.domain.errors import UserError, did_you_mean
from proctor.reports.formats import page_text
from proctor.reports.run_page import run_page
from proctor.runs.report import read_report
from proctor.runs.results import read_rows
from proctor.runs.storage.files import keep_made
from proctor.stores.database import Database

EXPORTS = {
    "jsonl": ("jsonl", "application/jsonl"),
    "csv": ("csv", "text/csv; charset=utf-8"),
    "parquet": ("parquet", "application/vnd.apache.parquet"),
    "junit": ("xml", "application/xml"),
    "inspect": ("json", "application/json"),
}
"""Format -> the file's ending and its type."""
REPORTS = {
    "html": ("html", "text/html; charset=utf-8"),
    "md": ("md", "text/markdown; charset=utf-8"),
    "json": ("json", "application/json"),
}
SAMPLES = 200
"""Trials that a report shows in full at most."""


def keep_output(
    database: Database, artifacts: Artifacts, run_id: str, format_name: str, author: str, *, days: float
) -> StoredFile:  # fmt: skip
    """Keep the export or the report of a run in this format for so many days; a run of any size needs little memory."""
    if format_name in REPORTS:
        document = read_report(database, run_id, samples=SAMPLES)
        text = page_text(run_page(document), document, format_name, None).encode("utf-8", "replace")
        (ending, media_type), kind, content, run_id = REPORTS[format_name], "report", [text], document.run_id
        return keep_made(
            database, artifacts, content, (f"{run_id}.{ending}", kind, media_type), run_id, author, days=days
        )
    if format_name not in EXPORTS:
        known = [*EXPORTS, *REPORTS]
        hint = did_you_mean(format_name, known)
        raise UserError(f"There is no format {format_name!r}.{hint} There are: {', '.join(known)}.")
    rows = read_rows(database, run_id)
    ending, media_type = EXPORTS[format_name]
    named = (f"{rows.run_id}.{ending}", "export", media_type)
    made = _pieces(plugins.create("exports", format_name, rows))
    return keep_made(database, artifacts, made, named, rows.run_id, author, days=days)


def _pieces(chunks: Iterable[object]) -> Iterator[bytes]:
    return (bytes(memoryview(part)) for part in chunks)  # type: ignore[arg-type]
