"""Stopping early: enough is enough, and looking often does not cheat."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace

from commands import ended
from proctor.cli.figures import until_text
from proctor.domain.documents.run import StopOutcome
from proctor.domain.errors import PlanError
from proctor.domain.evaluation import Evaluation
from proctor.domain.event import ResultsRecorded
from proctor.domain.plan import Plan
from proctor.domain.response import Response
from proctor.domain.sample import Sample
from proctor.domain.score import Score
from proctor.domain.trial import Answer, Outcome, Result, Trial
from proctor.metrics.sequences import ConfidenceSequence
from proctor.planning.expand import trials_of
from proctor.planning.selection import select
from proctor.runs.read import read_run
from proctor.stopping.rule import UNREADABLE, StopRule, Watch, outcomes, rule_of, stop_rule
from proctor.stores.database import Database
from reports.stored import NOT_ASKED, Told, record
from reports.stored import UNREADABLE as BROKEN
from stores.parts import ListedSamples, evaluation


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


@pytest.mark.untraced
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


def grouped(groups: int, size: int, *, are_named: bool = True) -> list[Evaluation]:
    """Two models on questions of which so many at a time belong together, drawn group by group."""
    names = [f"g{n // size}" if are_named else None for n in range(groups * size)]
    samples = ListedSamples(tuple(Sample(f"s{n:05}", "?", group=name) for n, name in enumerate(names)))
    drawn = select(samples, {}, None, 0, is_shuffled=True) if are_named else samples
    return [replace(item, samples=drawn) for item in two(1)]


def share_of_false_decisions(evaluations: list[Evaluation], size: int, runs: int) -> float:
    """Two equal models that answer all questions of a group alike: how often one is declared the better."""
    wrong = 0
    for seed in range(runs):
        rule = stop_rule(plan("decided"), evaluations)
        assert rule is not None
        pulled = [(item, rule.gate(trials_of(item), {})) for item in evaluations]
        luck = random.Random(seed)
        right = {(item.label, group): float(luck.random() < 0.6) for item in evaluations for group in range(60)}
        while rule.wants(1) and (given := [(item, one) for item, trials in pulled for one in islice(trials, size)]):
            values = (right[item.label, int(one.sample.id[1:]) // size] for item, one in given)
            rule(ResultsRecorded(tuple(result(one, value) for (_, one), value in zip(given, values, strict=True))))
        wrong += not rule.wants(1)
    return wrong / runs


@pytest.mark.untraced
@pytest.mark.parametrize("size", [5, 10])
def test_equal_models_on_grouped_samples_are_declared_different_no_more_often_than_promised(size: int) -> None:
    """Counted one by one, samples that are right or wrong together look like more evidence than they are."""
    assert share_of_false_decisions(grouped(60, size), size, runs=60) <= 0.05
    assert share_of_false_decisions(grouped(60, size, are_named=False), size, runs=30) > 0.15


def test_a_narrow_interval_of_grouped_samples_counts_groups() -> None:
    for evaluations, is_enough in ((grouped(100, 10), False), (grouped(100, 10, are_named=False), True)):
        rule = stop_rule(plan("ci<0.15"), evaluations[:1])
        assert rule is not None
        for trial in rule.gate(trials_of(evaluations[0]), {}):
            rule(ResultsRecorded((result(trial, float(int(trial.sample.id[1:]) // 10 % 3 > 0)),)))
        assert rule.wants(1) != is_enough


def test_a_group_counts_once_all_of_it_is_there() -> None:
    items = grouped(2, 3)
    sequence = ConfidenceSequence.of_differences()
    watch = Watch(("a", "b"), sequence, {"g0": 3, "g1": 3})
    for n, (a, b) in enumerate([(0.0, 1.0), (1.0, 1.0), (0.0, None)]):
        watch.add(0, f"s{n}", "g0", a)
        assert sequence.n == 0
        watch.add(1, f"s{n}", "g0", b)
    assert (sequence.n, sequence.mean, watch.samples) == (1, 0.5, 2)
    assert [sample.group for sample in items[0].samples] in (["g0"] * 3 + ["g1"] * 3, ["g1"] * 3 + ["g0"] * 3)


def test_samples_that_all_share_a_group_are_watched_one_by_one() -> None:
    items = grouped(1, 400)
    rule = stop_rule(plan("ci<0.2"), items[:1])
    assert rule is not None
    for trial in rule.gate(trials_of(items[0]), {}):
        rule(ResultsRecorded((result(trial, 1.0),)))
    assert not rule.wants(1)


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


def test_a_rule_has_come_to_nothing_in_a_run_that_is_not_prepared_yet() -> None:
    assert outcomes(plan("decided"), [], {}) == []
    assert outcomes(plan("ci<0.1"), [], {}) == []


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


def shown_by(metrics: tuple[str, ...], count: int = 200) -> list[Evaluation]:
    return [replace(item, benchmark=replace(item.benchmark, metrics=metrics)) for item in two(count)]


def test_what_is_watched_is_the_metric_that_is_shown_first() -> None:
    """Both have the same mean, but one reaches the threshold on all samples and the other on four of ten."""
    is_decided = {}
    for metrics in (("accuracy?threshold=0.5", "mean"), ("mean", "accuracy?threshold=0.5")):
        items = shown_by(metrics)
        rule = stop_rule(plan("decided"), items)
        assert rule is not None
        for one, other in zip(*(rule.gate(trials_of(item), {}) for item in items), strict=True):
            mark = 1.0 if int(one.sample.id[1:]) % 10 < 4 else 1 / 6
            rule(ResultsRecorded((result(one, 0.5), result(other, mark))))
            if not rule.wants(1):
                break
        is_decided[metrics[0]] = not rule.wants(1)
    assert is_decided == {"accuracy?threshold=0.5": True, "mean": False}


def test_a_metric_that_is_no_mean_over_samples_cannot_be_watched() -> None:
    with pytest.raises(PlanError, match="'until' cannot watch macro_f1, which listed shows first"):
        stop_rule(plan("decided"), shown_by(("macro_f1", "accuracy")))
    assert stop_rule(plan("decided"), shown_by(("accuracy", "macro_f1"))) is not None


def test_a_run_whose_metric_cannot_be_watched_is_refused_before_anything_is_asked(tmp_path: Path) -> None:
    (tmp_path / "rows.jsonl").write_text('{"id": "1", "input": "?", "target": "yes"}\n')
    (tmp_path / "mine.yaml").write_text(
        "name: mine\ndataset: {source: rows.jsonl}\nscorers: [exact]\nmetrics: [macro_f1, accuracy]\n"
    )
    for more in ((), ("--dry-run",)):
        arguments = ("run", "mine.yaml", "-m", "demo/strong", "-m", "demo/weak", "--until", "decided", *more)
        code, _, err = ended(tmp_path / "home", tmp_path, *arguments)
        assert (code, "'until' cannot watch macro_f1" in err) == (2, True), err


@pytest.mark.sqlite
def test_what_is_told_of_a_rule_is_of_the_metric_that_is_shown_first(database: Database, tmp_path: Path) -> None:
    names = [f"s{n:03}" for n in range(200)]
    metrics = ("accuracy?threshold=0.5", "mean")
    a = Told(dict.fromkeys(names, 0.5), metrics=metrics)
    b = Told({name: 1.0 if n % 10 < 6 else 0.45 for n, name in enumerate(names)}, "demo/b", metrics=metrics)
    [found] = read_run(database, record(database, tmp_path, a, b, until="decided")).until or ()
    assert (found.met, found.value) == (True, pytest.approx(-0.4))
    averages = [replace_metrics(one, ("macro_f1",)) for one in (a, b)]
    assert read_run(database, record(database, tmp_path, *averages, until="decided")).until == []


def replace_metrics(told: Told, metrics: tuple[str, ...]) -> Told:
    return Told(told.marks, told.model, metrics=metrics)


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


def unreadable(trial: Trial) -> Result:
    score = Score("echo", None, reason="the verdict could not be read", details={"verdict": "unreadable"})
    return Result(Answer(trial, Response("x")), (score,), Outcome.FAILED)


def is_decided(values: list[tuple[float | None, float | None]]) -> bool:
    """Ask two models question by question; None stands for a verdict that could not be read."""
    items = two(len(values))
    rule = stop_rule(plan("decided"), items)
    assert rule is not None
    pulled = [rule.gate(trials_of(item), {}) for item in items]
    for pair in values:
        trials = [next(trials, None) for trials in pulled]
        found = [(trial, value) for trial, value in zip(trials, pair, strict=True) if trial is not None]
        marked = (unreadable(trial) if value is None else result(trial, value) for trial, value in found)
        rule(ResultsRecorded(tuple(marked)))
    return not rule.wants(1)


def test_a_model_that_breaks_its_judge_on_its_bad_answers_is_not_decided_to_be_better() -> None:
    honest = [(float(n % 2), float(n % 2)) for n in range(400)]
    assert not is_decided(list(honest))
    # Right on half of the questions as well, but where it is wrong its judge cannot be read.
    assert not is_decided([(float(n // 2 % 2), float(n % 2) or None) for n in range(400)])
    # Few verdicts that could not be read, and a difference that holds whatever they were.
    assert is_decided([(0.0, None if n % 20 == 0 else 1.0) for n in range(400)])


def test_an_interval_is_narrow_enough_only_with_unreadable_verdicts_counted_as_wrong_too() -> None:
    for share, is_enough in ((0, True), (2, False)):
        items = two(200)[:1]
        rule = stop_rule(plan("ci<0.1"), items)
        assert rule is not None
        for n, trial in enumerate(rule.gate(trials_of(items[0]), {})):
            rule(ResultsRecorded((unreadable(trial) if share and n % share == 0 else result(trial, 1.0),)))
        assert rule.wants(1) != is_enough


def test_a_judge_that_fails_when_it_is_asked_again_does_not_excuse_what_it_could_not_read() -> None:
    items = two(200)[:1]
    rule = stop_rule(plan("ci<0.1"), items)
    assert rule is not None
    recorded = {sample.id: UNREADABLE for n, sample in enumerate(items[0].samples) if n % 2}
    for trial in rule.gate(trials_of(items[0]), recorded):
        rule(ResultsRecorded((result(trial, None if trial.sample.id in recorded else 1.0),)))
    assert rule.wants(1)


@pytest.mark.sqlite
def test_what_is_told_of_a_rule_counts_unreadable_verdicts_in_both_ways(database: Database, tmp_path: Path) -> None:
    names = [f"s{n:03}" for n in range(300)]
    a = Told({name: float(n // 2 % 2) for n, name in enumerate(names)})
    b = Told({name: 1.0 if n % 2 else BROKEN for n, name in enumerate(names)}, model="demo/b")
    [found] = read_run(database, record(database, tmp_path, a, b, until="decided")).until or ()
    assert found.interval[0] > 0, "left out they would decide"
    assert (found.met, found.unreadable, found.n) == (False, 150, 150)
    assert "With 150 unreadable marks counted as wrong it is +0.000 [" in until_text(found)
    assert found.if_unreadable_wrong is not None
    low, high = found.if_unreadable_wrong.interval
    assert found.if_unreadable_wrong.value is not None
    assert low < found.if_unreadable_wrong.value == 0 < high
    wrong = record(database, tmp_path, a, replace_marks(b, BROKEN, 0.0), until="decided")
    [plain] = read_run(database, wrong).until or ()
    assert (plain.interval, plain.if_unreadable_wrong) == ((low, high), None)


def replace_marks(told: Told, old: str, new: float) -> Told:
    return Told({name: new if mark == old else mark for name, mark in told.marks.items()}, model=told.model)


def test_a_run_that_was_interrupted_within_a_group_has_not_reached_its_rule(tmp_path: Path) -> None:
    """40 answers into the first group of 100, taken one by one these would be a narrow interval."""
    rows = [{"id": f"{n:03}", "input": "?", "target": "yes", "topic": f"t{n // 100}"} for n in range(300)]
    (tmp_path / "grouped.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    (tmp_path / "mine.yaml").write_text(
        "name: mine\ndataset: {source: grouped.jsonl, fields: {group: topic}}\nprompt: {user: '{{ input }}'}\n"
        "scorers: [exact]\n"
    )
    (tmp_path / "stopping.py").write_text(
        "import os, signal\nasked = 0\n\ndef answer(text: str) -> str:\n    global asked\n    asked += 1\n"
        "    if asked == 40:\n        os.kill(os.getpid(), signal.SIGINT)\n    return 'yes'\n"
    )
    arguments = ("mine.yaml", "-m", "python/stopping:answer", "--until", "ci<0.2", "--concurrency", "1")
    ended(tmp_path / "home", tmp_path, "run", *arguments)
    code, out, err = ended(tmp_path / "home", tmp_path, "show", "latest", "--json")
    assert code == 0, err
    document = json.loads(out)
    assert 40 <= document["evaluations"][0]["scored"] < 100
    [outcome] = document["until"]
    assert (outcome["met"], outcome["n"], outcome["groups"], outcome["value"]) == (False, 0, 0, None)
    assert until_text(msgspec.convert(outcome, StopOutcome)).startswith(
        "Stop rule ci<0.2, python/stopping:answer: – [0.000, 1.000] n=0, not reached."
    )


def test_of_a_run_without_planned_sizes_no_group_is_taken_to_be_whole_unless_all_were_asked(
    database: Database, tmp_path: Path
) -> None:
    groups = {f"s{n:02}": f"g{n // 2}" for n in range(60)}
    for missing, groups_counted in ((0, 30), (1, 0)):
        marks = {name: NOT_ASKED if n < missing else 1.0 for n, name in enumerate(groups)}
        run = record(database, tmp_path, Told(marks, groups=groups), until="ci<0.2")
        [found] = read_run(database, run).until or ()
        assert (found.n, found.groups or 0) == (2 * groups_counted, groups_counted)
