"""Benchmarks that fit a need, with why, and where a run's models are weak."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from commands import Cli
from planner.world import world
from proctor.domain.errors import UserError
from proctor.runs.plans.recommend import recommend


def test_what_fits_comes_with_reasons_sizes_and_what_nothing_covers() -> None:
    found = recommend("medicine questions in Japanese", world())
    (first,) = found.benchmarks
    assert first.benchmark == "jmmlu"
    assert first.samples is not None
    assert 0 < first.samples < 7097
    assert "virology" in first.where["category"]
    mails = recommend("customer mails in German, short answers", world())
    assert [item.benchmark for item in mails.benchmarks] == ["mgsm"]
    assert mails.uncovered == ["no benchmark here is about such work in German; the nearest: mgsm"]
    with pytest.raises(UserError, match="Nothing here is a language"):
        recommend("100 questions under $2", world())


def test_a_benchmark_that_is_not_here_names_what_is_about_the_same() -> None:
    found = recommend("something like gpqa", world())
    assert "arc-challenge" in [item.benchmark for item in found.benchmarks]
    assert "there is no benchmark 'gpqa' here" in found.uncovered


def test_costs_are_those_of_an_estimate_and_say_why_where_there_are_none(cli: Cli) -> None:
    found = cli("recommend", "--for", "logic puzzles", "-m", "demo/weak", "-m", "nobody/x", "--json").json
    free, unknown = found["benchmarks"][0]["costs"]
    assert free["value_usd"] == 0
    assert unknown["value_usd"] is None
    assert "No model provider 'nobody'" in unknown["why"]


def test_after_a_run_weak_categories_say_where_to_look(cli: Cli) -> None:
    rows = [
        {"id": n, "q": str(n), "a": str(n) if n < 30 else "no", "c": "low" if n < 30 else "high"} for n in range(60)
    ]
    Path("rows.jsonl").write_text("\n".join(map(json.dumps, rows)))
    Path("two.yaml").write_text(
        "name: two\nscorers: [exact]\n"
        "dataset: {source: rows.jsonl, fields: {id: id, input: q, target: a, category: c}}\n"
    )
    Path("echo_it.py").write_text("def answer(prompt):\n    return prompt\n")
    assert cli("run", "two.yaml", "-m", "python/echo_it:answer").code == 0
    found = cli("recommend", "--after", "latest", "--json").json
    (weak,) = found["weak"]
    assert (weak["category"], weak["value"], weak["n"]) == ("high", 0, 30)
    assert found["benchmarks"][0]["where"] == {"category": ["high"]}
    assert "high of two" in cli("recommend", "--after", "latest").out
