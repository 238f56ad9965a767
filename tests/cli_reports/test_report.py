from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import msgspec
import pytest

from commands import Cli
from proctor.domain.documents.estimate import MetricEstimate
from proctor.reports.figures import estimate_text

GOOD = "models: [{model: demo/strong, label: mine}]\nbenchmarks: [puzzles]\n"
BAD = "models: [{model: demo/weak, label: mine}]\nbenchmarks: [puzzles]\n"


def test_the_report_holds_the_numbers_of_show_in_every_format(cli: Cli) -> None:
    shown = cli("run", "puzzles", "-m", "demo/strong", "-m", "demo/weak", "--limit", 60, "--json").json
    document = cli("report", "-f", "json").json
    assert document["evaluations"] == shown["evaluations"]
    html, markdown = cli("report").out, cli("report", "-f", "md").out
    for item in document["evaluations"]:
        text = estimate_text(msgspec.convert(item["metrics"]["accuracy"], MetricEstimate))
        assert f'<td class="number">{text}</td>' in html
        assert text.replace("[", r"\[").replace("]", r"\]") in markdown
    assert "proctor show " + shown["run_id"] in html


def test_a_report_is_written_when_the_run_ends(cli: Cli, tmp_path: Path) -> None:
    paths = [tmp_path / name for name in ("r.html", "r.md", "r.json", "r.xml")]
    reports = [part for path in paths for part in ("--report", path)]
    ended = cli("run", "puzzles", "-m", "demo/weak", "--limit", 30, "--fail-under", "accuracy=0.99", *reports)
    assert ended.code == 1
    assert paths[0].read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    assert paths[1].read_text(encoding="utf-8").startswith("# Results on puzzles")
    assert '"kind": "report"' in paths[2].read_text(encoding="utf-8")
    root = ElementTree.parse(paths[3]).getroot()
    assert (root.attrib["tests"], root.attrib["failures"]) == ("1", "1")
    [case] = root.iter("testcase")
    assert (case.attrib["classname"], case.attrib["name"]) == ("demo/weak on puzzles", "accuracy is at least 0.99")
    assert "below 0.99" in case[0].attrib["message"]


@pytest.mark.parametrize("name", ["r.pdf", "r", "nowhere/r.html"])
def test_a_report_that_cannot_be_written_is_refused_before_anything_is_asked(cli: Cli, name: str) -> None:
    ended = cli("run", "puzzles", "-m", "demo/weak", "--report", name)
    assert ended.code == 2
    assert "--report" in ended.error
    assert cli("runs", "--json").json == []


def test_a_model_that_became_worse_fails_the_build(cli: Cli, tmp_path: Path) -> None:
    good, bad = tmp_path / "good.yaml", tmp_path / "bad.yaml"
    good.write_text(GOOD)
    bad.write_text(BAD)
    before = cli("run", good, "--json").json["run_id"]
    xml = tmp_path / "gates.xml"
    worse = cli("run", bad, "--fail-on-regression", "latest", "--report", xml)
    assert worse.code == 1
    assert f"Error: mine on puzzles is worse than in run {before}: mine ({before}) is better by " in worse.err
    [case] = ElementTree.parse(xml).getroot().iter("testcase")
    assert case.attrib["name"] == f"not worse than in run {before}"
    assert len(case) == 1
    same = cli("run", good, "--fail-on-regression", before)
    assert same.code == 0
    better = cli("run", good, "--fail-on-regression", "latest")
    assert better.code == 0


def test_a_difference_that_is_not_shown_does_not_fail_the_build(cli: Cli) -> None:
    cli("run", "puzzles", "-m", "demo/strong", "-m", "demo/average", "--limit", 10)
    names = cli("compare", "latest", "--json").json["comparisons"][0]
    assert names["better"] is None
    assert names["difference"]["value"] <= 0
    plan = Path("plan.yaml")
    plan.write_text("models: [{model: demo/average}]\nbenchmarks: [{benchmark: puzzles, limit: 10}]\n")
    cli("run", "puzzles", "-m", "demo/strong", "--limit", 10)
    assert cli("run", plan, "--fail-on-regression", "latest").code == 0


