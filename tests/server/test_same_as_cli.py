"""What the API answers is the document that the command line prints: equal to the last digit."""

from __future__ import annotations

from typing import Any

import orjson
import pytest

from server.serving import Server

V1 = "/api/v1"


def printed(server: Server, *arguments: str) -> Any:
    code, said, errors = server.cli(*arguments)
    assert code == 0, errors
    return orjson.loads(said)


@pytest.mark.parametrize(
    ("path", "arguments"),
    [
        ("/compare?a={run}&flips=3", ("compare", "{run}", "--flips", "3", "-f", "json")),
        ("/compare?a={run}:demo/weak&b={run}:demo/strong",
         ("compare", "{run}", "--model", "demo/weak", "--model", "demo/strong", "-f", "json")),
        ("/leaderboard?benchmark=puzzles&ranks=paired",
         ("leaderboard", "--benchmark", "puzzles", "--paired", "-f", "json")),
        ("/power?run={run}&difference=0.1", ("power", "{run}", "--difference", "0.1", "--json")),
        ("/runs/{run}/report?format=json&samples=3", ("report", "{run}", "-f", "json", "--samples", "3")),
        ("/benchmarks?subject=mathematics", ("benchmarks", "--subject", "mathematics", "--json")),
        ("/benchmarks/puzzles", ("benchmarks", "show", "puzzles", "--json")),
        ("/models/demo/strong", ("models", "demo/strong", "--json")),
        ("/models", ("models", "--json")),
        ("/problems", ("problems", "--json")),
    ],
)  # fmt: skip
def test_documents_are_those_of_the_command_line(
    server: Server, finished: str, path: str, arguments: tuple[str, ...]
) -> None:
    said = printed(server, *(part.format(run=finished) for part in arguments))
    assert server.get(V1 + path.format(run=finished)) == said


def test_a_run_is_the_one_that_show_prints_with_its_progress(server: Server, finished: str) -> None:
    served = server.get(f"{V1}/runs/{finished}")
    assert served.pop("progress") == 1
    assert served.pop("shown_status") == "completed"
    assert served == printed(server, "show", finished, "--json")


def test_the_list_is_the_one_that_runs_prints(server: Server, finished: str) -> None:
    page = server.get(f"{V1}/runs?text=first")
    assert page["items"] == printed(server, "runs", "--name", "first", "--json")
    assert finished in {item["run_id"] for item in page["items"]}


def test_an_estimate_is_the_one_of_a_dry_run(server: Server) -> None:
    plan = {"models": ["demo/strong"], "benchmarks": [{"benchmark": "puzzles", "limit": 5}]}
    said = printed(server, "run", "puzzles", "-m", "demo/strong", "--limit", "5", "--dry-run", "--json")
    assert server.post(f"{V1}/estimate", plan).json == said


def test_exports_are_the_same(server: Server, finished: str) -> None:
    for kind in ("jsonl", "csv", "junit"):
        _, said, _ = server.cli("export", finished, "-f", kind)
        content = server.ask("GET", f"{V1}/runs/{finished}/export?format={kind}").body.decode()
        assert content.replace("\r\n", "\n") == said


def test_pages_of_results_are_the_rows_of_an_export_in_their_order(server: Server, finished: str) -> None:
    rows = [orjson.loads(line) for line in server.cli("export", finished)[1].splitlines()]
    found, address = [], f"{V1}/runs/{finished}/results?limit=7"
    while address:
        answer = server.ask("GET", address)
        found += answer.json["items"]
        address = answer.headers.get("link", "").partition(">")[0].removeprefix("<")
        assert bool(address) == (answer.json["next"] is not None)
    assert [{name: value for name, value in row.items() if name != "result_id"} for row in found] == rows
    one = server.get(f"{V1}/runs/{finished}/results/{found[3]['result_id']}")
    assert one["prompt"]["messages"]
    assert one["attempts"] == [found[3]]


def test_results_are_filtered_as_samples_filters_them(server: Server, finished: str) -> None:
    base = f"{V1}/runs/{finished}/results"
    every = server.get(f"{base}?limit=500")["items"]
    wrong = [row for row in every if any((one["value"] or 0) < 1 for one in row["scores"].values())]
    assert wrong
    assert server.get(f"{base}?wrong=true")["items"] == wrong
    one = every[0]
    assert server.get(f"{base}?sample={one['sample_id']}&model={one['model']}")["items"] == [one]
    word = one["response"].split()[0]
    assert one in server.get(f"{base}?text={word}")["items"]
    assert server.ask("GET", f"{base}?model=demo/wek").json["detail"].startswith(f"Run {finished} has no model")


def test_a_mistake_in_a_plan_gets_the_sentence_of_the_command_line(server: Server) -> None:
    said = server.cli("run", "puzles", "-m", "demo/strong")[2].removeprefix("Error: ").strip()
    answer = server.post(f"{V1}/runs", {"models": ["demo/strong"], "benchmarks": ["puzles"]})
    assert (answer.status, answer.json["detail"]) == (422, said)
    assert answer.json["errors"] == [{"pointer": "/benchmarks/0", "detail": said}]
    assert "Did you mean 'puzzles'" in said
