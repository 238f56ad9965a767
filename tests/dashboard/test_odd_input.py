"""What is too long, too old, gone, or not as it should be, in a real browser: each looks intended."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from dashboard.conftest import DEMO, Browser
from server.serving import Server, serving

LINE = "A line of a very long answer, with words in it.\n"
HUGE = LINE * 2_200_000 + "This is its very last line."
"""More than an answer may have now: as a store of an earlier version has it."""
MODEL = """\
TEXTS = {texts}


def odd(text: str) -> str:
    return TEXTS[int(text.split()[1])]
"""
ODD = (
    "الجواب الصحيح هو 42 لأن العدد زوجي.",
    "התשובה היא 42.",
    "half a character: \ufffd\ufffd, and a bell: \x07",
    "zero\u200bwidth and \u202eturned round\u202c",
    "",
)
BENCHMARK = """\
name: {name}
version: "1"
dataset: {{source: {name}.jsonl}}
prompt: {{user: "{{{{ input }}}}"}}
scorers: [{scorer}]
metrics: [accuracy]
"""


def write(folder: Path, name: str, rows: list[dict[str, str]], scorer: str = "exact") -> str:
    (folder / f"{name}.yaml").write_text(BENCHMARK.format(name=name, scorer=scorer))
    (folder / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (folder / "odd_models.py").write_text(MODEL.format(texts=ascii(ODD)))
    return str(folder / f"{name}.yaml")


@pytest.fixture(scope="module")
def odd(built: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server of its own: what is too much here would be on the screens of other tests."""
    folder = tmp_path_factory.mktemp("odd")
    with serving(folder / "home", folder) as found:
        yield found


@pytest.fixture(scope="module")
def three(odd: Server) -> str:
    return odd.run(DEMO)


def test_a_deleted_run_and_links_to_it_say_that_it_is_gone(browser: Browser, odd: Server) -> None:
    run = odd.run({**DEMO, "name": "to be deleted"})
    [first] = odd.get(f"/api/v1/runs/{run}/results?limit=1")["items"]
    seen = browser.go("deletedRun", odd, run=run, result=first["result_id"])
    assert seen["status"] == 200
    for said in seen["links"].values():
        assert f"No run '{run}'" in said
    assert (seen["found"], seen["listed"]) == ([], False)


def test_links_to_what_is_not_there_any_more_say_so_or_show_what_is_there(
    browser: Browser, odd: Server, three: str
) -> None:
    seen = browser.go("staleLinks", odd, run=three)
    assert "No trial matches these filters" in seen["category"] or "has no trial" in seen["category"]
    assert "demo/gone" in seen["model"]
    assert "is better by" in seen["pair"]
    for name in ("plan", "ask", "card"):
        assert "There is nothing here." in seen[name], name
    assert "999999999" in seen["result"]


def test_a_session_that_ends_while_one_types_costs_nothing_that_was_typed(browser: Browser, tmp_path: Path) -> None:
    with serving(tmp_path / "home", tmp_path, "--accounts") as guarded:
        code, said, _ = guarded.cli("users", "add", "ada", "--admin")
        assert code == 0
        link = re.search(r"/welcome#\S+", said)
        assert link
        code, _, told = guarded.cli("run", "puzzles", "-m", "demo/weak", "--limit", "3")
        assert code == 0, told
        run = json.loads(guarded.cli("runs", "--json")[1])[0]["run_id"]
        seen = browser.go("endedSession", guarded, link=link[0], run=run)
    assert "what you typed is still there" in seen["said"]
    assert "limit: 9" in seen["plan"]
    assert (seen["name"], seen["comment"]) == ("typed before", "half a thought")


