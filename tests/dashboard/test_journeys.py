"""What people do with the dashboard, in a real browser on a real server with real runs."""

from __future__ import annotations

import importlib.util
import os
import re
import time
from base64 import b64decode, b64encode
from dataclasses import replace
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any
from urllib.parse import urlencode

import pytest

from dashboard.conftest import DEMO, Browser
from dashboard.hostile import PAYLOADS, write_hostile
from dashboard.node import builder
from fakes.dialect import Reply
from fakes.faults import Faults
from fakes.provider import FakeProvider
from fakes.webhook_receiver import Receiver
from models.pdfs import pdf
from proctor.metrics.rounding import decimal_text
from proctor.stores.database import open_database
from server.serving import Server, serving


def _million() -> Any:
    """`bench/million.py`, which fills stores with results."""
    path = Path(__file__).resolve().parents[2] / "bench" / "million.py"
    spec = importlib.util.spec_from_file_location("million", path)
    assert spec
    assert spec.loader
    found = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
    return found


million = _million()


def compare_query(run: str, a: str = "demo/strong", b: str = "demo/weak") -> str:
    return urlencode({"a": f"{run}:{a}", "b": f"{run}:{b}"})


def test_a_first_visit_runs_the_demo_with_one_key_and_ends_in_a_verdict(browser: Browser, tmp_path: Path) -> None:
    with serving(tmp_path / "home", tmp_path) as empty:
        seen = browser.go("firstVisit", empty)
        verdict = empty.get(f"/api/v1/compare?a={seen['run']}")["comparisons"][0]["verdict"]
    assert seen["invitation"].startswith("Which model is better")
    assert seen["verdict"] == seen["again"] == f"{verdict}."


def test_two_models_are_compared_and_the_flips_walked_by_keys(browser: Browser, served: Server, finished: str) -> None:
    query = compare_query(finished)
    seen = browser.go("compare", served, query=query)
    [comparison] = served.get(f"/api/v1/compare?{query}&flips=500")["comparisons"]
    assert seen["verdict"] == f"{comparison['verdict']}."
    walked = [step["search"] for step in seen["seen"]]
    lost = sorted(comparison["flips"]["lost"]["samples"], key=lambda one: one["category"])
    assert [re.search("at=([^&]+)", search)[1] for search in walked[:3]] == [  # type: ignore[index]
        lost[index]["sample_id"] for index in (1, 2, 1)
    ]
    assert seen["seen"][2]["marks"] > 0
    assert seen["seen"][3]["marks"] == 0
    assert "flips=better" in walked[4]
    assert "flips=worse" in walked[5]
    assert seen["after"] == walked[5]
    for shown, exact in seen["figures"]:
        assert shown == decimal_text(float(exact))
    a, b = (comparison[side]["score"]["value"] for side in "ab")
    assert {a, b} <= {float(exact) for _, exact in seen["figures"]}
    assert f"{comparison['flips']['lost']['count']} only demo/strong" in seen["legend"]


def test_a_wrong_answer_is_found_and_copied_without_a_mouse(browser: Browser, served: Server, finished: str) -> None:
    seen = browser.go("keyboardOnly", served, run=finished)
    assert "Show the keys" in seen["keys"]
    assert seen["mark"] != "right"
    assert re.match(r'\{"id":".+","input":".+","target":".+"', seen["copied"])


def test_answers_are_marked_by_keys_and_compared_with_the_scorer(
    browser: Browser, served: Server, finished: str
) -> None:
    seen = browser.go("review", served, run=finished, model="demo/weak")
    queue = served.get(f"/api/v1/runs/{finished}/review?limit=20&model=demo/weak")
    names = [item["sample_id"] for item in queue["items"]]
    # Right, wrong, skip; undo the skip, undo the wrong, and say wrong again.
    assert [step["sample"] for step in seen["seen"]] == [names[place] for place in (1, 2, 3, 2, 1, 2)]
    assert [step["progress"] for step in seen["seen"]] == [f"{done} of 20 marked" for done in (1, 2, 2, 2, 1, 2)]
    assert seen["said"].startswith("You: Wrong.")
    assert seen["again"] == "2 of 20 marked"
    assert [item["labels"].get("local") for item in queue["items"][:3]] == [1.0, 0.0, None]
    assert "demo/weak · puzzles · puzzle" in seen["agreement"]


