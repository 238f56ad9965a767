"""What people add over the API: saved plans, comments, marks of their own; and requests that are sent again."""

from __future__ import annotations

import socket
from concurrent.futures import ThreadPoolExecutor

from server.conftest import PLAN
from server.serving import Server

V1 = "/api/v1"


def test_a_request_that_is_sent_again_makes_no_second_run(server: Server) -> None:
    plan = {**PLAN, "name": "again"}
    with ThreadPoolExecutor(6) as pool:
        sent = list(pool.map(lambda _: server.post(f"{V1}/runs", plan, Idempotency_Key="k-1"), range(6)))
    assert {answer.status for answer in sent} == {202}
    [run_id] = {answer.json["run_id"] for answer in sent}
    server.wait(run_id)
    assert [item["run_id"] for item in server.get(f"{V1}/runs?text=again")["items"]] == [run_id]
    assert server.post(f"{V1}/runs", plan, Idempotency_Key="k-1").json["run_id"] == run_id
    other = server.post(f"{V1}/runs", {**plan, "seed": 8}, Idempotency_Key="k-1")
    assert (other.status, other.json["type"].partition("#")[2]) == (422, "idempotency-key")


def test_of_two_changes_of_a_plan_the_second_is_told_of_the_first(server: Server) -> None:
    made = server.post(f"{V1}/plans", {"name": "weekly", "plan": PLAN})
    assert made.status == 201
    address, tag = made.headers["location"], made.headers["etag"]
    changed = server.ask("PUT", address, {"name": "daily", "plan": PLAN}, If_Match=tag)
    assert (changed.json["name"], changed.json["revision"]) == ("daily", 2)
    assert server.ask("PUT", address, {"name": "mine", "plan": PLAN}, If_Match=tag).status == 412
    assert server.ask("PUT", address, {"name": "mine", "plan": PLAN}).status == 428
    assert server.get(address)["name"] == "daily"
    assert made.json["plan_id"] in {item["plan_id"] for item in server.get(f"{V1}/plans")["items"]}
    wrong = server.post(f"{V1}/plans", {"name": "x", "plan": {**PLAN, "epoch": 2}})
    assert "Did you mean 'epochs'?" in wrong.json["detail"]
    assert wrong.json["errors"][0]["pointer"] == "/epoch"
    assert server.ask("DELETE", address).status == 204
    assert server.ask("GET", address).status == 404


def test_a_run_that_is_made_from_a_saved_plan_names_it(server: Server) -> None:
    saved = server.post(f"{V1}/plans", {"name": "weekly", "plan": PLAN}).json
    made = server.post(f"{V1}/runs?plan_id={saved['plan_id']}", saved["plan"])
    assert made.status == 202, made.body
    path = f"{V1}/runs/{made.json['run_id']}"
    assert server.get(path)["plan_id"] == saved["plan_id"]
    assert server.ask("DELETE", f"{V1}/plans/{saved['plan_id']}").status == 204
    assert server.get(path)["plan_id"] == saved["plan_id"], "what it was made from stays said"
    assert "plan_id" not in server.get(f"{V1}/runs/{server.post(f'{V1}/runs', PLAN).json['run_id']}")
    assert server.post(f"{V1}/runs?plan_id={saved['plan_id']}", PLAN).status == 404


def test_comments_and_marks_stay_with_their_run(server: Server, finished: str) -> None:
    base = f"{V1}/runs/{finished}"
    result = server.get(f"{base}/results?limit=1")["items"][0]["result_id"]
    assert server.post(f"{base}/comments", {"text": "All of it."}).status == 201
    about = server.post(f"{base}/comments", {"text": "<b>This</b> one.", "result_id": result}).json
    assert server.get(f"{base}/comments")["items"][-1] == about
    page = server.get(f"{base}/comments?limit=1")
    assert page["next"] == page["items"][0]["comment_id"]
    assert server.post(f"{base}/comments", {"text": "x", "result_id": "999999"}).status == 404
    assert server.post(f"{V1}/runs/nosuchrun000/comments", {"text": "x"}).status == 404
    label = f"{base}/results/{result}/label"
    for value in (0.25, 1.0):
        assert server.ask("PUT", label, {"value": value}).json["value"] == value
    assert [(one["author"], one["value"]) for one in server.get(f"{base}/labels")] == [("local", 1.0)]
    assert server.ask("PUT", label, {"value": 1.5}).json["errors"][0]["pointer"] == "/value"
    assert server.ask("PUT", label, {"value": 1, "author": "eve"}).status == 422
    assert server.ask("DELETE", label).status == 204
    assert server.ask("DELETE", label).status == 404


