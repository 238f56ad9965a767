"""Problems and scorecards over the API: the documents of the command line, and nothing that a problem hides."""

from __future__ import annotations

import json

from fakes.scorecards import keep_program
from server.serving import Server

V1 = "/api/v1"


def test_a_problem_is_described_without_what_it_hides(server: Server) -> None:
    shown = server.get(f"{V1}/problems/columns")
    code, out, _ = server.cli("problems", "show", "columns", "--json")
    assert (code, json.loads(out)) == (0, shown)
    assert set(shown["checks"]) > {"short_rows"}
    assert not any("hidden" in path for path in shown["visible"])
    for name in ("nope", "..%2Fcolumns", "%2Fetc%2Fpasswd"):
        assert server.ask("GET", f"{V1}/problems/{name}").status == 404


def test_a_scorecard_is_that_of_the_command_line_and_two_are_compared(server: Server) -> None:
    a, b = keep_program(server.home, "worse", "short_rows"), keep_program(server.home, "better", text=b"print(2)")
    shown = server.get(f"{V1}/scorecards/{a}")
    _, out, _ = server.cli("problems", "card", a, "-f", "json")
    assert json.loads(out) == shown
    assert (shown["name"], shown["passed"]) == ("worse", False)
    difference = server.get(f"{V1}/scorecards?a={a}&b={b}")
    assert [(one["id"], one["a"], one["b"]) for one in difference["requirements"]] == [("R3", "failed", "verified")]
    assert difference["files"][0]["path"] == "main.py"
    ranked = [one["submission_id"] for one in server.get(f"{V1}/problems/columns/ranking")["ranked"]]
    assert ranked.index(b) < ranked.index(a)


def test_what_is_no_scorecard_is_said(server: Server, finished: str) -> None:
    for reference in (
        "s-nope",
        "nope",
        f"{finished}/columns/0",
        f"{finished}/columns/x/demo/strong",
        "a/b/999999999999/c",
    ):
        assert server.ask("GET", f"{V1}/scorecards/{reference}").status == 404
    assert "no answer to" in server.ask("GET", f"{V1}/scorecards/{finished}/columns/0/demo/strong").json["detail"]
    assert server.ask("GET", f"{V1}/scorecards?a=s-nope").status == 422
