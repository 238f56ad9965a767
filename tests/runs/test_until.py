"""Stopping early: enough is enough, and looking often does not cheat."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from commands import ended
from proctor.domain.errors import PlanError
from proctor.domain.evaluation import Evaluation
from proctor.domain.event import ResultsRecorded
from proctor.domain.plan import Plan
from proctor.domain.response import Response
from proctor.domain.sample import Sample
from proctor.domain.score import Score
from proctor.domain.trial import Answer, Outcome, Result, Trial
from proctor.planning.expand import trials_of
from proctor.runs.until import StopRule, rule_of, stop_rule
from stores.parts import evaluation


def plan(until: str, **more: object) -> Plan:
    return Plan.model_validate({"models": ["demo/a", "demo/b"], "benchmarks": ["x"], "until": until, **more})


def two(count: int) -> list[Evaluation]:
    first = evaluation(count)
    return [replace(first, id=1, label="a"), replace(first, id=2, label="b")]


def result(trial: Trial, value: float | None) -> Result:
    scores = () if value is None else (Score("echo", value),)
    return Result(Answer(trial, Response("x")), scores, Outcome.SCORED if scores else Outcome.FAILED)


def simulate(rule: StopRule, evaluations: list[Evaluation], rates: dict[str, float], rng: random.Random) -> int:
    """Ask in small batches whose answers come back in any order; gives how many samples each model was asked."""
    pulled: dict[int, Iterator[Trial]] = {item.id: rule.gate(trials_of(item), {}) for item in evaluations}
    asked = 0
    while any(rule.wants(item.id) for item in evaluations):
        batch = [(item, next(pulled[item.id], None)) for item in evaluations for _ in range(8)]
        rng.shuffle(batch)
        given = [(item, trial) for item, trial in batch if trial is not None]
        if not given:
            break
        asked += len(given)
        rule(ResultsRecorded(tuple(result(trial, float(rng.random() < rates[item.label])) for item, trial in given)))
    return asked


def test_a_narrow_interval_stops_the_asking() -> None:
    items = two(20_000)
    rule = stop_rule(plan("ci<0.1"), items)
    assert rule is not None
    asked = simulate(rule, items, {"a": 0.9, "b": 0.9}, random.Random(1))
    assert not any(rule.wants(item.id) for item in items)
    assert 200 < asked < 10_000


def test_a_clear_difference_is_decided_with_few_samples_and_none_is_not() -> None:
    items = two(4_000)
    rule = stop_rule(plan("decided"), items)
    assert rule is not None
    assert simulate(rule, items, {"a": 0.5, "b": 0.9}, random.Random(2)) < 1_000
    same = stop_rule(plan("decided"), items)
    assert same is not None
    simulate(same, items, {"a": 0.7, "b": 0.7}, random.Random(3))
    assert all(same.wants(item.id) for item in items)


def test_equal_models_are_declared_different_no_more_often_than_promised() -> None:
    items = two(300)
    wrong = 0
    for seed in range(120):
        rule = stop_rule(plan("decided"), items)
        assert rule is not None
        simulate(rule, items, {"a": 0.6, "b": 0.6}, random.Random(seed))
        wrong += not rule.wants(1)
    # 5 % of 120 is 6; 12 or more would happen less than twice in a hundred times.
    assert wrong < 12


def test_values_count_in_the_order_drawn_not_in_the_order_answered() -> None:
    """Quick answers are right, slow ones wrong: looking at arrivals would be sure of the wrong thing."""
    items = two(400)[:1]
    rule = stop_rule(plan("ci<0.2"), items)
    assert rule is not None
    trials = list(rule.gate(trials_of(items[0]), {}))
    rule(ResultsRecorded(tuple(result(trial, 1.0) for trial in trials[1:])))
    assert rule.wants(1), "the first sample is still out: nothing after it may count"
    rule(ResultsRecorded((result(trials[0], 0.0),)))
    assert not rule.wants(1)


def test_a_fault_is_passed_over() -> None:
    items = two(400)[:1]
    rule = stop_rule(plan("ci<0.2"), items)
    assert rule is not None
    trials = list(rule.gate(trials_of(items[0]), {}))
    rule(ResultsRecorded(tuple(result(trial, None if n % 2 else 1.0) for n, trial in enumerate(trials))))
    assert not rule.wants(1)


def test_what_an_earlier_execution_measured_counts() -> None:
    items = two(400)[:1]
    rule = stop_rule(plan("ci<0.2"), items)
    assert rule is not None
    recorded = {sample.id: 1.0 for sample in items[0].samples if isinstance(sample, Sample)}
    assert len(list(rule.gate(trials_of(items[0]), recorded))) < 400


@pytest.mark.parametrize(
    ("until", "epochs", "labels", "words"),
    [
        ("decided", 1, 1, "name at least two"),
        ("ci<0.1", 2, 2, "epochs: 1 only"),
        ("enough", 1, 2, "cannot read the stop rule"),
    ],
)
def test_a_rule_that_makes_no_sense_is_refused(until: str, epochs: int, labels: int, words: str) -> None:
    given = plan(until, models=["demo/a", "demo/b"][:labels], epochs=epochs)
    with pytest.raises(PlanError, match=words):
        rule_of(given)
    with pytest.raises(PlanError, match=words):
        stop_rule(given, two(10))


def test_the_epochs_of_one_benchmark_are_seen_too() -> None:
    with pytest.raises(PlanError, match="epochs: 1 only"):
        rule_of(plan("decided", benchmarks=["x", {"benchmark": "y", "epochs": 2}]))


def test_a_run_stops_by_itself_and_says_why(tmp_path: Path) -> None:
    home = tmp_path / "home"
    arguments = ("puzzles?count=6000", "-m", "demo/perfect", "-m", "demo/weak", "--until", "decided", "--json")
    code, out, err = ended(home, tmp_path, "run", *arguments)
    assert code == 0, err
    document = json.loads(out)
    [outcome] = document["until"]
    assert outcome["met"]
    assert outcome["models"] == ["demo/perfect", "demo/weak"]
    assert outcome["interval"][1] < 0
    for item in document["evaluations"]:
        assert item["stopped"] > 0
        assert item["stopped"] == 6_000 - item["scored"] - item["invalid"] - item["failed"]
    asked = sum(item["scored"] + item["invalid"] for item in document["evaluations"])
    code, out, err = ended(home, tmp_path, "resume", document["run_id"], "--json")
    assert code == 0, err
    again = json.loads(out)
    assert sum(item["scored"] + item["invalid"] for item in again["evaluations"]) <= asked + 10


@pytest.mark.parametrize("limit", [(), ("--limit", "2000")])
def test_a_sorted_file_does_not_make_a_run_stop_too_sure(tmp_path: Path, limit: tuple[str, ...]) -> None:
    """Its first half is answered wrongly, its second rightly: whoever asked in that order would stop at 0."""
    rows = [{"id": f"{n:04}", "input": "?", "target": "no" if n < 1_000 else "yes"} for n in range(2_000)]
    (tmp_path / "sorted.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    (tmp_path / "mine.yaml").write_text(
        "name: mine\ndataset: {source: sorted.jsonl}\nprompt: {user: '{{ input }}'}\nscorers: [exact]\n"
    )
    (tmp_path / "yes.py").write_text("def answer(text: str) -> str:\n    return 'yes'\n")
    rule = ("--until", "ci<0.3", "--concurrency", "4", "--json")
    code, out, err = ended(tmp_path / "home", tmp_path, "run", "mine.yaml", "-m", "python/yes:answer", *limit, *rule)
    assert code == 0, err
    [outcome] = json.loads(out)["until"]
    assert outcome["met"]
    assert 0.3 < outcome["value"] < 0.7
