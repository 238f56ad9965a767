"""Every form of a report holds the same numbers, and no text of a model becomes markup in any of them."""

from __future__ import annotations

import base64
import hashlib
import re
from decimal import Decimal
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from proctor.reports.comparison_page import comparison_page
from proctor.reports.figures import difference_text, estimate_text
from proctor.reports.html import page_html
from proctor.reports.markdown import page_markdown
from proctor.reports.report_samples import MAX_TEXT
from proctor.reports.run_page import run_page
from proctor.reports.sections import Page, Section, Table
from proctor.runs.comparing.compare import compare_runs
from proctor.runs.report import read_report
from proctor.stores.database import Database
from reports.stored import FAILED, INVALID, Told, record

HOSTILE = (
    "</pre></script><script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\">"
    "<style>*{display:none}</style> | [link](javascript:alert(1)) {{ 7*7 }} ]]> &amp; \x00\x1b[31m"
)


class Cells(HTMLParser):
    """What a browser would see: the text of every cell, and every tag with its attributes."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self._is_cell = False
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag == "tr":
            self.rows.append([])
        self._is_cell = tag in ("td", "th")
        if self._is_cell:
            self.rows[-1].append("")

    def handle_data(self, data: str) -> None:
        if self._is_cell:
            self.rows[-1][-1] += data

    def handle_endtag(self, tag: str) -> None:
        if tag in ("td", "th"):
            self._is_cell = False


@pytest.fixture
def document(database: Database, tmp_path: Path) -> dict[str, Any]:
    names = [f"s{n:02}" for n in range(30)]
    categories = {name: f"kind {n % 3}" for n, name in enumerate(names)}
    first = {name: float(n % 4 > 0) for n, name in enumerate(names)}
    second: dict[str, Any] = {name: float(n % 3 > 0) for n, name in enumerate(names)}
    second.update(s01=FAILED, s02=INVALID, s03=INVALID)
    run = record(
        database,
        tmp_path,
        Told(first, categories=categories, cost_usd=Decimal("0.0021"), text=HOSTILE),
        Told(second, model="demo/b", categories=categories, text=HOSTILE, error=f"503 {HOSTILE}"),
    )
    return read_report(database, run)


def markdown_rows(text: str) -> list[list[str]]:
    lines = [line for line in text.splitlines() if line.startswith("| ") and not line.startswith("| ---")]
    return [[_plain(cell) for cell in re.split(r"(?<!\\) \| ", line[2:-2])] for line in lines]


def _plain(cell: str) -> str:
    return re.sub(r"\\(.)", r"\1", cell)


def test_the_tables_are_the_same_in_html_and_markdown(document: dict[str, Any]) -> None:
    page = run_page(document)
    tables = [table for section in page.sections for table in section.tables]
    expected = [[" ".join(cell.split()) for cell in row] for table in tables for row in (table.headers, *table.rows)]
    seen = [[" ".join(cell.split()) for cell in row] for row in Cells(page_html(page)).rows]
    assert seen == expected
    samples = ("Kind", "failed", "invalid", "wrong")
    written = [row for row in markdown_rows(page_markdown(page)) if row[0] not in samples]
    assert written == expected


def test_every_estimate_of_the_json_stands_in_both_tables(document: dict[str, Any]) -> None:
    page = run_page(document)
    html = {cell for row in Cells(page_html(page)).rows for cell in row}
    markdown = {cell for row in markdown_rows(page_markdown(page)) for cell in row}
    estimates = [
        estimate_text(estimate)
        for item in document.evaluations
        for part in (item.metrics, *item.categories.values())
        for estimate in part.values()
    ]
    estimates += [difference_text(item.difference) for item in document.comparison.comparisons]
    assert len(estimates) == 2 * (1 + 3) + 1
    assert all("[" in text for text in estimates)
    assert set(estimates) <= html
    assert set(estimates) <= markdown


def test_the_report_compares_the_models_and_counts_faults_apart(document: dict[str, Any]) -> None:
    [item] = document.comparison.comparisons
    assert item.n == 29
    assert item.left_out.only_a_failed_in_b == 1
    text = page_markdown(run_page(document))
    assert "1 sample left out: 1 failed in B." in text
    said = "1 trial failed and is in no score. 2 answers could not be read and score 0. 17 answers scored below 1."
    assert said in text


def test_text_of_a_model_never_becomes_markup(document: dict[str, Any]) -> None:
    html = page_html(run_page(document))
    tags = Cells(html).tags
    assert [name for name, _ in tags].count("script") == 1
    assert [name for name, _ in tags].count("style") == 1
    assert not [tag for tag in tags if tag[0] in ("img", "iframe", "object", "link", "base")]
    assert not [name for _, attributes in tags for name in attributes if name.startswith("on") or name == "style"]
    assert "&lt;script&gt;document.title" in html
    assert "{{ 7*7 }}" in html


def test_text_of_a_model_never_becomes_markdown() -> None:
    page = Page(HOSTILE, HOSTILE, (Section(HOSTILE, (HOSTILE,), (Table((HOSTILE,), ((HOSTILE,),)),), (), (HOSTILE,)),))
    text = page_markdown(page)
    assert not re.search(r"(?<!\\)[<\[`]", text)
    rows = [line for line in text.splitlines() if line.startswith("|")]
    assert [len(re.findall(r"(?<!\\)\|", line)) for line in rows] == [2, 2, 2]


def test_the_page_asks_nobody_and_runs_only_its_own_script(document: dict[str, Any]) -> None:
    html = page_html(run_page(document))
    tags = Cells(html).tags
    addresses = [value for _, attributes in tags for name, value in attributes.items() if name in ("src", "href")]
    assert addresses
    assert all(address is not None and address.startswith("#") for address in addresses)
    outside = set(re.findall(r"https?://[^\s\"'<]+", html))
    assert outside == {"http://www.w3.org/2000/svg"}
    [policy] = [a["content"] or "" for _, a in tags if a.get("http-equiv") == "Content-Security-Policy"]
    assert policy.startswith("default-src 'none';")
    assert "unsafe" not in policy
    for kind in ("style", "script"):
        [body] = re.findall(rf"<{kind}>(.*?)</{kind}>", html, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(body.encode()).digest()).decode()
        assert f"{kind}-src 'sha256-{digest}'" in policy


def test_a_report_of_many_long_failures_stays_small_and_says_so(database: Database, tmp_path: Path) -> None:
    marks: dict[str, Any] = {f"s{n:03}": FAILED if n % 2 else INVALID for n in range(300)}
    run = record(database, tmp_path, Told(marks, text="long " * 10_000))
    document = read_report(database, run, samples=40)
    page = run_page(document)
    html = page_html(page)
    assert len(page.samples) == 40
    assert {item.kind for item in page.samples} == {"failed", "invalid"}
    assert len(html) < 40 * 2 * MAX_TEXT
    assert "40 of these 300 are shown" in html
    assert f"({50_000 - MAX_TEXT:,} more characters)" in html


def test_a_comparison_has_the_same_numbers_in_every_form(database: Database, tmp_path: Path) -> None:
    first = Told({f"s{n}": float(n % 2) for n in range(20)})
    second = Told({f"s{n}": float(n % 3 > 0) for n in range(20)}, model="demo/<b>")
    document = compare_runs(database, [record(database, tmp_path, first, second)], flips=3)
    page = comparison_page(document)
    tables = [table for section in page.sections for table in section.tables]
    expected = [[" ".join(cell.split()) for cell in row] for table in tables for row in (table.headers, *table.rows)]
    assert [[" ".join(cell.split()) for cell in row] for row in Cells(page_html(page)).rows] == expected
    assert markdown_rows(page_markdown(page)) == expected
    assert document.comparisons[0].verdict in page.sections[0].text[0]
