from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from proctor.domain.documents.leaderboard import Leaderboard, LeftOutEvaluations
from proctor.domain.errors import NotFoundError
from proctor.domain.run import RunStatus
from proctor.reports.leaderboard_page import leaderboard_page
from proctor.reports.markdown import page_markdown
from proctor.runs.comparing.leaderboard import read_leaderboard
from proctor.runs.comparing.ranked_tables import Filters
from proctor.stores.database import Database
from reports.stored import FAILED, FixedScorer, Told, record


def share(right: int, of: int = 40) -> dict[str, float]:
    return {f"s{n:03}": float(n < right) for n in range(of)}


def rows(document: Leaderboard, table: int = 0) -> list[tuple[str, str, str]]:
    return [(row.rank, row.model, row.run_id) for row in document.tables[table].rows]


def test_models_of_many_runs_stand_in_one_table_with_their_runs(database: Database, tmp_path: Path) -> None:
    low = record(database, tmp_path, Told(share(10), model="demo/low"))
    high = record(database, tmp_path, Told(share(38), model="demo/high"))
    document = read_leaderboard(database)
    assert rows(document) == [("1", "demo/high", high), ("2", "demo/low", low)]
    assert document.tables[0].rows[0].estimate.value == 38 / 40
    assert (document.which, document.ranks) == ("latest", "paired")


def test_models_that_cannot_be_told_apart_share_their_ranks(database: Database, tmp_path: Path) -> None:
    for name, right in (("demo/a", 39), ("demo/b", 38), ("demo/c", 10)):
        record(database, tmp_path, Told(share(right), model=name))
    assert [(rank, model) for rank, model, _ in rows(read_leaderboard(database))] == [
        ("1–2", "demo/a"), ("1–2", "demo/b"), ("3", "demo/c"),
    ]  # fmt: skip


def test_paired_ranks_tell_apart_what_separate_intervals_cannot(database: Database, tmp_path: Path) -> None:
    record(database, tmp_path, Told(share(30), model="demo/a"))
    record(database, tmp_path, Told(share(20), model="demo/b"))
    assert [row[0] for row in rows(read_leaderboard(database, ranks="paired"))] == ["1", "2"]
    record(database, tmp_path, Told(share(22), model="demo/b"))
    assert [row[0] for row in rows(read_leaderboard(database, ranks="paired"))] == ["1", "2"]
    assert [row[0] for row in rows(read_leaderboard(database, ranks="separate"))] == ["1–2", "1–2"]


def test_models_of_a_run_that_could_stop_early_are_ranked_by_a_test_that_holds_then(
    database: Database, tmp_path: Path
) -> None:
    """Eight flips of forty samples are shown by a test for a fixed number of samples, and by no other."""
    sides = [Told(share(right), model=f"demo/{right}") for right in (30, 22)]
    record(database, tmp_path, *sides)
    assert [row[0] for row in rows(read_leaderboard(database))] == ["1", "2"]
    record(database, tmp_path, *sides, until="decided")
    assert [row[0] for row in rows(read_leaderboard(database))] == ["1–2", "1–2"]


@pytest.mark.parametrize(
    "other",
    [
        {"content": "e" * 32},
        {"version": "2", "content": "d" * 32},
        {"prompts": "five", "shots": 5},
        {"scorers": (FixedScorer(version="2"),)},
        {"benchmark": "another"},
    ],
)
def test_what_differs_stands_in_another_table(database: Database, tmp_path: Path, other: dict[str, Any]) -> None:
    record(database, tmp_path, Told(share(10), model="demo/a"))
    record(database, tmp_path, Told(share(30), model="demo/b", **other))
    document = read_leaderboard(database)
    assert [[row.model for row in table.rows] for table in document.tables] in (
        [["demo/a"], ["demo/b"]], [["demo/b"], ["demo/a"]],
    )  # fmt: skip


def test_marks_of_a_part_of_the_weights_say_so(database: Database, tmp_path: Path) -> None:
    scorers = (FixedScorer("program_mark"),)
    for name, covers in (("demo/a", 0.85), ("demo/b", 1.0)):
        marks = {"s1": 0.5, "s2": 0.7}
        record(database, tmp_path, Told(marks, name, scorers=scorers, covers=dict.fromkeys(marks, covers)))
    section = leaderboard_page(read_leaderboard(database)).sections[0]
    shown = {row[1]: row[2].partition(" [")[0] for row in section.tables[0].rows}
    assert shown == {"demo/a": "0.600 of 0.85", "demo/b": "0.600 of 1"}
    told = "'of 0.85': the measured parts have 0.85 of the weight on average; scores are not scaled up."
    assert told in section.notes