@pytest.mark.sqlite
def test_an_answer_of_a_hundred_megabytes_is_read_at_once_and_downloaded_whole(browser: Browser, odd: Server) -> None:
    benchmark = write(odd.folder, "one", [{"id": "a", "input": "Write 0", "target": "7"}])
    run = odd.run({"models": ["python/odd_models:odd"], "benchmarks": [benchmark]})
    [result] = odd.get(f"/api/v1/runs/{run}/results")["items"]
    with closing(sqlite3.connect(odd.home / "proctor.db")) as database, database:
        database.execute("UPDATE bodies SET text = ? WHERE response_id = ?", [HUGE, int(result["result_id"])])
    seen = browser.go("hugeAnswer", odd, run=run)
    assert seen["note"] == f"20,000 of {len(HUGE):,} characters are shown."
    assert seen["answer"]["bytes"] < 100_000, "the whole of it is sent to nobody who does not ask for it"
    assert seen["heap"] < 100_000_000
    assert (seen["characters"], seen["end"], seen["name"]) == (len(HUGE), HUGE[-40:], f"{result['result_id']}.txt")


def test_texts_from_right_to_left_and_broken_ones_can_be_read(browser: Browser, odd: Server) -> None:
    rows = [{"id": f"t{n}", "input": f"text {n}", "target": "7"} for n in range(len(ODD))]
    benchmark = write(odd.folder, "odd", rows)
    run = odd.run({"models": ["python/odd_models:odd"], "benchmarks": [benchmark], "limits": {"concurrency": 1}})
    seen = browser.go("oddTexts", odd, run=run, count=len(ODD))
    assert seen["found"] == []
    directions = {text: direction for one in seen["seen"] for text, direction in one["texts"]}
    assert (directions[ODD[0]], directions[ODD[1]]) == ("rtl", "rtl")
    marked = {mark for one in seen["seen"] for mark in one["marked"]}
    assert {"\\u0007", "\\u200b", "\\u202e", "\\u202c"} <= marked
    assert any("\ufffd\ufffd" in text for text in directions)


def test_sixty_models_and_five_thousand_categories_show_the_first_that_matter(browser: Browser, odd: Server) -> None:
    models = [f"demo/{('strong', 'weak')[n % 2]}?accuracy={0.4 + n * 0.009:.3f}" for n in range(60)]
    sixty = odd.run({"name": "sixty", "models": models, "benchmarks": [{"benchmark": "puzzles", "limit": 12}]})
    rows = [{"id": f"c{n}", "input": f"What is {n} + 4?", "target": "1", "category": f"kind {n}"} for n in range(5_000)]
    pairs = odd.run({"models": models[::3], "benchmarks": [{"benchmark": "puzzles", "limit": 12}]})
    many = odd.run({"models": ["demo/strong", "demo/weak"], "benchmarks": [write(odd.folder, "many", rows, "numeric")]})
    addresses = {
        "sixty": f"/runs/{sixty}",
        "pairs": f"/compare?a={pairs}",
        "categories": f"/compare?a={many}",
        "many": f"/runs/{many}",
        "samples": f"/runs/{many}/samples",
    }
    seen = browser.go("overfull", odd, addresses=addresses)
    assert [one["found"] for one in seen.values()] == [[]] * len(seen)
    best = max(odd.get(f"/api/v1/runs/{sixty}")["evaluations"], key=lambda one: one["metrics"]["accuracy"]["value"])
    assert "has the highest score of 60 models on puzzles" in seen["sixty"]["title"]
    assert f"{best['metrics']['accuracy']['value']:.3f}" in seen["sixty"]["title"]
    assert "The 40 clearest of 190 pairs are shown." in seen["pairs"]["text"]
    assert "The first 40 of 5,000 are shown." in seen["categories"]["text"]
    assert all(one["rows"] < 250 for one in seen.values())


def test_clocks_that_differ_show_no_run_of_the_future(browser: Browser, odd: Server, three: str) -> None:
    seen = browser.go("otherClocks", odd, run=three)
    assert seen["behind"] == "now"
    assert seen["ahead"] in ("yesterday", "1 day ago", "24 hr. ago")
