"""Ranks and their uncertainty."""

from __future__ import annotations

import random
from itertools import combinations
from math import comb

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor.domain.estimate import Estimate, SampleScore
from proctor.metrics.compare import compare
from proctor.metrics.intervals import estimate_rate
from proctor.metrics.ranking import Rank, rank_paired, rank_unpaired


def test_systems_far_apart_have_one_rank_each() -> None:
    ranks = rank_unpaired(
        {"c": estimate_rate(100, 1_000), "a": estimate_rate(900, 1_000), "b": estimate_rate(500, 1_000)}
    )
    assert [(rank.name, str(rank)) for rank in ranks] == [("a", "1"), ("b", "2"), ("c", "3")]


def test_systems_too_close_share_a_range() -> None:
    ranks = rank_unpaired({"a": estimate_rate(82, 100), "b": estimate_rate(80, 100), "c": estimate_rate(20, 100)})
    assert ranks == [Rank("a", 0.82, 1, 1, 2), Rank("b", 0.8, 2, 1, 2), Rank("c", 0.2, 3, 3, 3)]
    assert str(ranks[0]) == "1–2"


def test_several_systems_are_compared_as_one_family() -> None:
    # 0.80 against 0.69 has p = 0.02 on its own, but not among six pairs.
    two = {"a": estimate_rate(128, 160), "b": estimate_rate(110, 160)}
    assert [str(rank) for rank in rank_unpaired(two)] == ["1", "2"]
    four = {**two, "c": estimate_rate(119, 160), "d": estimate_rate(118, 160)}
    assert {str(rank) for rank in rank_unpaired(four)} == {"1–4"}


def test_equal_values_share_a_place() -> None:
    ranks = rank_unpaired({"b": estimate_rate(8, 10), "a": estimate_rate(8, 10), "c": estimate_rate(7, 10)})
    assert [(rank.name, rank.place) for rank in ranks] == [("a", 1), ("b", 1), ("c", 3)]


def test_what_was_not_measured_has_no_rank_and_no_spread_is_no_certainty() -> None:
    ranks = rank_unpaired({"a": estimate_rate(5, 5), "b": estimate_rate(4, 5), "x": Estimate(None, 0)})
    assert [(rank.name, str(rank)) for rank in ranks] == [("a", "1–2"), ("b", "1–2")]
    bare = rank_unpaired({"a": Estimate(0.9, 1), "b": estimate_rate(1, 1_000)})
    assert [str(rank) for rank in bare] == ["1–2", "1–2"]


def test_pairing_tells_systems_apart_that_separate_estimates_cannot() -> None:
    right = {"a": range(860), "b": range(830), "c": range(829)}
    scores = {name: [SampleScore(str(i), float(i in good)) for i in range(1_000)] for name, good in right.items()}
    comparisons = [compare(scores[x], scores[y], names=(x, y)) for x, y in combinations(scores, 2)]
    values = {name: len(good) / 1_000 for name, good in right.items()}
    assert [str(rank) for rank in rank_paired(values, comparisons)] == ["1", "2–3", "2–3"]
    assert [str(r) for r in rank_unpaired({n: estimate_rate(len(g), 1_000) for n, g in right.items()})] == ["1–3"] * 3
    assert [str(rank) for rank in rank_paired(values, [])] == ["1–3"] * 3


@given(st.dictionaries(st.sampled_from("abcdef"), st.integers(0, 50), min_size=1))
def test_every_place_lies_in_its_range(counts: dict[str, int]) -> None:
    ranks = rank_unpaired({name: estimate_rate(count, 50) for name, count in counts.items()})
    for rank in ranks:
        assert 1 <= rank.best <= rank.place <= rank.worst <= len(counts)
    assert [rank.value for rank in ranks] == sorted((rank.value for rank in ranks), reverse=True)


@pytest.mark.untraced
def test_true_ranks_lie_in_all_ranges_at_once_at_least_95_percent_of_the_time() -> None:
    rng = random.Random(4)
    truth = {"a": 0.8, "b": 0.74, "c": 0.73, "d": 0.5}
    places = {"a": 1, "b": 2, "c": 3, "d": 4}
    runs = 400
    good, narrow = 0, 0
    for _ in range(runs):
        found = rank_unpaired(
            {n: estimate_rate(sum(rng.random() < p for _ in range(300)), 300) for n, p in truth.items()}
        )
        good += all(rank.best <= places[rank.name] <= rank.worst for rank in found)
        narrow += sum(rank.worst - rank.best < 3 for rank in found)
    assert good / runs >= 0.95
    assert narrow / runs > 2, "ranges must say something"


def test_no_system_has_no_rank() -> None:
    assert rank_unpaired({}) == []
    assert rank_paired({}, []) == []


def test_a_single_system_is_first() -> None:
    assert rank_unpaired({"a": estimate_rate(1, 2)}) == [Rank("a", 0.5, 1, 1, 1)]
    assert rank_paired({"a": 0.5}, [])[0].best == 1


@pytest.mark.untraced
@pytest.mark.parametrize(("n", "share"), [(10, 0.5), (20, 0.9), (40, 0.7), (50, 0.95)])
def test_two_equal_systems_are_told_apart_in_one_of_twenty_experiments_at_most(n: int, share: float) -> None:
    chances = [comb(n, k) * share**k * (1 - share) ** (n - k) for k in range(n + 1)]
    wrong = sum(
        2 * chances[a] * chances[b]
        for a in range(n + 1)
        for b in range(a)
        if str(rank_unpaired({"a": estimate_rate(a, n), "b": estimate_rate(b, n)})[0]) == "1"
    )
    assert wrong <= 0.05


def test_shared_samples_that_say_the_opposite_of_the_values_tell_nothing_apart() -> None:
    scores = {
        name: [SampleScore(str(i), float(i < right)) for i in range(40)] for name, right in (("a", 10), ("b", 30))
    }
    comparison = compare(scores["a"], scores["b"], names=("a", "b"))
    assert comparison.better == "b"
    # Failures left a only easy samples: its own value is higher.
    assert [str(rank) for rank in rank_paired({"a": 0.95, "b": 0.75}, [comparison])] == ["1–2", "1–2"]
    assert [str(rank) for rank in rank_paired({"a": 0.25, "b": 0.75}, [comparison])] == ["1", "2"]
