"""Stored runs from Python: the same use cases as the command line, so the same numbers to the last digit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson
import pytest

import proctor
from commands import Cli
from proctor.domain.errors import NotFoundError, PlanError


@pytest.fixture
def runs(home: Path) -> list[proctor.Run]:
    """Two models, twice, with other samples each time."""
    models = ["demo/strong", "demo/weak"]
    return [proctor.evaluate("puzzles", models=models, limit=40, seed=seed) for seed in (1, 1)]


def plain(value: Any) -> Any:
    """As a reader of `--json` has it."""
    return orjson.loads(orjson.dumps(value, option=orjson.OPT_NON_STR_KEYS, default=str))


def test_an_opened_run_is_the_one_that_was_evaluated(runs: list[proctor.Run], cli: Cli) -> None:
    run = runs[1]
    for reference in (run, run.id, run.id[:-1] if run.id[:-1] != runs[0].id[:-1] else run.id, "latest"):
        opened = proctor.open_run(reference)
        assert (opened.id, opened.metrics, opened.status) == (run.id, run.metrics, run.status)
    assert list(proctor.open_run().results()) == list(run.results())
    shown = cli("show", "--json").json
    assert shown.pop("waiting_for") is None  # of the moment that it was shown
    assert plain(proctor.open_run().document) == shown
    with pytest.raises(NotFoundError, match="No run 'nope'"):
        proctor.open_run("nope")


def test_a_comparison_is_that_of_the_command_line(runs: list[proctor.Run], cli: Cli) -> None:
    for references, flags in (((runs[0],), ()), ((runs[0], runs[1].id), ("--model", "demo/weak"))):
        models = flags[1:]
        found = proctor.compare(*references, models=models, target=0.07, flips=2)
        ids = [one if isinstance(one, str) else one.id for one in references]
        shown = cli("compare", *ids, *flags, "--target", 0.07, "--flips", 2, "--json").json
        assert plain(found.document) == shown
        assert len(found) == len(shown["comparisons"]) > 0
        for one, item in zip(found, shown["comparisons"], strict=True):
            assert (one.p_value, one.better, one.verdict, one.n) == tuple(
                item[name] for name in ("p_value", "better", "verdict", "n")
            )
            assert [one.difference.value, one.difference.low, one.difference.high] == [
                item["difference"]["value"], *item["difference"]["ci95"],
            ]  # fmt: skip
            assert one.a.score.value == item["a"]["score"]["value"]
    assert found[0].a.model == found[0].b.model == "demo/weak"


def test_a_leaderboard_is_that_of_the_command_line(runs: list[proctor.Run], cli: Cli) -> None:
    found = proctor.leaderboard("puzzles", best=True)
    shown = cli("leaderboard", "--benchmark", "puzzles", "--best", "--json").json
    assert plain(found.document) == shown
    (table,) = found.tables
    assert [(row.rank, row.model, row.estimate.value) for row in table.rows] == [
        (row["rank"], row["model"], row["estimate"]["value"]) for row in shown["tables"][0]["rows"]
    ]
    with pytest.raises(NotFoundError, match="Did you mean 'puzzles'"):
        proctor.leaderboard("puzles")


@pytest.mark.parametrize("form", ["html", "md", "json"])
def test_a_report_is_that_of_the_command_line(runs: list[proctor.Run], cli: Cli, form: str) -> None:
    report = proctor.report(runs[0], samples=3)
    path = report.save(f"out.{form}")
    cli("report", runs[0].id, "--samples", 3, "-f", form, "-o", f"shown.{form}")
    assert path.read_text() == Path(f"shown.{form}").read_text()
    assert path.read_text() == {"html": report.html, "md": report.markdown, "json": report.json}[form]


def test_a_report_of_no_known_format_is_refused(runs: list[proctor.Run]) -> None:
    with pytest.raises(PlanError, match=r"written as \.html, \.htm, \.md, \.markdown, \.json"):
        proctor.report().save("report.docx")
    with pytest.raises(proctor.UserError, match="cannot be written"):
        proctor.report().save("no/such/folder/report.html")


def test_rescoring_is_that_of_the_command_line(runs: list[proctor.Run], cli: Cli) -> None:
    scorers: Any
    for scorers in ({"includes": {"whole_words": False}}, "includes:whole_words=false", ["includes:whole_words=false"]):
        found = proctor.rescore(runs[0], scorers)
        assert found.is_complete
        assert found.is_in_force
    shown = cli("rescore", runs[1].id, "--scorer", "includes:whole_words=false", "--json").json
    ours, theirs = found.document["evaluations"], shown["evaluations"]
    assert [item["after"] for item in plain(ours)] == [item["after"] for item in theirs]
    first = found.evaluations[0]
    assert first.after["includes"]["accuracy"].value == theirs[0]["after"]["includes"]["metrics"]["accuracy"]["value"]


def test_stored_scores_are_put_in_force_again(runs: list[proctor.Run]) -> None:
    before = runs[0].metrics
    proctor.rescore(runs[0], "includes")
    assert proctor.open_run(runs[0]).metrics != before
    assert proctor.rescore(runs[0], use="puzzle").is_in_force
    assert proctor.open_run(runs[0]).metrics == before


@pytest.mark.parametrize("arguments", [{}, {"scorers": "includes", "use": "puzzle"}])
def test_rescoring_takes_scorers_or_stored_scores(runs: list[proctor.Run], arguments: dict[str, str]) -> None:
    with pytest.raises(PlanError, match="either scorers"):
        proctor.rescore(**arguments)  # type: ignore[arg-type]


def test_what_is_no_run_is_said(home: Path) -> None:
    with pytest.raises(PlanError, match="A run is what evaluate\\(\\) gave, an id or 'latest', not 5"):
        proctor.report(5)  # type: ignore[arg-type]
