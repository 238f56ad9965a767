"""What every report format keeps: the same page gives the same text, which holds every title, sentence and figure."""

from __future__ import annotations

from pathlib import Path

import pytest

from plugins.example import names
from proctor.reports.formats import format_of, page_text, report_endings
from proctor.reports.sections import Page, Section, Table

HOSTILE = "<script>alert(1)</script>"
TABLE = Table(("Model", "accuracy"), (("demo/strong", "0.731"), ("a|b", "0.42")))
PAGE = Page("A report", "of a run", (Section("Summary", ("It was measured.",), (TABLE,), notes=(HOSTILE,)),))
DOCUMENT = {"title": "A report", "figures": ["0.731", "0.42"], "summary": "It was measured.", "model": "demo/strong"}


@pytest.mark.parametrize("form", names("reports"))
def test_every_title_sentence_and_figure_is_there(form: str) -> None:
    text = page_text(PAGE, DOCUMENT, form)
    assert text == page_text(PAGE, DOCUMENT, form)
    assert not [part for part in ("A report", "It was measured.", "demo/strong", "0.731", "0.42") if part not in text]
    assert text.endswith(("\n", "</html>"))


@pytest.mark.parametrize("form", names("reports"))
def test_a_page_without_sections_is_a_report_too(form: str) -> None:
    assert "A report" in page_text(Page("A report", "", ()), {"title": "A report"}, form)


def test_no_text_becomes_markup() -> None:
    assert HOSTILE not in page_text(PAGE, DOCUMENT, "html")


@pytest.mark.parametrize("form", names("reports"))
def test_a_file_is_written_in_the_form_it_is_called_after(form: str) -> None:
    assert format_of(Path(f"out.{form.upper()}").suffix) == form
    assert f".{form}" in report_endings()


def test_other_endings_are_known_or_no_form_at_all() -> None:
    assert (format_of(".htm"), format_of(".markdown"), format_of(".docx"), format_of("")) == ("html", "md", None, None)
