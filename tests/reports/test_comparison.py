from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metrics.reference import clustered_stderr
from proctor.domain.documents.comparison import Comparison, Comparisons, FlippedAnswers
from proctor.domain.errors import NotFoundError, UserError
from proctor.domain.estimate import SampleScore
from proctor.domain.run import CANCELLED_REASON, RunStatus
from proctor.metrics.compare import compare
from proctor.metrics.sequences import ConfidenceSequence
from proctor.reports.comparison_page import comparison_page, left_out_text, notes
from proctor.reports.markdown import page_markdown
from proctor.runs.comparing.compare import compare_runs
from proctor.runs.comparing.pairs import NotComparableError, PairSelection
from proctor.stores.comparing import evaluations_of
from proctor.stores.database import Database, open_database
from proctor.stores.runs import GROUP_SIZES, RunStore
from reports.stored import FAILED, INVALID, NOT_ASKED, FixedScorer, Told, record
from stores.parts import this_month


def names(count: int) -> list[str]:
    return [f"s{n:03}" for n in range(count)]


def one(compared: Comparisons) -> Comparison:
    [found] = compared
    return found


def test_two_models_of_a_run_are_paired_by_sample_id(database: Database, tmp_path: Path) -> None:
    a = {name: float(n % 3 == 0) for n, name in enumerate(names(60))}
    b = {name: float(n % 2 == 0) for n, name in enumerate(reversed(names(60)))}
    run = record(database, tmp_path, Told(a), Told(b, model="demo/b"))
    found = one(compare_runs(database, [run]))
    expected = compare(
        [SampleScore(name, value) for name, value in a.items()],
        [SampleScore(name, value) for name, value in b.items()],
        names=("demo/a", "demo/b"),
    )
    assert found.n == 60
    assert found.difference.value == expected.difference.value
    assert found.difference.ci95 == expected.difference.interval
    assert found.p_value == expected.p_value
    assert found.test == "exact McNemar"
    assert found.flips.gained.count == expected.gained
    assert found.detectable_difference == expected.detectable


def test_a_difference_that_is_plain_is_said_in_words(database: Database, tmp_path: Path) -> None:
    good = Told(dict.fromkeys(names(40), 1.0))
    bad = Told({name: float(n % 2) for n, name in enumerate(names(40))}, model="demo/b")
    found = one(compare_runs(database, [record(database, tmp_path, bad, good)]))
    assert found.better == "demo/a"
    assert found.verdict.startswith("demo/a is better by 50.0 points [")
    assert found.verdict.endswith("p < 0.001")


def test_where_nothing_is_shown_the_samples_that_are_missing_are_said(database: Database, tmp_path: Path) -> None:
    first = Told({name: float(n % 2) for n, name in enumerate(names(20))})
    second = Told({name: float(n % 2 or n == 0) for n, name in enumerate(names(20))}, model="demo/b")
    run = record(database, tmp_path, first, second)
    found = one(compare_runs(database, [run], target=0.05))
    assert found.better is None
    assert found.verdict.startswith("no difference could be shown; ")
    assert found.verdict.endswith("more samples would be needed to detect 5 points")


def test_epochs_are_averaged_before_anything_is_compared(database: Database, tmp_path: Path) -> None:
    a = Told({"s1": [1.0, 0.0, 0.0, 0.0], "s2": [1.0, 1.0, 1.0, 1.0], "s3": [0.0, 0.0, FAILED, 1.0]})
    b = Told({"s1": [1.0, 1.0, 1.0, 1.0], "s2": [0.0, 0.0, 0.0, 0.0], "s3": [1.0, 1.0, 1.0, 1.0]}, model="demo/b")
    found = one(compare_runs(database, [record(database, tmp_path, a, b)]))
    assert found.n == 3
    assert found.a.score.value == pytest.approx((0.25 + 1 + 1 / 3) / 3, abs=1e-12)
    assert found.difference.value == pytest.approx((0.75 - 1 + 2 / 3) / 3, abs=1e-12)


