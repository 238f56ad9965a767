from __future__ import annotations

from proctor.reports.judge_notes import judge_notes
from reports.parts import estimate, evaluation, work


def test_nothing_is_said_where_every_verdict_could_be_read_and_was_decided() -> None:
    assert judge_notes([evaluation()]) == []
    assert judge_notes([evaluation(unreadable_verdicts=0, judges={"judge_rubric": {"j": work()}})]) == []


def test_unreadable_verdicts_stand_beside_the_score_with_what_it_would_be_at_worst() -> None:
    [note] = judge_notes([evaluation(unreadable_verdicts=1)])
    assert note == "m on b: 1 unreadable judge verdict, left out of the score."
    metrics = {"accuracy": estimate(1.0, 7, if_unreadable_wrong=0.7)}
    [note] = judge_notes([evaluation(unreadable_verdicts=3, metrics=metrics)])
    assert note.startswith("m on b: 3 unreadable judge verdicts, left out of the score.")
    assert note.endswith(" With them counted as wrong, accuracy would be 0.700.")


def test_the_worst_is_named_of_each_metric_that_the_judge_measured() -> None:
    """Also where another scorer stands first; what only several epochs have is left out."""
    judged = estimate(1.0, 7, if_unreadable_wrong=0.7)
    metrics = {"accuracy": estimate(1.0), "judge_rubric.mean": judged, "pass@2": judged}
    [note] = judge_notes([evaluation(unreadable_verdicts=3, metrics=metrics)])
    assert note.endswith(" With them counted as wrong, judge_rubric.mean would be 0.700.")


def test_a_judge_of_a_panel_that_could_not_be_read_is_named() -> None:
    panel = {"judge_rubric": {"j": work(), "k": work(verdicts=57, unreadable=3)}}
    [note] = judge_notes([evaluation(unreadable_verdicts=0, judges=panel)])
    assert note == "m on b: k: unreadable verdicts on 3 of 60 answers (judge_rubric)."


def test_judges_that_follow_the_order_are_told_from_those_that_prefer_a_position() -> None:
    one = {"judge_pairwise": {"j": work(undecided=60, preferred_first=59, preferred_second=1)}}
    [note] = judge_notes([evaluation(judges=one)])
    assert note.startswith(
        "m on b: 60 of 60 comparisons were undecided and count as ties: the judge preferred a position"
    )
    assert "(59 times the first answer, 1 time the second answer, in both orders) (judge_pairwise by j)." in note
    other = {"judge_pairwise": {"j": work(undecided=2)}}
    [note] = judge_notes([evaluation(judges=other)])
    assert note.endswith("what the judge said changed with the order of the answers (judge_pairwise by j).")
    mixed = {"judge_pairwise": {"j": work(undecided=10, preferred_first=1)}}
    [note] = judge_notes([evaluation(judges=mixed)])
    assert "changed with the order of the answers; in 1 of them the judge preferred a position (1 time the" in note