def test_a_link_into_review_shows_its_answer_though_it_is_not_among_the_first(
    browser: Browser, served: Server, finished: str
) -> None:
    queue = served.get(f"/api/v1/runs/{finished}/review?limit=180")["items"]
    seen = browser.go("reviewBeyond", served, run=finished, at=queue[150]["result_id"])
    assert seen["shown"] == queue[150]["sample_id"]


def test_a_result_is_marked_commented_and_found_again(browser: Browser, served: Server, finished: str) -> None:
    seen = browser.go("sample", served, run=finished)
    wrong = served.get(f"/api/v1/runs/{finished}/positions?score_to=0")["total"]
    assert seen["wrong"] == f"{wrong} results"
    assert seen["all"].startswith("180 results")
    assert seen["comment"] == "<b>It</b> reads the table wrongly."
    labels = {label["result_id"]: label["value"] for label in served.get(f"/api/v1/runs/{finished}/labels")}
    assert labels[seen["at"]] == 1
    result = served.get(f"/api/v1/runs/{finished}/results/{seen['at']}")
    assert result["prompt"]["messages"][0]["content"].split()[0] in seen["prompt"]


def test_three_runs_are_compared_at_once_with_the_correction_named(browser: Browser, served: Server) -> None:
    benchmarks = [{"benchmark": "puzzles", "limit": 40}]
    runs = [
        served.run({"name": "nightly", "models": [model], "benchmarks": benchmarks, "seed": 3})
        for model in ("demo/strong", "demo/average", "demo/weak")
    ]
    seen = browser.go("severalRuns", served, text="nightly")
    assert seen["search"] == f"?a={runs[0]}&b={runs[1]}&b={runs[2]}"
    found = served.get(f"/api/v1/compare?a={runs[0]}&b={runs[1]}&b={runs[2]}")["comparisons"]
    assert seen["pairs"] == [f"{one['a']['name']} → {one['b']['name']}" for one in found]
    assert len(found) > 1
    assert f"Holm over {found[0]['family']} comparisons" in seen["note"]


def test_keys_beyond_the_rows_that_are_loaded_go_on_when_further_ones_are_there(
    browser: Browser, served: Server, finished: str
) -> None:
    seen = browser.go("edge", served, run=finished)
    ids = [one["result_id"] for one in served.get(f"/api/v1/runs/{finished}/results?limit=180")["items"]]
    assert (seen["last"], seen["waiting"], seen["next"]) == (ids[99], ids[99], ids[102])


def test_repeats_are_folded_into_one_row_with_their_distinct_answers_counted(browser: Browser, served: Server) -> None:
    plan = {**DEMO, "name": "repeats", "models": ["demo/weak"], "epochs": 3}
    run = served.run(plan)
    seen = browser.go("repeats", served, run=run)
    assert (seen["folded"], seen["all"]) == ("60 results", "180 results")
    assert re.fullmatch(r"3 repeats, [123] distinct answers", seen["said"])


def test_a_programs_failing_requirement_is_found_and_compared_without_a_mouse(
    browser: Browser, served: Server, programs: tuple[str, str]
) -> None:
    seen = browser.go("scorecard", served, programs=programs)
    card = served.get(f"/api/v1/scorecards/{programs[0]}")
    assert seen["verdict"].startswith("Failed: ")
    assert (seen["rows"], seen["failing"]) == (len(card["requirements"]), ["R3"])
    assert seen["compared"] == "1 requirement differs."