def test_marks_of_a_part_of_the_weights_say_so_for_the_samples_that_are_compared(
    database: Database, tmp_path: Path
) -> None:
    scorers = (FixedScorer("program_mark"),)
    shares = {"s1": 0.85, "s2": 0.95, "s3": 0.1}
    a = Told({"s1": 0.6, "s2": 0.8, "s3": 0.05}, scorers=scorers, covers=shares)
    b = Told({"s1": 0.5, "s2": 0.6, "s3": FAILED}, model="demo/b", scorers=scorers, covers={"s1": 0.6, "s2": 0.6})
    document = compare_runs(database, [record(database, tmp_path, a, b)])
    found = one(document)
    assert [side.score.covers for side in (found.a, found.b)] == [0.9, 0.6], "s3 is not compared"
    assert [side.score.ci95[1] for side in (found.a, found.b)] == [0.9, 0.6], "no mark can be higher"
    assert found.warnings[-1].startswith("A's marks cover 0.9 of the weights and B's 0.6: ")
    page = comparison_page(document)
    assert page.sections[0].tables[0].rows[0][4:6] == ("0.700 of 0.9", "0.550 of 0.6")
    told = "'of 0.6': the measured parts have 0.6 of the weight on average; scores are not scaled up."
    assert told in notes(document)
    like_a = Told(a.marks, "demo/b", scorers=scorers, covers=shares)
    equal = one(compare_runs(database, [record(database, tmp_path, a, like_a)]))
    assert (equal.a.score.covers, equal.warnings) == (pytest.approx(1.9 / 3), [])
    others = [Told({"s1": 1.0}), Told({"s1": 1.0}, model="demo/b")]
    whole = one(compare_runs(database, [record(database, tmp_path, *others)]))
    assert whole.a.score.covers is None


def test_what_is_left_out_is_counted_by_its_reason(database: Database, tmp_path: Path) -> None:
    a = Told({"s1": 1.0, "s2": 1.0, "s3": 1.0, "s4": FAILED, "s5": NOT_ASKED, "s6": FAILED, "s7": INVALID})
    b = Told({"s1": 0.0, "s2": FAILED, "s3": NOT_ASKED, "s4": 1.0, "s5": 1.0, "s6": FAILED, "s7": 1.0}, model="demo/b")
    found = one(compare_runs(database, [record(database, tmp_path, a, b)]))
    assert found.n == 2  # s1 and s7: an invalid answer is a wrong one
    assert found.left_out.counts == {
        "only_a_failed_in_b": 1, "only_a_not_asked_in_b": 1, "only_b_failed_in_a": 1, "only_b_not_asked_in_a": 1,
        "failed_in_both": 1,
    }  # fmt: skip
    assert left_out_text(found) == (
        "5 samples left out: 1 failed in B, 1 not run in B, 1 failed in A, 1 not run in A, 1 failed in both."
    )


def test_benchmarks_with_other_content_are_not_paired_unless_asked(database: Database, tmp_path: Path) -> None:
    before = record(database, tmp_path, Told({"s1": 1.0, "s2": 0.0}))
    after = record(database, tmp_path, Told({"s1": 0.0, "s2": 0.0, "s3": 1.0}, content="e" * 32, version="2"))
    with pytest.raises(NotComparableError, match=r"The samples differ \(2 and 3\), the versions are 1 and 2"):
        compare_runs(database, [before, after])
    found = one(compare_runs(database, [before, after], PairSelection(allow_different=True)))
    assert found.n == 2
    assert found.left_out.only_b_not_asked_in_a == 1
    assert "The samples differ (2 and 3), the versions are 1 and 2." in found.warnings


def test_runs_on_parts_of_one_benchmark_are_compared_on_what_they_share(database: Database, tmp_path: Path) -> None:
    before = record(database, tmp_path, Told({f"s{n}": 1.0 for n in range(6)}))
    after = record(database, tmp_path, Told({f"s{n}": 0.0 for n in range(4, 9)}, content="e" * 32))
    found = one(compare_runs(database, [before, after], flips=5))
    assert found.n == 2
    assert (found.left_out.only_a_not_asked_in_b, found.left_out.only_b_not_asked_in_a) == (4, 3)
    assert [flip.sample_id for flip in found.flips.lost.samples] == ["s4", "s5"]
    assert found.warnings == [
        "The two were not asked the same samples (6 by A, 5 by B): only those whose content is the same are compared."
    ]
    assert left_out_text(found) == "7 samples left out: 4 not run in B, 3 not run in A."


