"""A run as a whole."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from commands import Cli
from proctor.domain.documents.estimate import Rate
from proctor.domain.documents.evaluation import EvaluationSummary
from proctor.domain.documents.judging import JudgeWork
from proctor.metrics.intervals import estimate_rate
from proctor.reports.totals import totals_lines
from proctor.runs.measuring.totals import rates_of, totals_of
from reports.parts import evaluation, run_of, work
from runs.arithmetic import write_benchmark


def item(cost_usd: float | None = 0.25, **more: Any) -> EvaluationSummary:
    return evaluation(**{"scored": 7, "invalid": 1, "failed": 2, "cost_usd": cost_usd, **more})


def judged(cost_usd: float | None) -> dict[str, dict[str, JudgeWork]]:
    return {"judge_rubric": {"openai/judge": work(cost_usd=cost_usd, cost_basis="computed")}}


def lines(*items: EvaluationSummary) -> str:
    return "\n".join(totals_lines(run_of(*items)))


def test_the_cost_of_a_run_is_that_of_all_its_models_and_judges() -> None:
    found = totals_of([item(), item(judges=judged(0.5))], 4.0)
    assert (found.cost_usd, found.models_cost_usd, found.judges_cost_usd) == (1.0, 0.5, 0.5)
    assert found.cost_basis == "mixed"
    assert "Total cost: ≈$1.0000 (models ≈$0.5000, judges ≈$0.5000)." in lines(item(), item(judges=judged(0.5)))
    assert "Total cost: $0.5000." in lines(item(), item())


@pytest.mark.parametrize("items", [(item(), item(None)), (item(judges=judged(None)),)])
def test_a_cost_of_which_a_part_is_unknown_is_unknown(items: tuple[EvaluationSummary, ...]) -> None:
    assert totals_of(items, 4.0).cost_usd is None
    assert "Total cost: unknown" in lines(*items)


def test_what_was_never_asked_makes_no_cost_unknown() -> None:
    never = item(None, scored=0, invalid=0, failed=0, stopped=10)
    assert totals_of([item(), never], 4.0).cost_usd == 0.25


def test_what_costs_nothing_does_not_make_a_sum_an_estimate() -> None:
    assert totals_of([item(), item(0.0, cost_basis="free")], 4.0).cost_basis == "reported"


def test_the_pace_and_the_rates_are_of_the_trials_that_were_asked() -> None:
    found = totals_of([item(cached=4)], 4.0)
    assert (found.asked, found.trials_per_second) == (6, 1.5)
    rate = estimate_rate(4, 6)
    assert found.rates.answered == Rate(rate.value, rate.interval, 6)
    assert rates_of([item()]).invalid.n == 8
    assert "6 trials run in 4 s, 1.5/s." in lines(item(cached=4))
    assert "4 of 10 answers came from the cache (off with --no-cache)." in lines(item(cached=4))


def test_where_nothing_was_asked_no_pace_is_invented() -> None:
    cached = item(scored=10, invalid=0, failed=0, cached=10)
    found = totals_of([cached], 4.0)
    assert (found.trials_per_second, found.rates.answered.value) == (None, None)
    assert "second" not in lines(cached)
    never = item(None, scored=0, invalid=0, failed=0, stopped=10)
    assert totals_lines(run_of(never, seconds=0.0)) == []


def test_the_list_of_runs_has_what_each_cost_in_all(cli: Cli) -> None:
    write_benchmark(Path(), 2)
    Path("mine.py").write_text(
        "from decimal import Decimal\nfrom proctor.domain.response import Response\n"
        "def dear(text: str) -> Response:\n    return Response('1', cost_usd=Decimal('0.5'))\n"
        "def unknown(text: str) -> str:\n    return '1'\n"
    )
    ended = cli("run", "sums.yaml", "-m", "python/mine:dear", "--json").json
    assert (ended["totals"]["cost_usd"], ended["totals"]["asked"]) == (1.0, 2)
    assert ended["evaluations"][0]["rates"]["answered"]["n"] == 2
    cli("run", "sums.yaml", "-m", "python/mine:dear", "-m", "python/mine:unknown")
    assert [row["cost_usd"] for row in cli("runs", "--json").json] == [None, 1.0]
    listed = cli("runs").out
    assert "$1.0000" in listed
    assert "unknown" in listed


def test_a_rule_that_left_nothing_out_does_not_seem_to_have_stopped_anything(cli: Cli) -> None:
    words = "The stop rule did not end the run early: every sample was measured."
    models = ("-m", "demo/perfect?delay_ms=20", "-m", "demo/silent?delay_ms=20")
    rule = ("--concurrency", 1, "--until", "decided")
    assert words not in cli("run", "puzzles", "--limit", 300, *models, *rule).out
    assert words in cli("run", "puzzles", "--limit", 3, *models, *rule).out
