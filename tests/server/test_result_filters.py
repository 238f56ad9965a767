"""Results by every filter, and any row of a list by one request: the same rows as reading from the beginning."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

import pytest

from server.serving import Server

V1 = "/api/v1"
TAGGED: dict[str, Any] = {"models": ["demo/weak"], "benchmarks": [{"benchmark": "puzzles", "limit": 1}]}


@pytest.fixture(scope="module")
def run(server: Server) -> str:
    plan = {"models": ["demo/average", "demo/weak"], "benchmarks": [{"benchmark": "puzzles", "limit": 45}], "epochs": 2}
    return server.run(plan)


@pytest.fixture(scope="module")
def rows(server: Server, run: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = server.get(f"{V1}/runs/{run}/results?limit=500")["items"]
    assert len(found) == 180
    return found


def mark(row: dict[str, Any]) -> float:
    value: float = row["scores"]["puzzle"]["value"]
    return value


@pytest.mark.parametrize(
    ("query", "fits"),
    [
        ({"model": "demo/weak", "epoch": "1"}, lambda row: row["model"] == "demo/weak" and row["epoch"] == 1),
        ({"wrong": "true"}, lambda row: mark(row) < 1),
        ({"score_from": "1"}, lambda row: mark(row) == 1),
        ({"score_to": "0"}, lambda row: mark(row) == 0),
        ({"outcome": "invalid"}, lambda row: row["outcome"] == "invalid"),
        ({"reason": "IT EQUALS"}, lambda row: "it equals" in row["scores"]["puzzle"]["reason"]),
        ({"error": "refused"}, lambda row: False),
        ({"latency_from": "0.00003"}, lambda row: row["latency_seconds"] >= 0.00003),
        ({"tokens_from": "20"}, lambda row: row["usage"]["output_tokens"] >= 20),
        ({"cost_from": "0.01"}, lambda row: False),
        ({"disputed": "true"}, lambda row: False),
        ({"answer": "ANSWER:"}, lambda row: "answer:" in row["response"].lower()),
        ({"prompt": "answer:"}, lambda row: "answer:" in row["input"].lower()),
        ({"category": "dates", "text": "gregorian"}, lambda row: row["category"] == "dates"),
    ],
)
def test_each_filter_lets_through_what_fits_and_nothing_else(
    server: Server, run: str, rows: list[dict[str, Any]], query: dict[str, str], fits: Any
) -> None:
    wanted = [row["result_id"] for row in rows if fits(row)]
    found = server.get(f"{V1}/runs/{run}/results?{urlencode({**query, 'limit': 500})}")["items"]
    assert [row["result_id"] for row in found] == wanted
    assert server.get(f"{V1}/runs/{run}/positions?{urlencode(query)}")["total"] == len(wanted)


@pytest.mark.parametrize("every", [7, 60, 180, 500])
def test_any_page_is_one_request_away(server: Server, run: str, rows: list[dict[str, Any]], every: int) -> None:
    places = server.get(f"{V1}/runs/{run}/positions?every={every}")
    assert (places["total"], places["every"]) == (180, every)
    pages = [
        server.get(f"{V1}/runs/{run}/results?limit={every}&after={after}")["items"] for after in places["after"]
    ]  # fmt: skip
    assert [row["result_id"] for page in pages for row in page] == [row["result_id"] for row in rows]
    assert all(pages)


def test_what_is_no_filter_is_refused(server: Server, run: str) -> None:
    for query in ("score_from=2", "epoch=x", "latency_from=nan", "disputed=perhaps", "reasons=x"):
        assert server.ask("GET", f"{V1}/runs/{run}/results?{query}").status == 422
    assert server.ask("GET", f"{V1}/runs/{run}/positions?model=nope").status == 404


def test_who_has_a_page_already_is_told_so_until_scores_change(server: Server) -> None:
    run = server.run({"models": ["demo/weak"], "benchmarks": [{"benchmark": "puzzles", "limit": 4}]})
    page = f"{V1}/runs/{run}/results?limit=3"
    first = server.ask("GET", page)
    again = server.ask("GET", page, If_None_Match=first.headers["etag"])
    assert (again.status, again.body) == (304, b"")
    one = f"{V1}/runs/{run}/results/{first.json['items'][0]['result_id']}"
    whole = server.ask("GET", one)
    assert whole.json["attempts"] == [first.json["items"][0]]
    assert server.ask("GET", one, If_None_Match=whole.headers["etag"]).status == 304
    code, _, err = server.cli("rescore", run, "--scorer", "exact")
    assert code == 0, err
    changed = server.ask("GET", page, If_None_Match=first.headers["etag"])
    assert (changed.status, list(changed.json["items"][0]["scores"])) == (200, ["exact"])
    assert server.ask("GET", one, If_None_Match=whole.headers["etag"]).status == 200


def test_runs_are_found_by_their_tags_over_the_api_as_by_the_command(server: Server) -> None:
    tagged = server.run({**TAGGED, "tags": ["weekly", "team/x"]})
    server.run(TAGGED)
    page = server.get(f"{V1}/runs?tag=weekly&tag=team/x")
    assert [(run["run_id"], run["tags"]) for run in page["items"]] == [(tagged, ["team/x", "weekly"])]
    assert server.get(f"{V1}/runs?tag=weekly&tag=nobody")["items"] == []
    assert server.get(f"{V1}/runs/{tagged}")["tags"] == ["weekly", "team/x"]
    code, out, _ = server.cli("runs", "--server", server.address, "--tag", "weekly", "--json")
    assert (code, tagged in out, out.count('"run_id"')) == (0, True, 1)
    refused = server.post(f"{V1}/runs", {**TAGGED, "tags": ["ok", "not ok"]})
    assert (refused.status, refused.json["errors"][0]["pointer"]) == (422, "/tags")
    assert "'not ok' is not a tag" in refused.json["detail"]