def test_a_gate_that_cannot_be_checked_does_not_pass(cli: Cli) -> None:
    before = cli("run", "puzzles", "-m", "demo/strong", "--limit", 20, "--json").json["run_id"]
    other = cli("run", "puzzles", "-m", "demo/strong", "--limit", 30, "--fail-on-regression", "latest")
    assert other.code == 1
    assert f"demo/strong on puzzles could not be compared with run {before}" in other.err
    assert "The samples differ (20 and 30)." in other.err
    missing = cli("run", "puzzles", "-m", "demo/strong", "--fail-on-regression", "nope")
    assert missing.code == 2
    assert len(cli("runs", "--json").json) == 2


def test_a_gate_with_nothing_measured_on_either_side_does_not_pass(cli: Cli) -> None:
    before = cli("run", "puzzles", "-m", "http/?url=http://127.0.0.1:9/", "--limit", 2, "--retries", 0, "--json").json[
        "run_id"
    ]
    ended = cli(
        "run",
        "puzzles",
        "-m",
        "http/?url=http://127.0.0.1:9/",
        "--limit",
        2,
        "--retries",
        0,
        "--fail-on-regression",
        before,
    )
    assert ended.code == 1
    assert "nothing to compare: no sample was answered by both" in ended.err


def test_models_that_only_the_baseline_has_do_not_matter(cli: Cli) -> None:
    cli("run", "puzzles", "-m", "demo/strong", "-m", "demo/weak", "--limit", 20)
    assert cli("run", "puzzles", "-m", "demo/weak", "--limit", 20, "--fail-on-regression", "latest").code == 0
    cli("run", "puzzles", "-m", "demo/strong", "-m", "demo/weak", "--limit", 20)
    other = cli("run", "puzzles", "-m", "demo/weak", "--limit", 30, "--fail-on-regression", "latest")
    assert "The samples differ (20 and 30)." in other.err
    assert "demo/strong" not in other.err


def test_exports_for_ci_and_data_tools(cli: Cli, tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    cli("run", "puzzles", "-m", "demo/weak", "--limit", 30)
    root = ElementTree.fromstring(cli("export", "-f", "junit").out)
    assert root.attrib["tests"] == "30"
    path = tmp_path / "r.parquet"
    assert cli("export", "-f", "parquet", "-o", path).err == f"Written to {path}.\n"
    table = parquet.read_table(path).to_pylist()
    wrong = [row for row in table if row["scores"][0]["value"] < 0.5]
    assert len(wrong) == int(root.attrib["failures"])
    assert cli("export", "-f", "parquet", "-o", tmp_path / "none" / "r.parquet").code == 2


@pytest.mark.parametrize("command", [("report",), ("compare", "latest"), ("leaderboard",)])
def test_every_command_that_writes_a_page_takes_the_format_from_the_ending_of_the_file(
    cli: Cli, command: tuple[str, ...]
) -> None:
    assert cli("run", "puzzles", "-m", "demo/strong", "-m", "demo/weak", "--limit", 10).code == 0
    beginnings = {"out.htm": "<!DOCTYPE html>", "out.md": "# ", "out.json": "{"}
    for name, beginning in beginnings.items():
        assert cli(*command, "-o", name).code == 0
        assert Path(name).read_text(encoding="utf-8").startswith(beginning)
    refused = cli(*command, "-o", "out.xyz")
    assert refused.code == 2
    assert "-o: out.xyz ends in none of .html, .htm, .md, .markdown, .json: choose the format with -f." in refused.err
    assert not Path("out.xyz").exists()
    assert cli(*command, "-o", "out.xyz", "-f", "md").code == 0


@pytest.mark.parametrize("command", [("compare", "latest"), ("leaderboard",)])
def test_json_is_json_in_a_file_too_and_no_second_format_is_overlooked(cli: Cli, command: tuple[str, ...]) -> None:
    assert cli("run", "puzzles", "-m", "demo/strong", "-m", "demo/weak", "--limit", 10).code == 0
    assert cli(*command, "--json", "-o", "out.md").code == 0
    assert json.loads(Path("out.md").read_text(encoding="utf-8"))["kind"] == command[0].replace("compare", "comparison")
    assert "--json and -f md contradict each other" in cli(*command, "--json", "-f", "md").err


def test_a_page_of_a_comparison_lists_flips_however_its_format_was_chosen(cli: Cli) -> None:
    assert cli("run", "puzzles", "-m", "demo/strong", "-m", "demo/weak", "--limit", 40).code == 0
    assert cli("compare", "latest", "-o", "out.html").code == 0
    assert "Samples that only one got right" in Path("out.html").read_text(encoding="utf-8")
