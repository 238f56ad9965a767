"""What every report form keeps: the same page gives the same text, which holds every title, sentence and figure."""

from __future__ import annotations

from pathlib import Path

import pytest

from plugins.example import names
from proctor.reports.forms import form_of, report_endings, write_report
from proctor.reports.sections import Page, Section, Table

HOSTILE = "<script>alert(1)</script>"
TABLE = Table(("Model", "accuracy"), (("demo/strong", "0.731"), ("a|b", "0.42")))
PAGE = Page("A report", "of a run", (Section("Summary", ("It was measured.",), (TABLE,), notes=(HOSTILE,)),))
DOCUMENT = {"title": "A report", "figures": ["0.731", "0.42"], "summary": "It was measured.", "model": "demo/strong"}


@pytest.mark.parametrize("form", names("reports"))
def test_every_title_sentence_and_figure_is_there(form: str) -> None:
    text = write_report(form, PAGE, DOCUMENT)
    assert text == write_report(form, PAGE, DOCUMENT)
    assert not [part for part in ("A report", "It was measured.", "demo/strong", "0.731", "0.42") if part not in text]
    assert text.endswith(("\n", "</html>"))


@pytest.mark.parametrize("form", names("reports"))
def test_a_page_without_sections_is_a_report_too(form: str) -> None:
    assert "A report" in write_report(form, Page("A report", "", ()), {"title": "A report"})


def test_no_text_becomes_markup() -> None:
    assert HOSTILE not in write_report("html", PAGE, DOCUMENT)


@pytest.mark.parametrize("form", names("reports"))
def test_a_file_is_written_in_the_form_it_is_called_after(form: str) -> None:
    assert form_of(Path(f"out.{form.upper()}").suffix) == form
    assert f".{form}" in report_endings()


def test_other_endings_are_known_or_no_form_at_all() -> None:
    assert (form_of(".htm"), form_of(".markdown"), form_of(".docx"), form_of("")) == ("html", "md", None, None)
