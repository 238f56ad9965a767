"""Files of a server: uploaded, kept and read."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import IO
from urllib.parse import quote

from proctor.client.runs import ServedRuns
from proctor.domain.documents.file import FilePage, FileText, StoredFile


class ServedFiles(ServedRuns):
    """What is uploaded for runs, and what is kept of them."""

    def upload(self, file: Path | IO[bytes], *, name: str | None = None, run: str | None = None) -> StoredFile:
        """Upload an image, a PDF or a text; it stays as long as the run that it is for, or until it expires."""
        if isinstance(file, Path):
            with file.open("rb") as opened:
                return self.upload(opened, name=name or file.name, run=run)
        query = {"name": name, "run_id": None if run is None else self._id(run)}
        return self._convert(self._ask("POST", "/files", query, file), StoredFile)

    def keep_output(self, run: str, format: str = "csv") -> StoredFile:  # noqa: A002
        """Keep a run's export (jsonl, csv, parquet, junit, inspect) or report (html, md, json) as a file."""
        path = f"/runs/{quote(self._id(run), safe='')}/files"
        return self._convert(self._ask("POST", path, body={"format": format}), StoredFile)

    def files(self, *, limit: int = 50, after: str | None = None, kind: str | None = None) -> FilePage:
        """A page of files, newest first; the kind is image, pdf or text."""
        return self._convert(self._ask("GET", "/files", {"limit": limit, "after": after, "kind": kind}), FilePage)

    def file(self, file: str) -> StoredFile:
        """What is known of a file."""
        return self._convert(self._ask("GET", f"/files/{quote(file, safe='')}"), StoredFile)

    def file_text(self, file: str, page: int | None = None) -> FileText:
        """The text of a PDF page by page, or of one page; of a text, the text."""
        return self._convert(self._ask("GET", f"/files/{quote(file, safe='')}/text", {"page": page}), FileText)

    def download(self, file: str) -> Iterator[bytes]:
        """The content of a file, piece by piece."""
        yield from self._pieces(f"/files/{quote(file, safe='')}/content", {})

    def delete_file(self, file: str) -> None:
        """Delete a file that no run uses."""
        self._ask("DELETE", f"/files/{quote(file, safe='')}")
