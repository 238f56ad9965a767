"""What the command line does to stored runs and programs, done in a real browser on a real server."""

from __future__ import annotations

from dashboard.conftest import Browser
from dashboard.test_journeys import compare_query
from server.serving import Server

SMALL = {"models": ["demo/strong"], "benchmarks": [{"benchmark": "puzzles", "limit": 5}]}


def test_a_run_is_deleted_and_can_be_taken_back_before(browser: Browser, served: Server) -> None:
    run = served.run({"name": "to delete", **SMALL})
    seen = browser.go("deleteRun", served, run=run)
    assert (seen["meanwhile"], seen["after"], seen["gone"]) == (0, 1, 0)
    assert "to delete was deleted." in seen["said"]
    assert seen["found"] == []
    assert served.ask("GET", f"/api/v1/runs/{run}").status == 404


def test_a_run_is_scored_again_and_what_changed_is_said(browser: Browser, served: Server) -> None:
    run = served.run(SMALL)
    [scorer] = served.get(f"/api/v1/runs/{run}")["evaluations"][0]["scorers"]
    seen = browser.go("rescore", served, run=run, scorer="includes", stored=scorer)
    assert seen["before"] == scorer
    assert "nonsense" in seen["refused"]
    assert "of 5 scores changed" in seen["changed"]
    assert [row.split("\t")[0] for row in seen["rows"]] == ["old", "new"]
    assert seen["empty"] == seen["found"] == []
    rescorings = served.get(f"/api/v1/runs/{run}/rescorings")["items"]
    assert [one["status"] for one in rescorings] == ["completed", "completed"]
    assert rescorings[0]["request"]["use"] == [scorer]
    assert list(served.get(f"/api/v1/runs/{run}")["evaluations"][0]["scorers"]) == [scorer]


def test_the_samples_a_difference_needs_are_said_as_by_the_command_line(
    browser: Browser, served: Server, finished: str
) -> None:
    seen = browser.go("power", served, query=compare_query(finished))
    pair = ("--model", "demo/strong", "--model", "demo/weak", "--on", "puzzles")
    assert seen["measured"] == served.cli("power", finished, *pair)[1].strip()
    assert seen["given"] == served.cli("power", "--samples", "500", "--discordance", "0.2")[1].strip()
    assert seen["found"] == []
