from __future__ import annotations

import pytest

from proctor.domain.errors import BenchmarkError, ScorerError
from proctor.scorers import regex
from scorers.scoring import score


def test_the_first_group_of_the_last_match_is_the_answer():
    scorer = regex.create(pattern=r"x = (\d+)")
    verdict = score(scorer, "x = 1, then x = 2.", "2")
    assert (verdict.value, verdict.answer) == (1, "2")
    assert score(regex.create(pattern=r"x = (\d+)", which="first"), "x = 1, x = 2", "2").value == 0


def test_a_named_group_and_a_pattern_without_groups():
    assert score(regex.create(pattern=r"(a)(?P<n>\d)", group="n"), "a7", "7").value == 1
    assert score(regex.create(pattern=r"\d+"), "it is 42", "42").value == 1


def test_without_a_pattern_the_target_is_one():
    assert score(regex.create(), "colour", "colou?r").value == 1
    assert score(regex.create(), "paint", "colou?r").value == 0
    assert score(regex.create(ignore_case=True), "COLOR", "colou?r").value == 1


def test_a_pattern_that_finds_nothing_makes_the_answer_invalid():
    assert score(regex.create(pattern=r"x = (\d+)"), "I do not know", "2").is_invalid


def test_expect_match_needs_no_target():
    scorer = regex.create(pattern=r"^\w+$", expect="match")
    assert score(scorer, "word", None).value == 1
    assert score(scorer, "two words", None).value == 0


@pytest.mark.parametrize(
    "options", [{"pattern": "("}, {"pattern": "a", "group": 1}, {"pattern": "a" * 3000}, {"group": 1}]
)
def test_a_bad_pattern_is_refused_when_the_scorer_is_made(options):
    with pytest.raises(BenchmarkError):
        regex.create(**options)


@pytest.mark.parametrize("pattern", [r"(a+)+$", r"(a|aa)+$"])
def test_catastrophic_backtracking_is_stopped_and_is_never_a_zero(pattern):
    with pytest.raises(ScorerError, match="took more than"):
        score(regex.create(pattern=pattern), "a" * 60_000 + "b", "x")


def test_a_target_that_is_no_pattern_is_a_fault_of_the_benchmark():
    with pytest.raises(ScorerError):
        score(regex.create(), "text", "(")
