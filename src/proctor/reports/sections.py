"""What a report says, before it is HTML, Markdown or a terminal: titles, sentences, tables and charts."""

from __future__ import annotations

from base64 import b64encode
from dataclasses import dataclass
from typing import Any

from proctor.reports.charts import Chart


@dataclass(frozen=True, slots=True)
class Table:
    """Cells are final text; the first `words` columns are names, the others figures."""

    headers: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    words: int = 1
    title: str = ""


@dataclass(frozen=True, slots=True)
class Detail:
    """A longer text that is shown when asked for: a log, a file."""

    title: str
    text: str


@dataclass(frozen=True, slots=True)
class Download:
    """A file that comes with an HTML page."""

    title: str
    name: str
    media_type: str
    content: bytes

    @property
    def link(self) -> str:
        return f"data:{self.media_type};base64,{b64encode(self.content).decode()}"


@dataclass(frozen=True, slots=True)
class Section:
    title: str
    text: tuple[str, ...] = ()
    tables: tuple[Table, ...] = ()
    charts: tuple[Chart, ...] = ()
    notes: tuple[str, ...] = ()
    details: tuple[Detail, ...] = ()
    downloads: tuple[Download, ...] = ()


@dataclass(frozen=True, slots=True)
class Page:
    """A whole report; `samples` are trials to look at, already cut to a bounded size."""

    title: str
    subtitle: str
    sections: tuple[Section, ...]
    samples: tuple[dict[str, Any], ...] = ()
    samples_note: str = ""