def test_a_going_run_stays_live_in_all_tabs_by_one_connection_when_the_server_comes_back(
    browser: Browser, tmp_path: Path
) -> None:
    write_hostile(tmp_path)
    opened, release = tmp_path / "opened", tmp_path / "release"
    plan = {"name": "slow", "models": ["python/hostile:slow"], "benchmarks": [{"benchmark": "puzzles", "limit": 400}]}
    plan["limits"] = {"concurrency": 1}
    with serving(tmp_path / "home", tmp_path) as first:
        run = first.post("/api/v1/runs", plan).json["run_id"]
        first.wait(run, "running")
        browser.begin("live", first, run=run, open=str(opened), release=str(release))
        wait_for(opened)
    with serving(tmp_path / "home", tmp_path, "--port", str(first.place[1])):
        seen = browser.end()
    assert seen["before"] == [0]
    assert "not live" in seen["said"]
    assert seen["ends"][0] == seen["ends"][1] == "python/hostile:slow on puzzles"
    assert seen["hasTakenOver"]


def test_a_run_that_is_decided_is_stopped_by_one_key_and_taken_up_again_by_another(
    browser: Browser, tmp_path: Path
) -> None:
    write_hostile(tmp_path)
    plan = {
        "models": ["demo/strong", "python/hostile:slow"],
        "benchmarks": [{"benchmark": "puzzles", "parameters": {"count": 400}, "limit": 150}],
        "limits": {"concurrency": 2},
    }
    with serving(tmp_path / "home", tmp_path) as server:
        run = server.post("/api/v1/runs", plan).json["run_id"]
        seen = browser.go("watched", server, run=run, release=str(tmp_path / "release"))
        ended = server.wait(run)
    assert re.match(r"demo/strong is better than python/hostile:slow by \d+\.\d points, between", seen["decided"])
    assert seen["stopped"].startswith("Stopped. demo/strong is better than python/hostile:slow by ")
    assert "the intervals hold however often one looks" in seen["lead"]
    assert re.search(r"python/hostile:slow\n\t\d+\t.+ (ms|s)", seen["pace"])
    assert re.match(r"demo/strong, puzzles: [1-9]\d* right", seen["dots"][0])
    assert "model=demo%2Fstrong" in seen["first"]
    assert "at=" in seen["first"]
    assert seen["found"] == []
    assert ended["status"] == "completed"
    assert [one["pending"] + one["stopped"] for one in ended["evaluations"]] == [0, 0]


def test_each_role_sees_what_it_may_do_and_no_button_beyond(browser: Browser, tmp_path: Path) -> None:
    with serving(tmp_path / "home", tmp_path, "--accounts") as guarded:
        code, said, _ = guarded.cli("users", "add", "ada", "--admin")
        assert code == 0
        link = re.search(r"/welcome#\S+", said)
        assert link
        seen = browser.go("accounts", guarded, link=link[0])
    assert seen["key"].startswith("pk_")
    assert not seen["isShownAgain"]
    assert "vera" in seen["audit"]
    assert seen["buttons"] == []
    assert len(seen["parts"]) == 4
    assert "Audit" not in seen["hidden"]
    assert "Plan" not in seen["places"]
    assert (seen["uploads"], seen["changes"]) == (0, 0)
    assert not seen["isCovered"]


def test_an_exported_site_needs_no_server_of_ours(
    browser: Browser, served: Server, finished: str, tmp_path: Path
) -> None:
    code, _, said = served.cli("report", "--site", str(tmp_path / "marks"))
    assert code == 0, said
    again, _, refused = served.cli("report", "--site", str(tmp_path / "marks"))
    assert (again, "is not empty" in refused) == (2, True)
    handler = partial(SimpleHTTPRequestHandler, directory=str(tmp_path))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as plain:
        thread = Thread(target=plain.serve_forever)
        thread.start()
        try:
            port = plain.server_address[1]
            elsewhere = replace(served, address=f"http://127.0.0.1:{port}")
            seen = browser.go("site", elsewhere, folder="marks", run=finished)
        finally:
            plain.shutdown()
            thread.join()
    verdict = served.get(f"/api/v1/compare?a={finished}")["comparisons"][0]["verdict"]
    assert seen["verdict"] == f"{verdict[0].upper() if verdict.startswith('no ') else verdict[0]}{verdict[1:]}."
    assert "better by" in seen["neighbours"] or "difference" in seen["neighbours"]
    assert seen["buttons"] == ["Compare c"]
    assert "not part of the exported site" in seen["samples"]