def test_a_sample_whose_content_changed_under_its_id_is_not_shared(database: Database, tmp_path: Path) -> None:
    marks = {f"s{n}": 1.0 for n in range(4)}
    before = record(database, tmp_path, Told(marks))
    after = record(database, tmp_path, Told(marks, content="e" * 32, rewritten=("s1",)))
    found = one(compare_runs(database, [before, after]))
    assert found.n == 3
    assert (found.left_out.only_a_not_asked_in_b, found.left_out.only_b_not_asked_in_a) == (1, 1)
    assert one(compare_runs(database, [before, after], PairSelection(allow_different=True))).n == 4


def test_after_a_rule_that_stops_early_the_difference_is_anytime_valid(database: Database, tmp_path: Path) -> None:
    rest = dict.fromkeys(names(90)[80:], NOT_ASKED)
    a = Told({name: float(n % 4 == 0) for n, name in enumerate(names(80))} | rest)
    b = Told({name: float(n % 4 != 1) for n, name in enumerate(names(80))} | rest, model="demo/b")
    plain = one(compare_runs(database, [record(database, tmp_path, a, b)]))
    run = record(database, tmp_path, a, b, until="decided")
    found = one(compare_runs(database, [run]))
    sequence = ConfidenceSequence.of_differences()
    for name in names(80):
        sequence.update(float(b.marks[name]) - float(a.marks[name]))  # type: ignore[arg-type]
    assert found.difference.ci95 == sequence.interval()
    assert found.difference.method == "confidence sequence"
    assert (found.test, found.p_value) == ("anytime-valid test", sequence.p_value(0.0))
    assert found.difference.value == plain.difference.value
    low, high = plain.difference.ci95
    assert found.difference.ci95[0] < low
    assert found.difference.ci95[1] > high
    [warning] = found.warnings
    start = f"A stop rule chose the number of samples by looking at the results, in run {run} ('decided'): "
    assert warning.startswith(start)
    assert "the intervals of A's and B's own scores assume a fixed number of samples and do not." in warning


def test_a_rule_that_left_nothing_out_has_not_decided_how_many_samples_there_are(
    database: Database, tmp_path: Path
) -> None:
    whole = Told({name: float(n % 4 == 0) for n, name in enumerate(names(80))})
    part = Told({**whole.marks, "s000": NOT_ASKED}, model="demo/b")
    other = Told(whole.marks, model="demo/b")
    found = one(compare_runs(database, [record(database, tmp_path, whole, other, until="decided")]))
    assert (found.test, found.warnings) == ("anytime-valid test", [])
    found = one(compare_runs(database, [record(database, tmp_path, whole, part, until="decided")]))
    assert len(found.warnings) == 1


def test_a_run_that_somebody_stopped_half_way_says_what_that_does_to_its_interval(
    database: Database, tmp_path: Path
) -> None:
    whole = Told({name: float(n % 4 == 0) for n, name in enumerate(names(80))})
    part = Told({**whole.marks, "s000": NOT_ASKED}, model="demo/b")
    run = record(database, tmp_path, whole, part)
    assert one(compare_runs(database, [run])).warnings == []

    def stop(reason: str) -> None:
        with database.connection() as connection:
            connection.execute("UPDATE runs SET status = 'cancelled', error = ? WHERE id = ?", [reason, run])

    stop("the cost limit of $2.00 is reached")
    assert one(compare_runs(database, [run])).warnings == [], "nobody looked at what it showed"
    stop(CANCELLED_REASON)
    [warning] = one(compare_runs(database, [run])).warnings
    assert warning.startswith(f"Somebody stopped run {run} before the end.")


def write_planned(database: Database, run: str, groups: Mapping[str, str]) -> None:
    """Write down how many samples of each group were to be asked, as a run with a rule does."""
    [digest] = {row.digest for row in evaluations_of(database, run)}
    RunStore(database).add_event(run, GROUP_SIZES, {digest: Counter(groups.values())})


