"""What a report says, before it is HTML, Markdown or a terminal: titles, sentences, tables and charts."""

from __future__ import annotations

from base64 import b64encode

from msgspec import Struct

from proctor.reports.charts import Chart
from proctor.reports.theme import DEFAULT, Theme


class Table(Struct, frozen=True):
    """Cells are final text; the first `words` columns are names, the others figures."""

    headers: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    words: int = 1
    title: str = ""


class Detail(Struct, frozen=True):
    """A longer text that is shown when asked for: a log, a file."""

    title: str
    text: str


class Download(Struct, frozen=True):
    """A file that comes with an HTML page."""

    title: str
    name: str
    media_type: str
    content: bytes

    @property
    def link(self) -> str:
        return f"data:{self.media_type};base64,{b64encode(self.content).decode()}"


class Section(Struct, frozen=True):
    title: str
    text: tuple[str, ...] = ()
    tables: tuple[Table, ...] = ()
    charts: tuple[Chart, ...] = ()
    notes: tuple[str, ...] = ()
    details: tuple[Detail, ...] = ()
    downloads: tuple[Download, ...] = ()
    tone: str = ""
    """`good` or `bad` where the first sentence is a verdict, which is to be seen at once."""


class SampleSection(Struct, frozen=True):
    """A trial to look at; its texts, by their names, are already cut to a bounded size."""

    kind: str
    model: str
    benchmark: str
    sample_id: str
    category: str | None
    what: str
    """Why it is shown, on one line."""
    parts: tuple[tuple[str, str], ...]


class Page(Struct, frozen=True):
    """A whole report; `samples` are trials to look at."""

    title: str
    subtitle: str
    sections: tuple[Section, ...]
    samples: tuple[SampleSection, ...] = ()
    samples_note: str = ""
    theme: Theme = DEFAULT
    """The colours, for formats that have any."""