def wait_for(path: Path) -> None:
    until = time.monotonic() + 60
    while not path.exists():
        assert time.monotonic() < until, f"{path} does not come"
        time.sleep(0.05)


def test_a_plans_mistake_is_shown_in_its_line_and_nothing_typed_is_lost(browser: Browser, served: Server) -> None:
    seen = browser.go("plan", served)
    assert seen["mistake"].startswith("Line 4:")
    assert "Did you mean 'puzzles'" in seen["mistake"]
    assert "puzles" in seen["kept"]
    assert seen["title"] == "demo/strong on puzzles"


def test_what_is_not_there_is_said_in_the_servers_words(browser: Browser, served: Server) -> None:
    seen = browser.go("dead", served)
    assert "No run 'nope'" in seen["/runs/nope"]
    assert "There is no such page" in seen["/nowhere"]
    assert "There is no such page" in seen["/runs/%E0%A4"]
    assert "nope" in seen["/benchmarks/nope"]
    assert "No run 'nope'" in seen["/compare?a=nope"]


def test_a_sentence_becomes_a_plan_another_changes_it_and_a_need_names_benchmarks(
    browser: Browser, served: Server
) -> None:
    seen = browser.go("words", served)
    assert "no benchmark here is about mathematics in Korean; the nearest: mgsm" in seen["gap"]
    assert "or perhaps" in seen["other"]
    assert "“seed 3” → seed" in seen["understood"]
    assert "benchmarks[0].limit: 6 → 4" in seen["changed"]
    run = served.wait(seen["run"])
    assert {(one["model"], one["trials"]) for one in run["evaluations"]} == {("demo/strong", 4), ("demo/weak", 4)}
    for one in run["evaluations"]:
        [row] = [text for text in seen["ranked"] if one["model"] in text]
        assert decimal_text(one["metrics"]["accuracy"]["value"]) in row
    assert "mgsm: in German; about mathematics; its answers are short n=250" in seen["fitting"]


def test_texts_change_with_the_language(browser: Browser, served: Server) -> None:
    assert browser.go("languages", served) == {"de": "Einstellungen", "ja": "設定", "en": "Settings"}


def test_four_models_answer_side_by_side_though_one_is_slow_and_one_fails(browser: Browser, served: Server) -> None:
    text = " ".join(f"word{n}" for n in range(20))
    with (
        FakeProvider(reply=lambda _: Reply(text)) as quick,
        FakeProvider(reply=lambda _: Reply(text)) as slow,
        FakeProvider(Faults(rates={"500": 1.0})) as broken,
    ):
        quick.event_seconds, slow.event_seconds = 0.02, 2.0
        places = {"quick": quick, "slow": slow, "broken": broken}
        models = [*(f"openai/{name}?base_url={one.url}/v1" for name, one in places.items()), "demo/strong"]
        seen = browser.go("arena", served, models=models, prompt="What is 3 + 4?")
    early = seen["early"]
    assert early["states"] == ["false", "true", "false", "false"]
    assert early["texts"][0] == text
    assert len(early["texts"][1]) < len(text), "the slow one was still at its beginning"
    assert "HTTP 500" in early["error"]
    assert "First token" in early["figures"]
    assert seen["late"] == seen["again"]
    stored = served.get(f"/api/v1/playground/{seen['ask']}")
    assert [one["state"] for one in stored["answers"]] == ["complete", "stopped", "failed", "complete"]