@pytest.mark.parametrize("is_planned_written", [True, False])
def test_after_a_rule_that_stops_early_only_groups_that_were_asked_whole_count(
    database: Database, tmp_path: Path, is_planned_written: bool
) -> None:
    """Three questions of the last group, all in favour of one model, are not yet a value of their own."""
    groups = {name: f"g{n // 5}" for n, name in enumerate(names(60))}
    rest = dict.fromkeys(names(60)[53:], NOT_ASKED)
    a = Told({name: float(n % 2) for n, name in enumerate(names(53))} | rest, groups=groups)
    b = Told({name: float(n % 2 or n >= 20) for n, name in enumerate(names(53))} | rest, model="demo/b", groups=groups)
    run = record(database, tmp_path, a, b, until="decided")
    if is_planned_written:
        write_planned(database, run, groups)
    found = one(compare_runs(database, [run]))
    sequence = ConfidenceSequence.of_differences()
    for group in range(10 if is_planned_written else 0):
        sequence.update(sum(float(b.marks[name]) - float(a.marks[name]) for name in names(60)[5 * group :][:5]) / 5)  # type: ignore[arg-type]
    assert found.p_value == pytest.approx(sequence.p_value(0.0))
    assert found.difference.ci95 == pytest.approx(list(sequence.interval()))
    assert found.n == 53
    assert found.difference.value == pytest.approx(17 / 53)


def test_before_the_second_group_of_a_stopped_run_is_whole_its_samples_are_not_counted_one_by_one(
    database: Database, tmp_path: Path
) -> None:
    """More than nine tenths of what was asked so far is one group: that is no plan of one group."""
    groups = {name: f"g{n // 40}" for n, name in enumerate(names(400))}
    rest = dict.fromkeys(names(400)[42:], NOT_ASKED)
    sides = [
        Told(dict.fromkeys(names(42), mark) | rest, model=f"demo/{mark:g}", groups=groups) for mark in (0.0, 1.0)
    ]  # fmt: skip
    run = record(database, tmp_path, *sides, until="decided")
    write_planned(database, run, groups)
    found = one(compare_runs(database, [run]))
    sequence = ConfidenceSequence.of_differences()
    sequence.update(1.0)
    assert found.p_value == pytest.approx(sequence.p_value(0.0))
    assert found.better is None


def test_a_group_that_one_side_answered_in_part_weighs_as_many_pairs_as_there_are(
    database: Database, tmp_path: Path
) -> None:
    """A run without a rule that was interrupted: only what both answered is in either score and in the difference."""
    groups = {name: f"g{n // 4}" for n, name in enumerate(names(40))}
    whole = Told({name: float(n % 3 > 0) for n, name in enumerate(names(40))}, groups=groups)
    cut = Told({name: float(n % 4 > 0) if n < 30 else NOT_ASKED for n, name in enumerate(names(40))}, groups=groups)
    runs = [record(database, tmp_path, whole), record(database, tmp_path, cut, status=RunStatus.CANCELLED)]
    found = one(compare_runs(database, runs))
    right = [sum(float(one.marks[name]) for name in names(30)) for one in (whole, cut)]  # type: ignore[arg-type]
    assert (found.n, found.left_out.only_a_not_asked_in_b) == (30, 10)
    assert [side.score.value for side in (found.a, found.b)] == pytest.approx([count / 30 for count in right])
    assert found.difference.value == pytest.approx((right[1] - right[0]) / 30)
    differences = [(n % 4 > 0) - (n % 3 > 0) for n in range(30)]
    expected = clustered_stderr([float(one) for one in differences], [f"g{n // 4}" for n in range(30)])
    single = clustered_stderr([float(one) for one in differences], [str(n) for n in range(30)])
    assert found.difference.stderr == pytest.approx(max(expected, single))


def test_after_a_rule_that_stops_early_grouped_samples_are_one_value_a_group(
    database: Database, tmp_path: Path
) -> None:
    groups = {name: f"g{n // 2}" for n, name in enumerate(names(12))}
    told = [
        Told({name: float(n % 3 == rest) for n, name in enumerate(names(12))}, model=f"demo/{rest}", groups=groups)
        for rest in range(2)
    ]
    found = one(compare_runs(database, [record(database, tmp_path, *told, until="ci<0.5")]))
    sequence = ConfidenceSequence.of_differences()
    for group in range(6):
        marks = [(n % 3 == 1) - (n % 3 == 0) for n in (2 * group, 2 * group + 1)]
        sequence.update(sum(marks) / 2)
    assert (found.test, found.p_value) == ("anytime-valid test", sequence.p_value(0.0))
    assert found.difference.ci95 == pytest.approx(list(sequence.interval()))


