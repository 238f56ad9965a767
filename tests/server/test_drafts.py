"""Plans drafted and benchmarks recommended over the API are those of the command line."""

from __future__ import annotations

import orjson

from server.serving import Server
from server.test_same_as_cli import V1, printed

QUERY = "demo/strong and demo/weak on 30 puzzles, seed 4"


def test_a_draft_is_the_one_of_the_command_line_and_can_be_handed_in(server: Server) -> None:
    draft = server.post(f"{V1}/plans/draft", {"query": QUERY}).json
    assert draft == printed(server, "plan", QUERY, "--json")
    assert draft["plan"] == {
        "models": ["demo/strong", "demo/weak"],
        "benchmarks": [{"benchmark": "puzzles", "limit": 30}],
        "seed": 4,
    }
    changed = server.post(f"{V1}/plans/draft", {"query": "only 20 questions", "from": draft["plan"]}).json
    assert changed["changes"] == [{"field": "benchmarks[0].limit", "before": 30, "after": 20}]
    assert "run_id" in server.post(f"{V1}/runs", changed["plan"]).json


def test_a_draft_of_what_has_no_data_is_not_run_before_somebody_says_so(server: Server) -> None:
    plan = server.post(f"{V1}/plans/draft", {"query": "Korean maths with demo/strong, 2 questions"}).json["plan"]
    [gap] = plan["gaps"]
    assert gap.startswith("no benchmark here is about mathematics in Korean")
    answer = server.post(f"{V1}/runs", plan)
    assert (answer.status, answer.json["errors"][0]["pointer"]) == (422, "/gaps")
    (server.folder / "wanted.yaml").write_bytes(orjson.dumps(plan))
    code, _, said = server.cli("run", "wanted.yaml")
    assert (code, said) == (2, f"Error: wanted.yaml:1: gaps: {answer.json['detail']}\n")
    agreed = {name: value for name, value in plan.items() if name != "gaps"}
    assert server.post(f"{V1}/runs", agreed).status == 202


def test_recommendations_are_those_of_the_command_line(server: Server) -> None:
    found = server.get(f"{V1}/recommendations?for=German+maths")
    assert found == printed(server, "recommend", "--for", "German maths", "--json")
    assert found["benchmarks"][0]["benchmark"] == "mgsm"


def test_recommendations_say_costs_and_where_to_look_after_a_run(server: Server) -> None:
    found = server.get(f"{V1}/recommendations?for=logic+puzzles&model=demo/weak")
    assert found["benchmarks"][0]["costs"][0]["value_usd"] == 0
    run = server.post(f"{V1}/runs", {"models": "demo/weak", "benchmarks": [{"benchmark": "puzzles", "limit": 6}]}).json
    server.wait(run["run_id"])
    after = server.get(f"{V1}/recommendations?after={run['run_id']}")
    assert after == printed(server, "recommend", "--after", run["run_id"], "--json")
    assert server.ask("GET", f"{V1}/recommendations").status == 422
    assert server.ask("GET", f"{V1}/recommendations?for=maths&after=x").status == 422
    assert server.ask("GET", f"{V1}/recommendations?after=nope").status == 404
    assert server.ask("GET", f"{V1}/recommendations?for=maths&model=command/./x.sh").status == 403


def test_a_query_that_cannot_be_followed_is_a_problem_with_the_sentence(server: Server) -> None:
    answer = server.post(f"{V1}/plans/draft", {"query": "gsm8k haiku under 5 euros"})
    assert answer.status == 422
    assert "no exchange rates" in answer.json["detail"]
    assert server.post(f"{V1}/plans/draft", {"query": "x", "form": {}}).status == 422


def test_what_was_asked_and_what_was_made_of_it_is_in_the_audit_log(server: Server) -> None:
    server.post(f"{V1}/plans/draft", {"query": "7 puzzles with demo/strong"})
    server.post(f"{V1}/plans/draft", {"query": "7 puzzles, demo/strong, under 5 euros"})
    rows = [row for row in audited(server) if row["what"] == "draft-plan"]
    made, refused = rows[-2:]
    assert made["object"] == "7 puzzles with demo/strong"
    assert '"limit":7' in made["outcome"]
    assert refused["outcome"].startswith("refused: The budget '5 euros' is in euros")


def audited(server: Server) -> list[dict[str, str]]:
    """Every row of the audit log, page by page."""
    rows: list[dict[str, str]] = []
    after = ""
    while True:
        page = server.get(f"{V1}/audit?limit=500{after}")
        rows += page["items"]
        if page["next"] is None:
            return rows
        after = f"&after={page['next']}"