def test_files_are_dropped_and_pasted_and_a_conversation_goes_on_from_an_answer(
    browser: Browser, served: Server
) -> None:
    seen = browser.go("files", served)
    assert len(seen["pasted"]) == 1
    assert ".png" in seen["pasted"][0]
    assert seen["isOver"]
    assert "program.exe" in seen["refused"]
    assert "not several of them together" in seen["mixed"]
    asked = served.get(f"/api/v1/playground/{seen['first']}")
    assert [one["name"] for one in asked["view"]["files"]] == ["towers.txt"]
    assert seen["before"] == ["How high are they together?", asked["answers"][0]["text"]]
    assert "JSON list" in seen["noList"]
    assert seen["found"] == []
    said = served.get(f"/api/v1/playground/{seen['second']}")["request"]["history"]
    assert [(one["role"], one["text"]) for one in said] == list(zip(("user", "assistant"), seen["before"], strict=True))


def test_a_picture_and_a_pdf_reach_the_model_with_each_of_several_prompts(browser: Browser, served: Server) -> None:
    document = pdf(["Ada keeps the key."])
    with FakeProvider() as provider:
        model = f"openai/sees?base_url={provider.url}/v1"
        seen = browser.go("sentFiles", served, model=model, pdf=b64encode(document).decode())
        sent = [request.json["messages"][-1]["content"] for request in provider.requests if request.body]
    assert seen["picture"]["title"] == seen["document"]["title"] == "2 prompts side by side"
    assert seen["picture"]["answers"] == seen["again"] == ["ANSWER: 7", "ANSWER: 11"]
    assert seen["document"]["answers"] == ["ANSWER: 15", "ANSWER: 10"]
    parts = [part for content in sent for part in content]
    pictures = [part["image_url"]["url"] for part in parts if part["type"] == "image_url"]
    assert len(pictures) == 2
    assert all(b64decode(one.partition(",")[2]).startswith(b"\x89PNG") for one in pictures)
    # A server of one's own may not take PDFs: it is sent what stands in them.
    texts = [part["text"] for part in parts if part["type"] == "text"]
    assert sum("[Page 1]\nAda keeps the key." in text for text in texts) == 2


def test_two_people_of_two_projects_find_nothing_of_each_other(browser: Browser, tmp_path: Path) -> None:
    with serving(tmp_path / "home", tmp_path, "--accounts") as guarded:
        links = []
        for name, project in (("ada", "reds"), ("bea", "blues")):
            assert guarded.cli("projects", "add", project)[0] == 0
            code, said, _ = guarded.cli("users", "add", name)
            assert code == 0
            assert guarded.cli("projects", "members", project, "--set", f"{name}=editor")[0] == 0
            links += re.findall(r"/welcome#\S+", said)
        ada, bea = browser.go("twoProjects", guarded, links=links)
    assert bea["run"] not in ada["listed"]
    assert ada["run"] not in bea["empty"] + bea["listed"]
    assert bea["run"] in bea["listed"]
    assert len(bea["foreign"]) == 3
    assert all("demo/strong" not in said for said in bea["foreign"])
    assert all(re.search("(?i)no run|not found|there is no", said) for said in bea["foreign"])