def test_other_prompts_and_other_scorer_versions_are_refused_too(database: Database, tmp_path: Path) -> None:
    first = record(database, tmp_path, Told({"s1": 1.0}))
    prompts = record(database, tmp_path, Told({"s1": 1.0}, prompts="five-shot", shots=5))
    scorer = record(database, tmp_path, Told({"s1": 1.0}, scorers=(FixedScorer(version="2"),)))
    with pytest.raises(NotComparableError, match="The prompts differ, the shots are the default and 5"):
        compare_runs(database, [first, prompts])
    with pytest.raises(NotComparableError, match=r"fixed is version 1 in run .* and 2 in run"):
        compare_runs(database, [first, scorer])


def test_other_sampling_options_are_compared_and_told(database: Database, tmp_path: Path) -> None:
    first = record(database, tmp_path, Told({"s1": 1.0}))
    second = record(database, tmp_path, Told({"s1": 1.0}, options={"temperature": 1}))
    found = one(compare_runs(database, [first, second]))
    assert found.warnings == ["The sampling options differ: none against temperature=1."]


def test_several_comparisons_are_corrected_as_one_family(database: Database, tmp_path: Path) -> None:
    told = [
        Told({name: float(n % 4 >= rest) for n, name in enumerate(names(48))}, model=f"demo/{rest}")
        for rest in range(3)
    ]
    found = compare_runs(database, [record(database, tmp_path, *told)]).comparisons
    assert [(item.a.model, item.b.model) for item in found] == [
        ("demo/0", "demo/1"), ("demo/0", "demo/2"), ("demo/1", "demo/2"),
    ]  # fmt: skip
    ordered = sorted(item.p_value for item in found)
    highest, expected = 0.0, {}
    for place, p in enumerate(ordered):
        highest = max(highest, min(1.0, (3 - place) * p))
        expected[p] = highest
    for item in found:
        assert item.family == 3
        assert item.p_adjusted == pytest.approx(expected[item.p_value], rel=1e-12)
        assert "corrected for 3 comparisons" in item.verdict


def test_one_model_in_two_runs_is_named_by_its_runs(database: Database, tmp_path: Path) -> None:
    marks = dict.fromkeys(names(30), 1.0)
    before = record(database, tmp_path, Told(marks))
    after = record(database, tmp_path, Told({**marks, **dict.fromkeys(names(12), 0.0)}))
    found = one(compare_runs(database, [before, after]))
    assert found.better == f"demo/a ({before})"
    assert found.flips.lost.count == 12


def test_models_can_be_chosen_within_and_between_runs(database: Database, tmp_path: Path) -> None:
    first = record(database, tmp_path, *(Told({"s1": 1.0}, model=f"demo/{name}") for name in "abc"))
    second = record(database, tmp_path, *(Told({"s1": 0.0}, model=f"demo/{name}") for name in "bcd"))

    def chosen(runs: list[str], *models: str) -> list[tuple[str, str]]:
        items = compare_runs(database, runs, PairSelection(models=models)).comparisons
        return [(item.a.model, item.b.model) for item in items]

    assert chosen([first], "demo/c", "demo/a") == [("demo/c", "demo/a")]
    assert chosen([first, second]) == [("demo/b", "demo/b"), ("demo/c", "demo/c")]
    assert chosen([first, second], "demo/b") == [("demo/b", "demo/b")]
    assert chosen([first, second], "demo/a", "demo/d") == [("demo/a", "demo/d")]
    with pytest.raises(NotFoundError, match=r"has no model 'demo/x'; it has demo/a, demo/b, demo/c\."):
        chosen([first], "demo/x", "demo/a")
    document = compare_runs(database, [first, second])
    assert document.not_compared == [
        f"demo/a is not in run {second}, which has demo/b, demo/c, demo/d; name two models with --model."
    ]


def test_a_run_with_one_model_asks_for_a_second_run(database: Database, tmp_path: Path) -> None:
    run = record(database, tmp_path, Told({"s1": 1.0}))
    with pytest.raises(UserError, match="name a second run"):
        compare_runs(database, [run])
    with pytest.raises(NotFoundError, match=r"has no benchmark 'lisded'.*Did you mean 'listed'"):
        compare_runs(database, [run], PairSelection(benchmarks=("lisded",)))


