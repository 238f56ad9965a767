"""Older services' names: what their callers send is understood, and leads to what the routes of today give."""

from __future__ import annotations

from typing import Any

from server.serving import Answer, Server
from server.test_drafts import audited

V1 = "/api/v1"
MODEL = {"api_base": "https://api.openai.com/v1", "api_key": "sk-0", "model_type": "openai"}


def older(answer: Answer, status: int, successor: str) -> Any:
    assert answer.status == status, answer.body
    assert answer.headers["deprecation"].startswith("@17")
    assert f'<{V1}{successor}>; rel="successor-version"' in answer.headers["link"]
    return answer.json


def test_agents_are_evaluated_and_their_task_says_how_they_did(server: Server) -> None:
    body = {"agents": ["demo/strong", "demo/weak"], "benchmark": "puzzles", "limit": 5}
    run_id = older(server.post("/benchmark/run", body), 202, "/runs")["run_id"]
    server.wait(run_id)
    task = older(server.ask("GET", f"{V1}/tasks/{run_id}"), 200, f"/runs/{run_id}")
    assert (task["status"], task["progress"], task["error_message"]) == ("SUCCESS", 1, None)
    run = server.get(f"{V1}/runs/{run_id}")
    assert [
        (one["model_name"], one["average_score"], one["total_samples"]) for one in task["result"]["model_results"]
    ] == [(one["model"], one["metrics"]["accuracy"]["value"], 5) for one in run["evaluations"]]
    assert server.ask("GET", f"{V1}/tasks/0000000000zz").status == 404
    rows = server.get(f"{V1}/runs/{run_id}/results")
    assert older(server.ask("GET", f"/api/results?run_id={run_id}"), 200, "/runs") == rows
    for kind in ("csv", "jsonl"):
        exported = server.post("/api/export", {"run_id": run_id, "format": kind})
        assert exported.status == 200
        assert exported.body == server.ask("GET", f"{V1}/runs/{run_id}/export?format={kind}").body
    assert older(server.ask("GET", "/api/models"), 200, "/models") == server.get(f"{V1}/models")


def test_words_and_models_become_a_plan_that_is_run_and_ranked(server: Server) -> None:
    asked = {
        "query": "Compare both on 4 puzzles",
        "models": [{"name": "demo/strong"}, {"name": "weak", "model_type": "demo"}],
    }
    sent = older(server.post(f"{V1}/leaderboard/generate", asked), 200, "/plans/draft")
    assert sent["plan"]["models"] == ["demo/strong", "demo/weak"]
    assert sent["plan"]["benchmarks"][0]["limit"] == 4
    assert server.wait(sent["task_id"])["status"] == "completed"
    task = older(server.ask("GET", f"{V1}/tasks/{sent['task_id']}"), 200, f"/runs/{sent['task_id']}")
    assert {row["model_name"] for row in task["result"]["model_results"]} == {"demo/strong", "demo/weak"}
    ranked = server.ask("GET", f"{V1}/leaderboard?benchmark=puzzles").body.decode()
    assert sent["task_id"] in ranked
    (row,) = [row for row in audited(server) if row["what"] == "generate-leaderboard"]
    assert row["object"] == asked["query"]


def test_words_about_what_has_no_data_run_nothing_and_name_the_nearest(server: Server) -> None:
    before = server.get(f"{V1}/runs?limit=500")["items"]
    asked = {"query": "Korean maths, 4 questions", "models": [{"name": "demo/strong"}]}
    answer = server.post(f"{V1}/leaderboard/generate", asked)
    assert answer.status == 422
    assert "no benchmark here is about mathematics in Korean; the nearest: mgsm" in answer.json["detail"]
    named = server.post(f"{V1}/leaderboard/generate", {**asked, "query": "gpqa and sorting, 4 questions"})
    assert named.status == 422
    assert "there is no benchmark 'gpqa' here" in named.json["detail"]
    assert server.get(f"{V1}/runs?limit=500")["items"] == before


def test_a_key_in_a_body_is_refused_and_starts_nothing(server: Server) -> None:
    before = server.get(f"{V1}/runs?limit=500")["items"]
    asked = {"query": "5 puzzles", "models": [{"name": "gpt-4", **MODEL}]}
    answer = server.post(f"{V1}/leaderboard/generate", asked)
    assert (answer.status, answer.json["errors"][0]["pointer"]) == (422, "/models/0/api_key")
    assert "sk-0" not in answer.body.decode()
    refused = server.post("/api/execute", {"prompt": "Hello", "models": ["demo/weak"]})
    assert refused.status == 422
    unknown = server.ask("GET", "/api/results?run_id=0000000000zz")
    assert unknown.status == 404
    for mistake in (answer, refused, unknown, server.ask("GET", "/api/results")):
        assert mistake.headers["deprecation"].startswith("@17"), mistake.body
    assert "deprecation" not in server.ask("GET", f"{V1}/runs/0000000000zz").headers
    assert server.get(f"{V1}/runs?limit=500")["items"] == before
