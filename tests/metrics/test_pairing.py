"""Pairing reads both sides once, in order, and keeps no more than the statistics need."""

from __future__ import annotations

import math
import random
import tracemalloc
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from proctor.metrics.compare import compare_marks
from proctor.metrics.pairing import LeftOut, Mark, pair
from proctor.metrics.permutation import MAX_SINGLE, sign_flip_test

VALUES = st.sampled_from([None, 0.0, 0.25, 0.5, 1.0])
SIDES = st.dictionaries(st.text(max_size=3), st.tuples(VALUES, st.sampled_from([None, "g", "h"])), max_size=25)


def marks(side: dict[str, tuple[float | None, str | None]]) -> list[Mark]:
    return [(name, *side[name], 1) for name in sorted(side)]


@given(SIDES, SIDES, st.integers(0, 4))
def test_a_merge_of_sorted_sides_says_what_two_dictionaries_say(
    a: dict[str, tuple[float | None, str | None]], b: dict[str, tuple[float | None, str | None]], keep: int
) -> None:
    pairs = pair(marks(a), marks(b), keep=keep)
    both = {
        name: (x, y) for name in sorted(a.keys() & b.keys())
        if (x := a[name][0]) is not None and (y := b[name][0]) is not None
    }  # fmt: skip
    gained = [name for name, (x, y) in both.items() if x < 0.5 <= y]
    lost = [name for name, (x, y) in both.items() if y < 0.5 <= x]
    assert (pairs.n, pairs.gained, pairs.lost) == (len(both), len(gained), len(lost))
    assert (pairs.gained_ids, pairs.lost_ids) == (gained[:keep], lost[:keep])
    scored_a, scored_b = ({name for name in side if side[name][0] is not None} for side in (a, b))
    failed_a, failed_b = a.keys() - scored_a, b.keys() - scored_b
    assert pairs.left_out == LeftOut(
        len(scored_a & failed_b),
        len(scored_a - b.keys()),
        len(scored_b & failed_a),
        len(scored_b - a.keys()),
        len(failed_a & failed_b),
    )
    differences = [y - x for x, y in both.values()]
    if differences:
        assert pairs.units.mean == pytest.approx(float(np.mean(differences)), abs=1e-12)
    if len(differences) > 1:
        assert pairs.spread == pytest.approx(float(np.std(differences, ddof=1)), abs=1e-12)


@given(st.lists(st.sampled_from([0.0, 0.3, 0.5, 1.0]), min_size=2, max_size=40), st.randoms())
def test_the_error_of_ungrouped_differences_is_the_usual_one(values: list[float], rng: random.Random) -> None:
    others = [rng.choice([0.0, 0.3, 0.5, 1.0]) for _ in values]
    sides = ([(f"{n:03}", value, None, 1) for n, value in enumerate(side)] for side in (values, others))
    units = pair(*sides).units
    differences = [y - x for x, y in zip(values, others, strict=True)]
    expected = float(stats.sem(differences))
    found = units.stderr(units.mean)
    assert (found or 0.0) == pytest.approx(expected if expected > 1e-12 else 0.0, abs=1e-12)


def test_sides_out_of_order_are_refused_by_name() -> None:
    one: list[Mark] = [("a", 1.0, None, 1), ("b", 1.0, None, 1)]
    with pytest.raises(ValueError, match="'a' comes after 'b': marks are paired in the order of their ids"):
        pair(one, one[::-1])
    with pytest.raises(ValueError, match="'b' appears twice"):
        pair([*one, one[-1]], one)


def _stream(count: int, seed: int, is_graded: bool) -> Iterator[Mark]:
    rng = random.Random(seed)
    for number in range(count):
        yield f"s{number:08}", rng.random() if is_graded else float(rng.random() < 0.5), None, 1


def _peak(count: int, is_graded: bool) -> int:
    tracemalloc.start()
    try:
        compare_marks(_stream(count, 1, is_graded), _stream(count, 2, is_graded), keep=10)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.untraced
def test_memory_does_not_grow_with_right_and_wrong_answers() -> None:
    _peak(100, False)  # what is imported or cached at first use is no memory of samples
    assert _peak(40_000, False) < _peak(4_000, False) + 20_000


@pytest.mark.untraced
def test_a_graded_difference_takes_the_room_of_one_number() -> None:
    _peak(8_000, True)
    small, large = _peak(8_000, True), _peak(48_000, True)
    assert large - small < 40_000 * 12


@pytest.mark.untraced
def test_many_differences_are_tested_in_bounded_memory_and_rightly() -> None:
    rng = random.Random(3)
    differences = [rng.gauss(0.004, 0.3) for _ in range(30_000)]
    tracemalloc.start()
    found = sign_flip_test(iter(differences))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 3_000_000  # a sorted copy of 30,000 numbers with their sizes would take as much alone
    # With so many differences the sum over random signs is normal to the third digit.
    z = sum(differences) / math.sqrt(sum(d * d for d in differences))
    assert found.p_value == pytest.approx(2 * stats.norm.sf(abs(z)), abs=4 * found.error + 0.002)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_order_of_many_differences_changes_nothing(seed: int) -> None:
    source = random.Random(5)
    differences = [source.choice([0.1, 0.25, 1.0, source.random()]) for _ in range(MAX_SINGLE + 50)]
    signed = [d if source.random() < 0.51 else -d for d in differences]
    shuffled = random.Random(seed).sample(signed, len(signed))
    assert sign_flip_test(shuffled, draws=200) == sign_flip_test(signed, draws=200)