@pytest.mark.parametrize("mark", [0.3, 0.85])
def test_no_interval_of_marks_exceeds_what_can_be_reached(database: Database, tmp_path: Path, mark: float) -> None:
    """Nothing above 0.85 of the weights was measured, so no mean of such marks is above 0.85."""
    marks = {**{f"s{n}": 0.85 for n in range(6)}, "s0": mark}
    told = Told(marks, scorers=(FixedScorer("program_mark"),), covers=dict.fromkeys(marks, 0.85))
    record(database, tmp_path, told)
    [row] = read_leaderboard(database).tables[0].rows
    low, high = row.estimate.ci95
    assert low < row.estimate.value <= high == 0.85


def test_the_latest_run_counts_unless_the_best_is_asked_for(database: Database, tmp_path: Path) -> None:
    best = record(database, tmp_path, Told(share(30)))
    latest = record(database, tmp_path, Told(share(20)))
    assert rows(read_leaderboard(database)) == [("1", "demo/a", latest)]
    document = read_leaderboard(database, which="best")
    assert rows(document) == [("1", "demo/a", best)]
    assert document.tables[0].rows[0].chosen_from == 2
    assert f"{best} (best of 2)" in page_markdown(leaderboard_page(document))
    assert "best run, which favours" in leaderboard_page(document).subtitle


def test_a_model_with_other_options_is_another_row(database: Database, tmp_path: Path) -> None:
    record(database, tmp_path, Told(share(30), options={"temperature": 0}))
    record(database, tmp_path, Told(share(20), options={"temperature": 1}))
    models = [row.model for row in read_leaderboard(database).tables[0].rows]
    assert models == ["demo/a (temperature=0)", "demo/a (temperature=1)"]


def test_sampling_options_stand_beside_a_model_even_when_it_is_alone(database: Database, tmp_path: Path) -> None:
    record(database, tmp_path, Told(share(30), options={"temperature": 0.7}))
    [row] = read_leaderboard(database).tables[0].rows
    assert row.model == "demo/a (temperature=0.7)"


def test_runs_that_were_not_completed_are_left_out_and_counted(database: Database, tmp_path: Path) -> None:
    record(database, tmp_path, Told(share(10)))
    record(database, tmp_path, Told(share(40)), status=RunStatus.CANCELLED)
    document = read_leaderboard(database)
    assert document.tables[0].rows[0].estimate.value == 0.25
    assert document.left_out == LeftOutEvaluations(not_completed=1, without_metric=0)
    assert "1 evaluation of incomplete runs left out" in leaderboard_page(document).subtitle


def test_a_model_whose_every_trial_failed_has_no_rank(database: Database, tmp_path: Path) -> None:
    record(database, tmp_path, Told(share(10)))
    record(database, tmp_path, Told(dict.fromkeys(share(10), FAILED), model="demo/down"))
    assert [model for _, model, _ in rows(read_leaderboard(database))] == ["demo/a"]


def test_tags_benchmark_version_and_model_filter(database: Database, tmp_path: Path) -> None:
    record(database, tmp_path, Told(share(10), tags={"language": "en, ja", "task": "reasoning"}))
    record(database, tmp_path, Told(share(10), benchmark="other", version="7", model="demo/b", tags={"language": "ko"}))

    def found(**given: Any) -> list[str]:
        return [table.benchmark for table in read_leaderboard(database, Filters(**given)).tables]

    assert found() == ["listed", "other"]
    assert found(tags={"language": "ja"}) == ["listed"]
    assert found(tags={"language": "ko"}) == ["other"]
    assert found(versions=("7",)) == ["other"]
    assert found(models=("demo/a",)) == ["listed"]
    assert found(benchmarks=("other",)) == ["other"]
    with pytest.raises(NotFoundError, match=r"No benchmark 'othr' has been evaluated. Did you mean 'other'"):
        found(benchmarks=("othr",))
    with pytest.raises(NotFoundError, match=r"fits all of these filters \(language ko, task reasoning\)"):
        found(tags={"language": "ko", "task": "reasoning"})


def test_another_metric_can_be_ranked_by(database: Database, tmp_path: Path) -> None:
    two = (FixedScorer(), FixedScorer("second"))
    record(database, tmp_path, Told(share(10), scorers=two))
    document = read_leaderboard(database, metric="second.accuracy")
    assert document.tables[0].metric == "second.accuracy"
    with pytest.raises(NotFoundError, match=r"No metric 'third' here; there is accuracy, second\.accuracy"):
        read_leaderboard(database, metric="third")


def test_the_markdown_has_every_row(database: Database, tmp_path: Path) -> None:
    run = record(database, tmp_path, Told(share(30)))
    text = page_markdown(leaderboard_page(read_leaderboard(database)))
    assert "| 1 | demo/a | 0.750 \\[0.598, 0.858\\] n=40 | 0 | 250 ms | unknown |" in text
    assert f"| {run} |" in text


def test_an_empty_store_says_how_to_begin(database: Database) -> None:
    with pytest.raises(NotFoundError, match="no runs yet"):
        read_leaderboard(database)
