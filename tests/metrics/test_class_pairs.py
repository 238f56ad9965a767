"""Two systems compared on an average over classes."""

from __future__ import annotations

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor.domain.estimate import SampleScore
from proctor.metrics.class_pairs import PairedConfusion, compare_classes
from proctor.metrics.classification import MacroAverage, Measure
from proctor.metrics.compare import PairedComparison

MEASURES: tuple[Measure, ...] = ("precision", "recall", "f1")
ANSWER = st.sampled_from(["a", "b", "c", None])
ANSWERS = st.lists(ANSWER, min_size=1, max_size=2)
PAIRS = st.lists(
    st.tuples(st.sampled_from("abc"), ANSWERS, ANSWERS, st.sampled_from([None, "g", "h"])), min_size=1, max_size=40
)


def score(name: str, target: str, *answers: str | None, group: str | None = None) -> SampleScore:
    right = sum(answer == target for answer in answers) / len(answers)
    return SampleScore(name, right, group=group, target=target, answers=answers)


@given(PAIRS, st.sampled_from(MEASURES))
def test_what_the_samples_add_up_to_is_the_difference(
    pairs: list[tuple[str, list[str | None], list[str | None], str | None]], of: Measure
) -> None:
    sides = [
        [score(str(n), target, *answers, group=group) for n, (target, *both, group) in enumerate(pairs)
         for answers in both[place : place + 1]]
        for place in (0, 1)
    ]  # fmt: skip
    confusion = PairedConfusion(of)
    for a, b in zip(*sides, strict=True):
        confusion.add(a, b)
    values = [MacroAverage(of).measure(side).value or 0.0 for side in sides]
    assert math.fsum(confusion.shares()) == pytest.approx(values[1] - values[0], abs=1e-9)
    found, back = (
        compare_classes(of, *({one.sample_id: one for one in side} for side in order)) for order in (sides, sides[::-1])
    )
    assert (found.a.value, found.b.value) == pytest.approx(values)
    assert found.difference.value == pytest.approx(values[1] - values[0])
    assert back.p_value == pytest.approx(found.p_value)
    assert back.difference.value == pytest.approx(-(found.difference.value or 0.0), abs=1e-12)


def test_everything_right_is_better_than_everything_wrong() -> None:
    a = {str(n): score(str(n), "xy"[n % 2], "yx"[n % 2]) for n in range(40)}
    b = {str(n): score(str(n), "xy"[n % 2], "xy"[n % 2]) for n in range(40)}
    found = compare_classes("f1", a, b, names=("wrong", "right"), keep=2)
    assert (found.better, found.difference.value) == ("right", 1.0)
    assert (found.gained, found.gained_ids, found.lost) == (40, ("0", "1"), 0)
    assert compare_classes("f1", b, b).better is None


def test_samples_without_a_score_on_both_sides_are_left_out_and_counted() -> None:
    both = {"1": score("1", "x", "x"), "2": score("2", "y", "x")}
    found = compare_classes("recall", {**both, "3": None, "4": both["1"]}, {**both, "3": both["2"]})
    assert (found.n, found.left_out.only_b_failed_in_a, found.left_out.only_a_not_asked_in_b) == (2, 1, 1)
    assert compare_classes("recall", {"1": None}, {"1": None}).difference.value is None


def _draw(rng: random.Random, of: Measure, group_size: int) -> PairedComparison:
    """Two models that are equally good, with a rare class; within a group a model repeats what it did first."""
    sides: tuple[dict[str, SampleScore], dict[str, SampleScore]] = ({}, {})
    luck = [0.0, 0.0]
    for n in range(120):
        target = rng.choices("abc", (6, 3, 1))[0]
        for place, side in enumerate(sides):
            if n % group_size == 0:
                luck[place] = rng.random()
            answer = target if luck[place] < 0.75 else rng.choice("abc")
            side[str(n)] = score(str(n), target, answer, group=f"g{n // group_size}" if group_size > 1 else None)
    return compare_classes(of, *sides)


@pytest.mark.untraced
@pytest.mark.parametrize("of", MEASURES)
@pytest.mark.parametrize("group_size", [1, 6])
def test_two_equal_models_are_seldom_told_apart(of: Measure, group_size: int) -> None:
    rng = random.Random(11)
    shown = sum(_draw(rng, of, group_size).is_shown for _ in range(150))
    assert shown <= 15, "5 % would be 7.5, and 15 or fewer are seen in 99.6 % of such experiments"
