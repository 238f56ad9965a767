"""A rank and a verdict are about the metric that is shown, and say what could make them untrue."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec import UNSET

from proctor.domain.documents.comparison import Comparison, Comparisons
from proctor.domain.documents.leaderboard import Leaderboard
from proctor.domain.errors import NotFoundError, UserError
from proctor.reports.comparison_page import comparison_page, sentence
from proctor.reports.leaderboard_page import leaderboard_page
from proctor.reports.markdown import page_markdown
from proctor.reports.trust import trust_notes
from proctor.runs.comparing.compare import compare_runs
from proctor.runs.comparing.leaderboard import read_leaderboard
from proctor.runs.comparing.pairs import PairSelection
from proctor.runs.read import read_run
from proctor.stores.database import Database
from reports.stored import FAILED, UNREADABLE, FixedScorer, Told, record

COMMON, RARE = [f"a{n:03}" for n in range(240)], [f"b{n:03}" for n in range(60)]
TARGETS = {**dict.fromkeys(COMMON, "a"), **dict.fromkeys(RARE, "b")}


def classified(model: str, answers: dict[str, str]) -> Told:
    marks = {name: float(answers[name] == TARGETS[name]) for name in TARGETS}
    return Told(marks, model, metrics=("macro_f1", "accuracy"), targets=TARGETS, answers=answers)


def ranks(document: Leaderboard) -> dict[str, str]:
    [table] = document.tables
    return {row.model: row.rank for row in table.rows}


def one(compared: Comparisons) -> Comparison:
    [found] = compared
    return found


def values(database: Database, run: str, label: str = "accuracy") -> list[float]:
    return [item.metrics[label].value for item in read_run(database, run).evaluations]


@pytest.fixture
def two_classes(database: Database, tmp_path: Path) -> str:
    """One always answers the common class; the other finds the rare one, and is less often right."""
    lazy = dict.fromkeys(TARGETS, "a")
    careful = {**TARGETS, **dict.fromkeys(COMMON[:100], "b")}
    return record(database, tmp_path, classified("demo/lazy", lazy), classified("demo/careful", careful))


def test_ranks_by_an_average_over_classes_test_that_average(database: Database, two_classes: str) -> None:
    assert values(database, two_classes, "macro_f1") == pytest.approx([0.444, 0.641], abs=0.001)
    assert values(database, two_classes) == pytest.approx([0.8, 2 / 3])
    assert ranks(read_leaderboard(database, metric="accuracy")) == {"demo/lazy": "1", "demo/careful": "2"}
    assert ranks(read_leaderboard(database, metric="macro_f1")) == {"demo/careful": "1", "demo/lazy": "2"}
    assert ranks(read_leaderboard(database)) == {"demo/careful": "1", "demo/lazy": "2"}, "the first metric is macro_f1"


def test_two_runs_are_compared_on_the_metric_that_show_shows(database: Database, two_classes: str) -> None:
    found = one(compare_runs(database, [two_classes]))
    assert (found.metric, found.better) == ("macro_f1", "demo/careful")
    shown = values(database, two_classes, "macro_f1")
    assert [side.score.value for side in (found.a, found.b)] == pytest.approx(shown)
    assert found.difference.value == pytest.approx(shown[1] - shown[0])
    assert "(B) on listed, macro_f1: demo/careful is better by" in sentence(found)
    by_marks = one(compare_runs(database, [two_classes], PairSelection(metric="accuracy")))
    assert (by_marks.metric, by_marks.better) == ("accuracy", "demo/lazy")
    with pytest.raises(
        NotFoundError, match=r"has no metric 'macro_f2', but macro_f1, accuracy. Did you mean 'macro_f1'"
    ):
        compare_runs(database, [two_classes], PairSelection(metric="macro_f2"))
    with pytest.raises(UserError, match="leave out --scorer"):
        compare_runs(database, [two_classes], PairSelection(metric="accuracy", scorer="fixed"))


def test_ranks_by_a_threshold_test_who_reaches_it(database: Database, tmp_path: Path) -> None:
    names = [f"s{n:02}" for n in range(40)]
    metrics = ("mean", "accuracy?threshold=0.5")
    steady = Told(dict.fromkeys(names, 0.5), "demo/steady", metrics=metrics)
    split = Told({name: 1.0 if n < 24 else 0.4 for n, name in enumerate(names)}, "demo/split", metrics=metrics)
    run = record(database, tmp_path, steady, split)
    assert values(database, run) == [1.0, 0.6]
    assert ranks(read_leaderboard(database, metric="mean")) == {"demo/split": "1", "demo/steady": "2"}
    assert ranks(read_leaderboard(database, metric="accuracy")) == {"demo/steady": "1", "demo/split": "2"}


@pytest.mark.parametrize(
    ("metric", "better"), [("pass@1", "demo/sure"), ("pass@2", "demo/lucky"), ("pass^2", "demo/sure")]
)
def test_ranks_by_repeats_test_what_the_repeats_say(
    database: Database, tmp_path: Path, metric: str, better: str
) -> None:
    names = [f"s{n:02}" for n in range(60)]
    lucky = Told({name: [1.0, 0.0] for name in names}, "demo/lucky")
    sure = Told({name: [1.0, 1.0] if n < 44 else [0.0, 0.0] for n, name in enumerate(names)}, "demo/sure")
    record(database, tmp_path, lucky, sure)
    found = ranks(read_leaderboard(database, metric=metric))
    assert found[better] == "1"
    assert set(found.values()) == {"1", "2"}


def test_ranks_by_another_scorer_read_its_marks(database: Database, tmp_path: Path) -> None:
    two = (FixedScorer(), FixedScorer("second"))
    for name, right in (("demo/a", 38), ("demo/b", 10)):
        record(database, tmp_path, Told({f"s{n:02}": float(n < right) for n in range(40)}, name, scorers=two))
    assert ranks(read_leaderboard(database, metric="second.accuracy")) == {"demo/a": "1", "demo/b": "2"}


def test_weighted_marks_are_compared_as_they_are_shown(database: Database, tmp_path: Path) -> None:
    weights = {f"s{n:02}": 1 + n % 3 for n in range(60)}
    details = {name: {"weight": weight} for name, weight in weights.items()}
    a = {name: 0.0 if weight == 3 else 1.0 for name, weight in weights.items()}
    b = {name: 1.0 if weight > 1 else 0.0 for name, weight in weights.items()}
    run = record(database, tmp_path, Told(a, details=details), Told(b, "demo/b", details=details))
    shown = values(database, run)
    assert shown == pytest.approx([0.5, 5 / 6])
    found = one(compare_runs(database, [run]))
    assert [side.score.value for side in (found.a, found.b)] == pytest.approx(shown)
    assert found.difference.value == pytest.approx(1 / 3), "not the 0 of the plain marks"
    assert found.warnings == []
    assert found.difference.ci95[0] < 1 / 3 < found.difference.ci95[1]


def test_samples_that_weigh_differently_on_both_sides_are_said(database: Database, tmp_path: Path) -> None:
    names = [f"s{n:02}" for n in range(10)]
    sides = [
        Told(dict.fromkeys(names, 1.0), f"demo/{weight}", details={"s01": {"weight": weight}}) for weight in (2, 3)
    ]
    found = one(compare_runs(database, [record(database, tmp_path, *sides)]))
    assert found.warnings == [
        "The weights of 1 sample differ between A and B: this comparison uses the larger one for both."
    ]


def test_failures_of_one_model_only_stand_beside_its_rank_and_the_verdict(database: Database, tmp_path: Path) -> None:
    names = [f"s{n:02}" for n in range(40)]
    honest = Told({name: float(n < 20) for n, name in enumerate(names)}, "demo/honest")
    gone = Told({name: 1.0 if n < 20 else FAILED for n, name in enumerate(names)}, "demo/gone")
    run = record(database, tmp_path, honest, gone)
    evaluation = read_run(database, run).evaluations[1]
    assert evaluation.metrics["accuracy"].value == 1.0
    assert evaluation.metrics["accuracy"].unmeasured == 20
    assert evaluation.metrics["accuracy"].if_unmeasured_wrong == 0.5
    assert read_run(database, run).evaluations[0].metrics["accuracy"].unmeasured is None
    told = "20 of 40 trials (50.0 %) have no score and are left out; "
    told += "with all of them counted as wrong, it would be 0.500, not 1.000"
    document = read_leaderboard(database)
    row = document.tables[0].rows[0]
    assert (row.model, row.note) == ("demo/gone", f"demo/gone: {told}.")
    page = page_markdown(leaderboard_page(document))
    assert "| 1–2 † | demo/gone |" in page
    assert "| 0.500 | 20 (50.0 %) |" in page
    assert f"† demo/gone: {told}." in page
    found = one(compare_runs(database, [run]))
    assert found.notes == [f"demo/gone (B): {told}."]
    assert told in page_markdown(comparison_page(compare_runs(database, [run])))
    assert found.b.if_unmeasured_wrong == 0.5


def test_a_model_of_which_every_trial_failed_has_no_score_to_set_the_worst_against(
    database: Database, tmp_path: Path
) -> None:
    run = record(database, tmp_path, Told(dict.fromkeys((f"s{n}" for n in range(5)), FAILED), "demo/gone"))
    [note] = trust_notes(read_run(database, run).evaluations)
    assert note == "demo/gone on listed, accuracy: 5 of 5 trials (100.0 %) have no score and are left out."


def test_a_failure_or_two_are_not_made_much_of(database: Database, tmp_path: Path) -> None:
    names = [f"s{n:03}" for n in range(200)]
    whole = Told(dict.fromkeys(names, 1.0), "demo/whole")
    nearly = Told({name: FAILED if n < 2 else 1.0 for n, name in enumerate(names)}, "demo/nearly")
    record(database, tmp_path, whole, nearly)
    assert [row.note for row in read_leaderboard(database).tables[0].rows] == [None, None]


@pytest.mark.parametrize(
    ("metric", "epochs", "wrong"),
    [("accuracy", 1, 0.5), ("pass@2", 2, 0.5), ("pass^2", 2, 0.5), ("majority@2", 2, 0.5)],
)
def test_what_a_metric_would_be_with_failures_as_wrong_is_known_of_every_metric(
    database: Database, tmp_path: Path, metric: str, epochs: int, wrong: float
) -> None:
    marks = {f"s{n}": [1.0 if n < 5 else FAILED] * epochs for n in range(10)}
    [found] = read_run(database, record(database, tmp_path, Told(marks))).evaluations
    assert found.metrics[metric].value == 1.0
    assert found.metrics[metric].if_unmeasured_wrong == wrong
    consistency = found.metrics.get("consistency")
    assert consistency is None or consistency.if_unmeasured_wrong is UNSET


def test_an_average_over_classes_counts_a_failure_as_an_answer_of_no_class(database: Database, tmp_path: Path) -> None:
    told = classified("demo/a", TARGETS)
    marks = {name: FAILED if name in RARE else 1.0 for name in TARGETS}
    run = record(database, tmp_path, Told(marks, metrics=told.metrics, targets=TARGETS, answers=TARGETS))
    [found] = read_run(database, run).evaluations
    assert found.metrics["macro_f1"].value == 1.0
    assert found.metrics["macro_f1"].if_unmeasured_wrong == 0.5, "the rare class was never found"


def judged(model: str, right: int, unreadable: int, of: int = 60) -> Told:
    marks = {f"s{n:02}": 1.0 if n < right else UNREADABLE if n < right + unreadable else 0.0 for n in range(of)}
    return Told(marks, model)


def test_an_answer_gains_nothing_by_breaking_its_judge(database: Database, tmp_path: Path) -> None:
    honest = judged("demo/honest", 40, 0)
    breaker = judged("demo/breaker", 36, 24)
    run = record(database, tmp_path, honest, breaker)
    found = one(compare_runs(database, [run]))
    assert found.better is None
    assert found.difference.ci95[0] <= 0 <= found.difference.ci95[1]
    assert found.if_unreadable_wrong.difference.value == pytest.approx((36 - 40) / 60)
    assert found.verdict.startswith("no difference could be shown that also holds with")
    assert any("Unreadable marks: demo/honest (A) 0, demo/breaker (B) 24." in note for note in found.notes)
    for kind in ("paired", "separate"):
        assert set(ranks(read_leaderboard(database, ranks=kind)).values()) == {"1–2"}  # type: ignore[arg-type]


def test_a_difference_that_holds_with_unreadable_verdicts_as_wrong_is_shown(database: Database, tmp_path: Path) -> None:
    run = record(database, tmp_path, judged("demo/a", 10, 0), judged("demo/b", 50, 5))
    found = one(compare_runs(database, [run]))
    assert found.better == "demo/b"
    assert found.if_unreadable_wrong.p_value < 0.05
    assert ranks(read_leaderboard(database)) == {"demo/b": "1", "demo/a": "2"}


def test_as_many_unreadable_verdicts_on_both_sides_change_nothing(database: Database, tmp_path: Path) -> None:
    run = record(database, tmp_path, judged("demo/a", 10, 5), judged("demo/b", 40, 5))
    found = one(compare_runs(database, [run]))
    assert found.if_unreadable_wrong is None
    assert found.better == "demo/b"


def test_marks_that_could_be_forged_say_so_wherever_they_are_shown(database: Database, tmp_path: Path) -> None:
    names = [f"s{n:02}" for n in range(10)]
    sure = Told(dict.fromkeys(names, 1.0), "demo/sure", details={name: {"is_forgeable": False} for name in names})
    open_to = Told(dict.fromkeys(names, 1.0), "demo/open", details={"s03": {"is_forgeable": True}})
    run = record(database, tmp_path, sure, open_to)
    assert [item.is_forgeable for item in read_run(database, run).evaluations] == [False, True]
    page = page_markdown(leaderboard_page(read_leaderboard(database)))
    assert page.count("n=10, forgeable |") == 1
    assert "Forgeable: these scores rest on evidence that the answer itself could have forged" in page
    assert one(compare_runs(database, [run])).notes == [
        "demo/open (B): these scores rest on evidence that the answer itself could have forged."
    ]


def test_only_a_mean_of_marks_is_of_what_they_cover(database: Database, tmp_path: Path) -> None:
    names = [f"s{n}" for n in range(6)]
    scorers, covers = (FixedScorer("program_mark"),), dict.fromkeys(names, 0.8)
    sides = [
        Told(
            dict.fromkeys(names, 0.7), model, metrics=("mean", "accuracy?threshold=0.5"), scorers=scorers, covers=covers
        )
        for model in ("demo/a", "demo/b")
    ]
    run = record(database, tmp_path, *sides)
    assert one(compare_runs(database, [run])).a.score.covers == 0.8
    assert one(compare_runs(database, [run], PairSelection(metric="accuracy"))).a.score.covers is None