def test_bodies_that_are_no_json_or_too_much_are_refused_in_words(server: Server) -> None:
    for body in (
        b"", b"{", b"\xff", b'{"a": NaN}', b"[" * 100_000, b'{"a": 1, "a": 2}', b"1" * 5_000,
        b'{"name": "\\ud800", "models": [], "benchmarks": []}', b"null", b"[]", b'"x"',
        b'{"models": "demo/strong", "benchmarks": "puzzles", "seed": 1e999}',
        b'{"models": "demo/strong", "benchmarks": "puzzles", "name": "\\u0000"}',
        b'{"models": "demo/strong", "benchmarks": "puzzles", "key_hosts": ["evil.example"]}',
        b'{"models": "demo/strong", "benchmarks": "puzzles", "__proto__": {"x": 1}, "project_id": "other"}',
    ):  # fmt: skip
        answer = server.post(f"{V1}/runs", body)
        assert answer.status in (400, 422), (body[:80], answer.body)
        assert answer.json["detail"], body[:80]
    with socket.create_connection(server.place, timeout=60) as announced:
        head = f"POST {V1}/runs HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        announced.sendall(f"{head}Content-Length: 4000001\r\n\r\n{{".encode())
        assert announced.recv(100).startswith(b"HTTP/1.1 413")
    assert server.ask("POST", f"{V1}/runs", b"{}", Content_Type="text/plain").status == 415


def test_marks_of_a_random_draw_say_how_far_the_scorer_is_right(server: Server) -> None:
    made = server.post(
        f"{V1}/runs", {"models": ["demo/average"], "benchmarks": [{"benchmark": "puzzles", "limit": 60}]}
    )
    run = made.json["run_id"]
    server.wait(run)
    base = f"{V1}/runs/{run}"
    first = server.get(f"{base}/review?limit=40")
    assert (first["queue"], first["total"], len(first["items"]), first["scorers"]) == ("random", 60, 40, [])
    assert [item["result_id"] for item in server.get(f"{base}/review?limit=40")["items"]] == [
        item["result_id"] for item in first["items"]
    ]
    scorer = next(iter(first["items"][0]["scores"]))
    wrong = [item for item in first["items"] if item["scores"][scorer] == 0]
    # People agree with the scorer, but for one answer that it did not see to be right.
    for item in first["items"]:
        value = 1 if item is wrong[0] else item["scores"][scorer]
        path = f"{base}/results/{item['result_id']}/label"
        assert server.ask("PUT", path, {"value": value}).status == 200
    [found] = server.get(f"{base}/review")["scorers"]
    assert (found["drawn"], found["skipped"], found["counts"]) == (40, 0, True)
    assert (found["only_people"], found["only_scorer"]) == (1, 0)
    assert found["both_right"] + found["both_wrong"] == 39
    low, high = found["kappa"]["ci95"]
    assert low < found["kappa"]["value"] < high
    assert found["corrected"]["value"] > found["scored"]["value"]
    assert found["corrected"]["n"] == 40
    [disputed] = server.get(f"{base}/review?queue=disagreements")["items"]
    assert disputed["result_id"] == wrong[0]["result_id"]
    assert server.get(f"{base}/review?queue=wrong")["total"] == round(60 * (1 - found["scored"]["value"]))
    assert server.get(f"{base}/review?queue=judged")["total"] == 0
    assert server.ask("GET", f"{base}/review?model=demo/avrage").status == 404


def test_marks_of_answers_that_looked_wrong_correct_no_score(server: Server) -> None:
    made = server.post(f"{V1}/runs", {"models": ["demo/weak"], "benchmarks": [{"benchmark": "puzzles", "limit": 150}]})
    run = made.json["run_id"]
    server.wait(run)
    base = f"{V1}/runs/{run}"
    for item in server.get(f"{base}/review?queue=wrong&limit=200")["items"]:
        server.ask("PUT", f"{base}/results/{item['result_id']}/label", {"value": 0})
    [found] = server.get(f"{base}/review")["scorers"]
    assert found["both_wrong"] >= 30
    assert found["corrected"]["value"] is None
    assert found["drawn"] < found["needed"] == 30
