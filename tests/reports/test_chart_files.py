from __future__ import annotations

import struct
from pathlib import Path
from xml.etree import ElementTree

import pytest

from commands import Cli
from proctor import plugins
from proctor.domain.documents.evaluation import EvaluationSummary
from proctor.reports.frontier import frontier_section
from proctor.reports.run_page import run_page
from proctor.reports.sections import Page
from proctor.reports.shapes import Line, TextShape
from proctor.reports.theme import DEFAULT
from proctor.runs.report import read_report
from proctor.stores.database import Database
from reports.parts import estimate, evaluation
from reports.stored import Told, record

matplotlib = pytest.importorskip("matplotlib")
SVG = "{http://www.w3.org/2000/svg}"
LONG = "openrouter/an-organisation/a-model-with-a-very-long-name-70b-instruct-fp8?temperature=0"


@pytest.fixture
def page(database: Database, tmp_path: Path) -> Page:
    categories = {f"s{n}": f"kind {n % 2}" for n in range(20)}
    told = [Told({f"s{n}": float(n % 3 > 0) for n in range(20)}, model=name, categories=categories) for name in
            ("demo/$a_b", LONG)]  # fmt: skip
    return run_page(read_report(database, record(database, tmp_path, *told)))


def test_every_chart_is_written_as_svg_and_png(page: Page, tmp_path: Path) -> None:
    from proctor.reports.chart_files import write_charts

    written = write_charts(page, tmp_path / "new" / "charts")
    names = {path.name for path in written}
    assert names >= {"scores-accuracy.svg", "scores-accuracy.png", "categories.png", "differences.png", "latency.png"}
    for path in written:
        content = path.read_bytes()
        if path.suffix == ".png":
            assert content.startswith(b"\x89PNG")
            width, height = struct.unpack(">II", content[16:24])
            assert width >= 2 * 1080
            assert height > 100
        else:
            root = ElementTree.fromstring(content)
            assert "class" not in {name for part in root.iter() for name in part.attrib}
            assert root.find(f"{SVG}rect") is not None


def test_a_written_chart_has_its_title_intervals_and_n(page: Page, tmp_path: Path) -> None:
    from proctor.reports.chart_files import write_charts

    write_charts(page, tmp_path)
    root = ElementTree.parse(tmp_path / "scores-accuracy.svg").getroot()
    texts = ["".join(part.itertext()) for part in root.iter(f"{SVG}text")]
    assert texts[0] == "accuracy with 95 % interval"
    assert sum("n=20" in text for text in texts) == 2
    colours = {part.attrib["stroke"] for part in root.iter(f"{SVG}line")}
    assert set(DEFAULT.light.series[:2]) <= colours


def test_cost_against_quality_draws_the_interval_of_each_score() -> None:
    def priced(model: str, score: float, cost: float) -> EvaluationSummary:
        metrics = {"accuracy": estimate(score, ci95=(score - 0.1, score + 0.05))}
        return evaluation(
            model=model, benchmark="org/b", metrics=metrics, cost_usd=cost, answers_cost_usd=cost,
            cost_per_correct_usd=cost,
        )  # fmt: skip

    section = frontier_section([priced("a", 0.5, 1.0), priced("b", 0.9, 3.0)])
    assert section is not None
    [chart] = section.charts
    bars = [shape for shape in chart.shapes if isinstance(shape, Line) and shape.kind in ("bar s0", "bar s1")]
    assert [round(abs(bar.y1 - bar.y2), 1) for bar in bars] == [48.0, 48.0]  # 0.15 of the height of the plane
    texts = [shape.text for shape in chart.shapes if isinstance(shape, TextShape)]
    assert {"Cost per answer", "Score"} <= set(texts)
    assert chart.note == "The line joins the models on the frontier."


def test_the_command_writes_charts_without_the_report(cli: Cli, tmp_path: Path) -> None:
    assert cli("run", "puzzles", "-m", "demo/strong", "--limit", "5").code == 0
    ended = cli("report", "--charts", "charts")
    assert (ended.code, ended.out) == (0, "")
    assert "scores-accuracy.png" in ended.err
    assert cli("report", "--charts", "charts", "-f", "md", "-o", "report.md").code == 0


def test_written_charts_have_the_colours_of_the_theme(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "dusk.py").write_text("def create():\n    return {'light': {'paper': '#123456'}}\n", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setitem(plugins.BUILT_IN["themes"], "dusk", "dusk:create")
    assert cli("run", "puzzles", "-m", "demo/strong", "--limit", "5").code == 0
    assert cli("report", "--charts", "charts", "--theme", "dusk").code == 0
    root = ElementTree.parse(Path("charts/scores-accuracy.svg")).getroot()
    paper = root.find(f"{SVG}rect")
    assert paper is not None
    assert paper.attrib["fill"] == "#123456"
