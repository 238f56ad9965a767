"""What is said of a panel over a whole evaluation."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from judges.parts import FakeJudge, judged, says, scorer
from proctor.metrics.agreement import fleiss_kappa, krippendorff_alpha
from proctor.scorers.judging.summary import summarise_judges

MARKS = [(5, 5), (4, 5), (1, 1), (2, 1), (3, 3), (5, 4), (1, 1), (3, 2), (4, 4), (5, 5)]


def details(*marks: object, name: str = "judge_rubric") -> Any:
    judges = [FakeJudge(says(mark), label=f"judge {number}") for number, mark in enumerate(marks)]
    return judged(scorer(name, *judges), "It is Lyon.").details


def test_one_judge_has_nobody_to_agree_with() -> None:
    assert summarise_judges([details(5), details(4)]).agreement() is None


def test_two_judges_have_cohens_kappa() -> None:
    agreement = summarise_judges(details(*pair) for pair in MARKS).agreement()
    assert agreement is not None
    # By hand: the judges agree on 6 of 10; by chance they would on (2*3 + 1*1 + 2*1 + 2*2 + 3*3) of 100.
    assert agreement.cohen_kappa == pytest.approx((0.6 - 0.22) / (1 - 0.22), abs=1e-12)
    assert agreement.krippendorff_alpha == pytest.approx(krippendorff_alpha(MARKS, "ordinal"), abs=1e-12)
    assert agreement.unanimous == 0.6
    assert (agreement.n, agreement.complete, agreement.level) == (10, 10, "ordinal")


def test_three_judges_have_fleiss_kappa_and_missing_verdicts_are_left_to_alpha() -> None:
    marks = [("CORRECT", "CORRECT", "INCORRECT"), ("CORRECT",) * 3, ("INCORRECT",) * 3, ("INCORRECT", "?", "INCORRECT")]
    agreement = summarise_judges(details(*triple, name="judge_reference") for triple in marks).agreement()
    assert agreement is not None
    assert agreement.cohen_kappa is None
    assert agreement.fleiss_kappa == pytest.approx(fleiss_kappa(marks[:3]))
    with_gap = [tuple(None if word == "?" else word for word in triple) for triple in marks]
    assert agreement.krippendorff_alpha == pytest.approx(krippendorff_alpha(with_gap))
    assert (agreement.n, agreement.complete, agreement.level) == (4, 3, "nominal")


def test_agreement_is_undefined_where_everybody_always_says_the_same() -> None:
    agreement = summarise_judges([details(5, 5), details(5, 5)]).agreement()
    assert agreement is not None
    assert (agreement.unanimous, agreement.cohen_kappa, agreement.krippendorff_alpha) == (1.0, None, None)


def test_scores_for_which_no_judge_was_asked_are_left_out() -> None:
    assert summarise_judges([{}, {"cosine": 1}]).agreement() is None
    assert summarise_judges([{}]).totals == {}


def test_work_and_cost_are_summed_and_cached_replies_cost_nothing() -> None:
    seen = details(5, "?")
    for ruling in seen["judges"]:
        ruling["hearings"][0] |= {"usage": {"input_tokens": 10, "output_tokens": 2}, "cost_usd": "0.1"}
    again = details(4, 4)
    for ruling in again["judges"]:
        ruling["hearings"][0] |= {"cached": True, "cost_usd": "0.1"}
    summary = summarise_judges([seen, again])
    first, second = summary.totals.values()
    assert (first.verdicts, first.unreadable, second.verdicts, second.unreadable) == (2, 0, 1, 1)
    assert (first.requests, first.cached, first.input_tokens, first.cost_usd) == (1, 1, 10, Decimal("0.1"))


def test_an_unknown_cost_makes_the_sum_unknown() -> None:
    assert summarise_judges([details(5)]).work()["judge 0"].cost_usd is None


def test_judges_that_follow_the_order_are_counted() -> None:
    summary = summarise_judges(details(letter, name="judge_pairwise") for letter in ("A", "B", "TIE"))
    assert summary.work()["judge 0"].undecided == 2