def test_only_the_latest_attempt_at_a_trial_counts(database: Database, tmp_path: Path) -> None:
    told = Told({"s1": FAILED, "s2": 1.0})
    run = record(database, tmp_path, told, Told({"s1": 1.0, "s2": 1.0}, model="demo/b"))
    with database.connection() as connection:
        connection.execute(
            "INSERT INTO responses (id, evaluation_id, trial_id, attempt, sample_id, sample_digest, epoch, is_cached, "
            "retries, created_at, month) SELECT 900, evaluation_id, trial_id, 1, sample_id, sample_digest, epoch, "
            "false, 0, 1, month FROM responses WHERE error IS NOT NULL"
        )
        connection.execute(
            "INSERT INTO scores (response_id, scorer, version, value, is_invalid, answer, reason, month) "
            "VALUES (900, 'fixed', '1', 0.0, false, 'no', '', ?)",
            [this_month()],
        )
    found = one(compare_runs(database, [run]))
    assert found.n == 2
    assert found.left_out.only_b_failed_in_a == 0
    assert found.a.score.value == 0.5


def test_flipped_samples_are_shown_with_both_answers(database: Database, tmp_path: Path) -> None:
    a = Told({"s1": 1.0, "s2": 0.0, "s3": 1.0}, text="from a")
    b = Told({"s1": 0.0, "s2": 1.0, "s3": 1.0}, model="demo/b", text="from b")
    found = one(compare_runs(database, [record(database, tmp_path, a, b)], flips=5))
    [gained], [lost] = found.flips.gained.samples, found.flips.lost.samples
    assert (gained.sample_id, lost.sample_id) == ("s2", "s1")
    assert lost.a == FlippedAnswers((1.0,), ("yes",), ("from a",))
    assert lost.b == FlippedAnswers((0.0,), ("no",), ("from b",))
    text = page_markdown(comparison_page(compare_runs(database, [found.a.run_id], flips=1)))
    assert "| only A | s1 | – | question s1 | yes | yes | no |" in text


def test_graded_marks_are_tested_by_permutation_and_groups_are_respected(database: Database, tmp_path: Path) -> None:
    groups = {name: f"g{n // 4}" for n, name in enumerate(names(40))}
    a = Told({name: 0.3 + 0.01 * (n % 7) for n, name in enumerate(names(40))}, groups=groups)
    b = Told({name: 0.5 + 0.01 * (n % 5) for n, name in enumerate(names(40))}, model="demo/b", groups=groups)
    found = one(compare_runs(database, [record(database, tmp_path, a, b)]))
    assert found.test == "clustered exact permutation"
    assert found.difference.method == "clustered-t"
    assert set(found.effects) == {"cohens_d"}


MARK = st.sampled_from([0.0, 1.0, FAILED, INVALID, NOT_ASKED])


@pytest.mark.untraced
@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(MARK, MARK), min_size=1, max_size=30))
def test_every_sample_is_either_compared_or_left_out_with_a_reason(pairs: list[tuple[Any, Any]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        database = open_database(f"sqlite:///{folder}/p.db")
        try:
            a = {f"s{n}": mark for n, (mark, _) in enumerate(pairs)}
            b = {f"s{n}": mark for n, (_, mark) in enumerate(pairs)}
            run = record(database, Path(folder), Told(a), Told(b, model="demo/b"))
            found = one(compare_runs(database, [run]))
        finally:
            database.dispose()
    values = {0.0: 0.0, 1.0: 1.0, INVALID: 0.0}
    both = [(values[x], values[y]) for x, y in pairs if x in values and y in values]
    nowhere = sum(x in (FAILED, NOT_ASKED) and y in (FAILED, NOT_ASKED) for x, y in pairs)
    failed_in_both = sum(x == y == FAILED for x, y in pairs)
    assert found.n == len(both)
    assert sum(found.left_out.counts.values()) == len(pairs) - len(both) - nowhere + failed_in_both
    if both:
        assert found.difference.value == pytest.approx(sum(y - x for x, y in both) / len(both), abs=1e-12)
    else:
        assert found.difference.value is None
        assert found.verdict == "nothing to compare: no sample was answered by both"
