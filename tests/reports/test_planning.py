from __future__ import annotations

from pathlib import Path

import pytest

from metrics.reference import power_of_mcnemar
from proctor.domain.errors import UserError
from proctor.reports.power_text import power_sentence
from proctor.runs.comparing.compare import compare_runs
from proctor.runs.plans.power import MeasuredDiscordance, PowerQuestion, answer_power, discordance_of
from proctor.stores.database import Database
from reports.stored import Told, record


def test_so_many_samples_do_show_the_difference_that_often() -> None:
    answer = answer_power(PowerQuestion(0.05, discordance=0.2))
    assert power_of_mcnemar(answer.samples_needed, 0.05, 0.2) >= 0.8
    assert power_of_mcnemar(int(answer.samples_needed * 0.9), 0.05, 0.2) < 0.8


def test_what_a_number_of_samples_can_show_needs_that_number() -> None:
    found = answer_power(PowerQuestion(0.02, samples=500, discordance=0.2)).detectable_difference
    assert answer_power(PowerQuestion(found, discordance=0.2)).samples_needed <= 500
    assert answer_power(PowerQuestion(found * 0.98, discordance=0.2)).samples_needed > 500
    nothing = answer_power(PowerQuestion(0.02, samples=4, discordance=0.2))
    assert nothing.detectable_difference is None
    assert "4 samples cannot detect any difference with 80 % power" in power_sentence(nothing)


def test_the_sentence_says_what_it_rests_on() -> None:
    text = power_sentence(answer_power(PowerQuestion(0.02)))
    assert "worst case, accuracies 0.49 and 0.51, correlation 0" in text
    assert text.startswith("9,913 samples, answered by both models, detect a difference of 2 points with 80 % power")
    measured = MeasuredDiscordance(0.1, 400, ("a", "b"), "listed")
    assert "differ on 10.0 % of the samples (a and b on listed, n=400)" in power_sentence(
        answer_power(PowerQuestion(0.02), measured)
    )


def test_models_that_correlate_need_fewer_samples_and_unpaired_ones_more() -> None:
    alike = answer_power(PowerQuestion(0.02, accuracy=0.7, correlation=0.5)).samples_needed
    unlike = answer_power(PowerQuestion(0.02, accuracy=0.7)).samples_needed
    apart = answer_power(PowerQuestion(0.02, accuracy=0.7, unpaired=True)).samples_needed
    assert alike < unlike
    assert alike < apart


def test_a_difference_that_no_better_model_can_have_is_refused_with_the_largest_it_can() -> None:
    with pytest.raises(UserError, match=r"With --accuracy 0\.999, the difference can be at most 0\.001, not 0\.02\."):
        answer_power(PowerQuestion(0.02, accuracy=0.999))
    assert answer_power(PowerQuestion(0.001, accuracy=0.999)).samples_needed


def test_the_discordance_is_taken_from_a_comparison(database: Database, tmp_path: Path) -> None:
    first = Told({f"s{n}": float(n % 4 > 0) for n in range(40)})
    second = Told({f"s{n}": float(n % 5 > 0) for n in range(40)}, model="demo/b")
    measured = discordance_of(compare_runs(database, [record(database, tmp_path, first, second)]))
    assert measured == MeasuredDiscordance((8 - 2 + 10 - 2) / 40, 40, ("demo/a", "demo/b"), "listed")


def test_models_that_never_differ_and_graded_marks_are_refused(database: Database, tmp_path: Path) -> None:
    same = Told({"s1": 1.0, "s2": 0.0})
    run = record(database, tmp_path, same, Told(same.marks, model="demo/b"))
    with pytest.raises(UserError, match="differ on none of 2 samples"):
        discordance_of(compare_runs(database, [run]))
    graded = record(database, tmp_path, Told({"s1": 0.4, "s2": 0.7}), Told({"s1": 0.5, "s2": 0.1}, model="demo/b"))
    with pytest.raises(UserError, match="gives partial scores"):
        discordance_of(compare_runs(database, [graded]))
