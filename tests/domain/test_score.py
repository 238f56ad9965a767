from __future__ import annotations

from typing import Any

import pytest

from proctor.domain.score import Score


@pytest.mark.parametrize("weight", [0, -1, 0.5, 2.0, float("nan"), True, "3", None])
def test_a_mark_weighs_a_whole_number_of_things_and_at_least_one(weight: Any) -> None:
    with pytest.raises(ValueError, match="a score's weight is a whole number from 1 on"):
        Score("mine", 0.5, details={"weight": weight})
    assert Score("mine", 0.5, details={"weight": 3}).details == {"weight": 3}


def test_only_what_the_answer_may_have_brought_about_is_unreadable() -> None:
    assert Score("judge", None, details={"verdict": "unreadable"}).is_unreadable
    assert Score.unreadable("logprob", "no log-probabilities").is_unreadable
    assert not Score("judge", None, details={"verdict": "5"}).is_unreadable
    assert not Score("mine", 1.0, details={"verdict": "unreadable"}).is_unreadable
    assert not Score.unscored("mine", "no target").is_unreadable