def test_the_last_of_many_rows_is_one_number_away(browser: Browser, built: None, tmp_path: Path) -> None:
    """A hundred thousand rows, filled straight into the store; `make sweep` walks a million."""
    count = 1_000_000 if os.environ.get("PROCTOR_TEST_SWEEP") else 100_000
    database = open_database(f"sqlite:///{tmp_path / 'home' / 'proctor.db'}")
    try:
        million.fill(database, count, count // 2)
    finally:
        database.dispose()
    with serving(tmp_path / "home", tmp_path) as server:
        [run] = [one["run_id"] for one in server.get("/api/v1/runs")["items"] if len(one["models"]) == 2]
        [last] = server.get(f"/api/v1/runs/{run}/results?limit=1&sample=sample-{count // 2 - 1:06}")["items"]
        text = re.search(r"Answer: A, (\d+)", last["response"])
        assert text
        seen = browser.go("manyRows", server, run=run, text=text[1])
    assert seen["total"] == f"{seen['size']:,} results"
    assert count * 0.99 < seen["size"] <= count
    assert [size for size, _ in seen["places"]] == [str(seen["size"])] * 3
    end, middle, begin = (int(at) for _, at in seen["places"])
    assert end > middle > begin
    assert 0 < seen["drawn"] < 200, "only what is seen is in the page"


def test_a_plan_is_saved_and_what_was_typed_since_outlives_a_reload(browser: Browser, served: Server) -> None:
    seen = browser.go("savedPlan", served)
    assert "seed: 77 # so" in seen["kept"]
    assert "epochs: 1" in seen["typed"]
    assert seen["found"] == []
    assert "weekly" in seen["listed"]
    saved = served.get(f"/api/v1/plans/{seen['plan']}")
    assert (saved["plan"]["seed"], saved["revision"]) == (77, 4)
    # A run names the plan it was made from, and none when the plan was changed and not saved.
    assert [served.get(f"/api/v1/runs/{run}").get("plan_id") for run in seen["runs"]] == [None, seen["plan"]]


def test_a_plan_that_was_saved_elsewhere_is_not_overwritten_unseen_and_a_deletion_is_taken_back(
    browser: Browser, served: Server
) -> None:
    plan = {"models": ["demo/strong"], "benchmarks": [{"benchmark": "puzzles", "limit": 20}], "seed": 5}
    saved = served.post("/api/v1/plans", {"name": "shared", "plan": plan}).json
    seen = browser.go("outdatedPlan", served, plan=saved["plan_id"], name="shared")
    assert seen["statuses"] == [200, 200]
    assert seen["isHeld"]
    assert seen["found"] == []
    assert "seed: 6" in seen["theirs"]
    assert "epochs" not in seen["theirs"]
    assert "epochs: 3" in seen["mine"]
    again = [one for one in served.get("/api/v1/plans")["items"] if one["name"] == "shared"]
    # Saved once more over the one that was saved elsewhere, and then restored under a name of its own.
    assert [(one["plan"]["seed"], one["plan"]["epochs"]) for one in again] == [(6, 3)]
    assert again[0]["plan_id"] != saved["plan_id"]


def test_an_ask_is_found_among_the_runs(browser: Browser, served: Server, finished: str) -> None:
    ask = {"models": ["demo/strong", "demo/weak"], "prompt": "Which of you is found again?"}
    asked = served.post("/api/v1/playground", ask).json["ask_id"]
    seen = browser.go("askAmongRuns", served, ask=asked)
    assert (seen["without"], seen["choices"], seen["found"]) == (0, 0, [])
    assert "Which of you is found again?" in seen["said"]
    assert finished not in seen["said"]


def test_a_blind_vote_is_one_key_and_shows_the_names_after_it(browser: Browser, served: Server) -> None:
    seen = browser.go("blindVote", served)
    assert "demo/" not in seen["hidden"]
    assert "Answer A" in seen["hidden"]
    assert sorted(seen["shown"]) == ["demo/strong", "demo/weak"]
    assert seen["preferred"] == seen["shown"][0]
    assert "Prompt" in seen["changed"]
    assert seen["sample"]["input"] == "What is 3 + 5?"
    assert served.get("/api/v1/playground/ranking")["votes"] == 1


TOWNS = """\
name: towns
version: "{version}"
description: Capitals of countries.
dataset: {{source: data/towns.jsonl, fields: {{input: question, target: answer}}}}
prompt: {{user: "{{{{ input }}}}"}}
scorers: [{scorer}]
"""


def towns(folder: Path, version: str, *, scorer: str = "exact", rows: int = 6) -> str:
    (folder / "data").mkdir(parents=True)
    (folder / "towns.yaml").write_text(TOWNS.format(version=version, scorer=scorer))
    lines = (f'{{"id": "{n}", "question": "Town of {n}?", "answer": "City{n}"}}\n' for n in range(rows))
    (folder / "data" / "towns.jsonl").write_text("".join(lines))
    return str(folder)


def test_a_benchmark_of_ones_own_is_checked_uploaded_renewed_and_archived(
    browser: Browser, served: Server, tmp_path: Path
) -> None:
    folders = {
        "broken": towns(tmp_path / "broken", "1", scorer="exakt"),
        "first": towns(tmp_path / "first", "1"),
        "other": towns(tmp_path / "other", "1", rows=7),
        "second": towns(tmp_path / "second", "2", rows=8),
    }
    seen = browser.go("ownBenchmarks", served, folders=folders)
    assert "exakt" in seen["broken"]
    assert seen["sound"].startswith("towns 1: no fault. n=6")
    assert "towns@1" in seen["kept"]
    assert "a version never changes" in seen["other"]
    assert seen["both"] == ["towns@2", "towns@1"]
    assert seen["offered"] == ["towns@2"]
    assert seen["all"] == ["towns@2", "towns@1 archived"]
    assert seen["left"] == ["towns@1 archived"]
    assert seen["restored"] == ["towns@2", "towns@1 archived"]
    assert seen["found"] == []
    assert seen["plan"] == "?benchmark=towns%401"
    versions = served.get("/api/v1/own-benchmarks/towns")["versions"]
    assert [(one["version"], one["files"]) for one in versions] == [
        (version, ["data/towns.jsonl", "towns.yaml"]) for version in ("2", "1")
    ]


def test_usage_says_what_is_unknown_and_a_budget_is_set_changed_and_removed(browser: Browser, tmp_path: Path) -> None:
    write_hostile(tmp_path)
    with serving(tmp_path / "home", tmp_path) as server:
        models = ["demo/strong", "python/hostile:slow"]
        server.run({"models": models, "benchmarks": [{"benchmark": "puzzles", "limit": 20}]})
        seen = browser.go("usage", server)
        items = {one["model"]: one for one in server.get("/api/v1/usage?by=model")["items"]}
        assert server.get("/api/v1/budgets") == []
    rows = {row[0]: row[1:] for row in seen["rows"]}
    assert set(rows) == set(items) == set(models)
    for model, item in items.items():
        assert rows[model][:2] == ["1", "20"]
        assert [int(text.replace(",", "")) for text in rows[model][4:6]] == [
            item["input_tokens"],
            item["output_tokens"],
        ]
        assert ("20 answers of unknown price" in rows[model][6]) == (item["unpriced"] == 20)
    assert "Not measured by model." in seen["reasons"]
    assert "The operator has set no price." in seen["reasons"]
    assert "nobody" in seen["refused"]
    assert "$7.5000 per month" in seen["changed"]
    assert "0 / 3" in seen["changed"]
    assert seen["found"] == []


def test_what_a_webhook_was_told_is_listed_and_sent_again(browser: Browser, tmp_path: Path) -> None:
    receiver = Receiver()
    with receiver.server, serving(tmp_path / "home", tmp_path, **receiver.environment) as server:
        assert server.post("/api/v1/webhooks", {"url": receiver.url, "events": ["run.finished"]}).status == 201
        run = server.run({"models": ["demo/strong"], "benchmarks": [{"benchmark": "puzzles", "limit": 1}]})
        [told] = receiver.wait(1)
        seen = browser.go("deliveries", server, run=run)
        again = receiver.wait(2)[1]
    assert again.headers["webhook-id"] == told.headers["webhook-id"]
    assert "run.finished" in seen["first"]
    assert "200" in seen["first"]
    assert run in seen["body"]
    assert '"type": "run.finished"' in seen["body"]
    assert (seen["status"], seen["found"]) == (202, [])


def test_no_screen_has_a_barrier_in_either_theme_and_each_fits_a_narrow_window(
    browser: Browser, served: Server, finished: str, hostile_run: str, programs: tuple[str, str]
) -> None:
    hidden = {"models": ["demo/strong", "demo/weak"], "prompt": PAYLOADS[0], "is_blind": True}
    asked = served.post("/api/v1/playground", hidden).json["ask_id"]
    addresses = [
        "/", "/runs", f"/runs/{finished}", f"/runs/{hostile_run}", f"/runs/{finished}/samples", "/compare",
        f"/compare?{compare_query(finished)}", f"/compare?a={finished}", "/leaderboard", "/history", "/benchmarks",
        "/benchmarks/puzzles", "/problems", "/plan", "/settings", "/nowhere", "/arena", f"/arena/{asked}",
        "/review", f"/review/random?run={finished}", f"/review/judged?run={finished}",
        "/problems/columns", f"/scorecards/{programs[0]}", "/scorecards/nope",
        f"/scorecards?a={programs[0]}&b={programs[1]}",
        "/settings?part=account", "/settings?part=project", "/settings?part=server",
    ]  # fmt: skip
    assert browser.go("tour", served, addresses=addresses) == []


def test_two_hundred_hostile_texts_stay_text_wherever_they_are_shown(
    browser: Browser, served: Server, hostile_run: str, programs: tuple[str, str]
) -> None:
    query = compare_query(hostile_run, "python/hostile:answer", "python/hostile:other")
    plan = served.post("/api/v1/plans", {"name": " ".join(PAYLOADS[:4]), "plan": DEMO}).json["plan_id"]
    said = [{"role": "user", "text": payload} for payload in PAYLOADS[:80]]
    ask = {"models": ["demo/strong", "python/hostile:answer"], "prompt": f"say 1 {PAYLOADS[1]}", "history": said}
    asked = served.post("/api/v1/playground", ask).json["ask_id"]
    more = ["/plan", f"/plans/{plan}/edit", "/arena", f"/arena/{asked}", f"/arena/{asked}?from=b"]
    given = {"run": hostile_run, "query": query, "count": len(PAYLOADS), "programs": programs, "more": more}
    seen = browser.go("hostile", served, **given)
    assert seen["hits"] == []
    assert seen["elements"] == []
    # As Markdown no more of it happens; that no request left the page, hovered links included, `go` has seen.
    assert seen["asMarkdown"] == len(PAYLOADS)
    assert seen["links"]
    expected = re.compile(r"https?://attacker\.example/\S* noreferrer noopener")
    assert [link for link in seen["links"] if not expected.fullmatch(link)] == []
    assert len(seen["texts"]) == len(set(seen["texts"])) == len(PAYLOADS)
    # Nothing was left out of the page instead: what does not steer text is there, letter by letter.
    plain = [payload for payload in PAYLOADS if payload.isprintable()]
    shown = "\n".join(seen["texts"])
    assert [payload for payload in plain if payload not in shown] == []


def test_answers_are_shown_as_markdown_where_somebody_chose_that(browser: Browser, served: Server) -> None:
    model = "python/hostile:formatted"
    run = served.run({"models": [model], "benchmarks": [{"benchmark": "puzzles", "limit": 3}]})
    asked = served.post("/api/v1/playground", {"models": [model, "demo/weak"], "prompt": "Compare."}).json["ask_id"]
    seen = browser.go("markdown", served, run=run, ask=asked)
    assert seen["asText"] == 1
    assert {"strong", "table", "pre", "ul", "blockquote", "samp"} <= set(seen["parts"]["tags"])
    assert "h1" not in seen["parts"]["tags"]
    assert "[image: pixel.example] a chart" in seen["parts"]["text"]
    assert seen["parts"]["links"] == [
        ["https://docs.example/a", "the manual (docs.example)", "noreferrer noopener"],
        ["https://docs.example/", "https://docs.example", "noreferrer noopener"],
    ]
    assert seen["found"] == []


def test_the_page_has_no_inline_script_and_names_no_other_host(built: None) -> None:
    page = (builder.OUTPUT / "index.html").read_text()
    assert not re.search(r"<script(?![^>]*\ssrc=)[^>]*>", page)
    assert not re.search(r"https?://", page)
    assert not [path for path in builder.OUTPUT.rglob("*") if path.suffix == ".map"]


@pytest.mark.parametrize(("kind", "most"), [("js", 146_000), ("css", 8_000)])
def test_the_first_screen_is_small(built: None, kind: str, most: int) -> None:
    import gzip

    page = (builder.OUTPUT / "index.html").read_text()
    files = re.findall(rf'(?:src|href)="/(assets/[^"]+\.{kind})"', page)
    assert files
    assert sum(len(gzip.compress((builder.OUTPUT / file).read_bytes())) for file in files) <= most
