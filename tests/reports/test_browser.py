"""The HTML report in a real browser."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from fakes.scorecards import evidence_of, small_problem
from proctor.programs.marks import scorecard_of
from proctor.reports.html import page_html
from proctor.reports.run_page import run_page
from proctor.reports.scorecard_page import scorecard_page
from proctor.runs.report import read_report
from proctor.runs.submissions.scorecard import program_card
from reports.browser import CHROMIUM, Browser
from reports.stored import FAILED, INVALID, Told, record
from reports.test_formats import HOSTILE
from stores.parts import new_database

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed")

# Downloads are caught where the page makes them: an address for the file, a link that is clicked.
CATCH = """
    window.saved = [];
    URL.createObjectURL = (blob) => { window.saved.push({ blob }); return '#'; };
    HTMLAnchorElement.prototype.click = function () { window.saved.at(-1).name = this.download; };
"""

NAME = """
    new Promise((done) => {
        const look = () => window.saved[0]?.name ? done(window.saved[0].name) : setTimeout(look, 20);
        look();
    })
"""


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("report")
    database = new_database(folder)
    names = [f"s{n:02}" for n in range(24)]
    categories = {name: f"kind {n % 3}" for n, name in enumerate(names)}
    marks: dict[str, Any] = {name: float(n % 3 > 0) for n, name in enumerate(names)}
    long = "demo/Wide-Model-Name-With-Many-Many-Parts-MMMMMMMMMMMMMM-2026-11-15-preview-instruct"
    first = Told(marks, categories=categories, cost_usd=Decimal("0.002"), text=HOSTILE)
    second = Told({**marks, "s01": FAILED, "s02": INVALID, "s04": INVALID}, model="demo/b", text=HOSTILE, error=HOSTILE)
    third = Told(marks, model=long, seconds=12_345.678)
    run = record(database, folder, first, second, third)
    path = folder / "report.html"
    path.write_text(page_html(run_page(read_report(database, run))), encoding="utf-8")
    database.dispose()
    return path


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with Browser() as started:
        yield started


@pytest.fixture
def opened(browser: Browser, page: Path) -> Browser:
    browser.requests.clear()
    browser.violations.clear()
    browser.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "light"}])
    browser.call("Emulation.clearDeviceMetricsOverride")
    browser.open(page)
    return browser


def test_the_page_runs_asks_nobody_and_breaks_no_rule_of_its_policy(opened: Browser, page: Path) -> None:
    assert opened.ask("document.documentElement.classList.contains('scripted')")
    assert opened.ask("document.title") == "Results on listed"
    assert opened.ask("document.querySelectorAll('svg.chart').length") == 5
    assert opened.requests == [page.as_uri()]
    assert opened.violations == []


def test_samples_can_be_filtered(opened: Browser) -> None:
    assert opened.ask("document.getElementById('count').textContent") == "27 of 27 shown"
    choose = """(() => {
        const field = document.querySelector('[data-filter=kind]');
        field.value = 'failed';
        field.dispatchEvent(new Event('input', { bubbles: true }));
        return [...document.querySelectorAll('.sample')].filter((one) => one.offsetParent !== null)
            .map((one) => one.dataset.kind);
    })()"""
    assert opened.ask(choose) == ["failed"]
    assert opened.ask("document.getElementById('count').textContent") == "1 of 27 shown"


def test_dark_mode_follows_the_system_and_the_button(opened: Browser) -> None:
    colour = "getComputedStyle(document.body).backgroundColor"
    assert opened.ask(colour) == "rgb(255, 255, 255)"
    opened.ask("document.getElementById('theme').click()")
    assert opened.ask(colour) == "rgb(20, 24, 29)"
    opened.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark"}])
    opened.ask("document.getElementById('theme').click()")
    assert opened.ask(colour) == "rgb(255, 255, 255)"
    opened.ask("delete document.documentElement.dataset.theme")
    assert opened.ask(colour) == "rgb(20, 24, 29)"


def test_on_paper_it_is_white_with_headings_and_without_buttons(opened: Browser) -> None:
    opened.call(
        "Emulation.setEmulatedMedia", media="print", features=[{"name": "prefers-color-scheme", "value": "dark"}]
    )
    assert opened.ask("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert opened.ask("document.getElementById('theme').offsetParent === null")
    assert opened.ask("document.querySelector('figcaption button').offsetParent === null")
    assert opened.ask("document.querySelector('th').getBoundingClientRect().height > 5")
    assert opened.ask("document.querySelector('th').innerText.trim()") == "Model"
    opened.call("Emulation.setEmulatedMedia", media="")


def test_a_narrow_screen_scrolls_tables_not_the_page(opened: Browser) -> None:
    opened.call("Emulation.setDeviceMetricsOverride", width=390, height=800, deviceScaleFactor=1, mobile=False)
    assert opened.ask("document.documentElement.scrollWidth <= 390")


def test_every_table_fits_a_window_of_1280_pixels(opened: Browser) -> None:
    opened.call("Emulation.setDeviceMetricsOverride", width=1280, height=800, deviceScaleFactor=1, mobile=False)
    tables = "[...document.querySelectorAll('.wide')].filter((one) => one.querySelector('table'))"
    headers = opened.ask(f"{tables}.map((one) => one.querySelector('thead').innerText)")
    assert any("min. detectable" in text for text in headers), "the comparison is among them"
    assert opened.ask(f"{tables}.map((one) => one.scrollWidth - one.clientWidth)") == [0] * len(headers)
    figures = "[...document.querySelectorAll('td.number:not(.text)')]"
    assert opened.ask(f"{figures}.every((one) => getComputedStyle(one).whiteSpace === 'nowrap')"), "no figure is split"


def test_a_table_can_be_sorted(opened: Browser) -> None:
    order = """(() => {
        const table = document.querySelector('table');
        table.querySelectorAll('th')[2].querySelector('button').click();
        return [...table.tBodies[0].rows].map((row) => row.cells[0].textContent);
    })()"""
    assert opened.ask(order)[0] == "demo/b"
    assert opened.ask(order)[-1] == "demo/b"


def test_no_text_of_a_chart_is_cut_off(opened: Browser) -> None:
    cut = """[...document.querySelectorAll('svg.chart')].flatMap((svg) => {
        const [, , width, height] = svg.getAttribute('viewBox').split(' ').map(Number);
        return [...svg.querySelectorAll('text')].filter((text) => {
            const box = text.getBBox();
            return box.x < 0 || box.x + box.width > width || box.y < 0 || box.y + box.height > height;
        }).map((text) => text.textContent);
    })"""
    assert opened.ask("document.querySelectorAll('svg.chart text').length") > 30
    assert opened.ask(cut) == []


@pytest.mark.parametrize(("kind", "media"), [("svg", "image/svg+xml"), ("png", "image/png")])
def test_a_chart_can_be_saved_and_stands_alone(opened: Browser, kind: str, media: str) -> None:
    opened.ask(CATCH)
    opened.ask(f"document.querySelector('[data-save={kind}]').click()")
    assert opened.ask(NAME) == f"scores-accuracy.{kind}"
    assert opened.ask("saved[0].blob.type") == media
    if kind == "svg":
        text = opened.ask("saved[0].blob.text()")
        assert "class=" not in text
        assert 'fill="rgb(0, 114, 178)"' in text
        assert "0.667 [" in text
    else:
        size = opened.ask("createImageBitmap(saved[0].blob).then((image) => [image.width, image.height])")
        assert size == [2160, 240]
    assert opened.violations == []


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_scorecard_is_whole_on_a_telephone_and_its_verdict_stands_out(
    browser: Browser, tmp_path: Path, theme: str
) -> None:
    problem = small_problem(tmp_path)
    document = program_card(scorecard_of(problem, evidence_of(problem, "adds_any_numbers")), problem)
    path = tmp_path / "card.html"
    path.write_text(page_html(scorecard_page(document)), encoding="utf-8")
    browser.call("Emulation.setDeviceMetricsOverride", width=375, height=800, deviceScaleFactor=1, mobile=False)
    browser.open(path)
    browser.ask(f"document.documentElement.dataset.theme = '{theme}'")
    cut = "[...document.querySelectorAll('svg.chart')].map((one) => one.parentElement)"
    assert browser.ask(f"{cut}.length") == 2
    assert browser.ask(f"{cut}.every((one) => one.scrollWidth <= one.clientWidth)")
    assert browser.ask("document.documentElement.scrollWidth <= innerWidth")
    styles = "getComputedStyle(document.querySelector('{}'))"
    verdict, other = styles.format(".verdict.bad"), styles.format("#s2 .say")
    assert browser.ask(f"parseInt({verdict}.fontWeight) > parseInt({other}.fontWeight)")
    assert browser.ask(f"{verdict}.color !== {other}.color")
    assert browser.ask("[...document.querySelectorAll('td.failed')].map((one) => one.textContent)") == ["failed"]
    browser.call("Emulation.clearDeviceMetricsOverride")
