"""Ratings from preferences: their order, their symmetry, and that their intervals hold what they promise."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor.metrics.preferences import MEAN_RATING, POINTS, Duel, rank_preferred

NAMES = st.sampled_from(["a", "b", "c", "d", "e"])
DUELS = st.builds(Duel, NAMES, NAMES, st.sampled_from([0.0, 0.5, 1.0])).filter(lambda duel: duel.first != duel.second)
VOTES = st.lists(st.lists(DUELS, min_size=1, max_size=3), min_size=1, max_size=30)


def swapped(votes: list[list[Duel]]) -> list[list[Duel]]:
    return [[Duel(duel.second, duel.first, 1 - duel.credit) for duel in vote] for vote in votes]


@given(VOTES)
def test_ratings_are_finite_lie_in_their_intervals_and_do_not_depend_on_who_is_named_first(
    votes: list[list[Duel]],
) -> None:
    found = rank_preferred(votes)
    assert sum(one.rating for one in found) == pytest.approx(MEAN_RATING * len(found))
    for one in found:
        assert one.low < one.rating < one.high < 1e5
        assert one.rank.best <= one.rank.place <= one.rank.worst
        assert one.wins + one.ties + one.losses >= one.votes > 0
    assert [one.rating for one in rank_preferred(swapped(votes))] == pytest.approx([one.rating for one in found])


@given(VOTES, st.lists(NAMES, min_size=2, max_size=2, unique=True))
def test_one_more_win_never_lowers_a_rating_against_the_loser(votes: list[list[Duel]], pair: list[str]) -> None:
    winner, loser = pair
    both = [Duel(winner, loser, 0.5)]

    def gap(more: list[list[Duel]]) -> float:
        ratings = {one.name: one.rating for one in rank_preferred([*votes, both, *more])}
        return ratings[winner] - ratings[loser]

    assert gap([[Duel(winner, loser, 1.0)]]) > gap([]) - 1e-6


def test_two_that_were_preferred_as_often_have_the_same_rating_and_share_a_rank() -> None:
    found = rank_preferred([[Duel("a", "b", 1.0)], [Duel("a", "b", 0.0)], [Duel("a", "b", 0.5)]])
    assert [one.rating for one in found] == pytest.approx([1000, 1000])
    assert {(one.wins, one.ties, one.losses, one.votes) for one in found} == {(1, 1, 1, 3)}
    assert {str(one.rank) for one in found} == {"1–2"}


def test_no_votes_rank_nobody() -> None:
    assert rank_preferred([]) == []


@pytest.mark.untraced
def test_nineteen_of_twenty_intervals_hold_the_true_rating() -> None:
    """Votes drawn from known strengths; each vote is a choice of the best of three, which makes two duels."""
    truth = {"a": 0.6, "b": 0.2, "c": -0.2, "d": -0.6}
    draw, covered, count = random.Random(5), 0, 120
    for _ in range(count):
        votes = []
        for _ in range(150):
            shown = draw.sample(sorted(truth), 2)
            first = draw.random() < 1 / (1 + 10 ** ((truth[shown[1]] - truth[shown[0]]) * POINTS / 400))
            votes.append([Duel(shown[0], shown[1], float(first))])
        for one in rank_preferred(votes):
            covered += one.low <= MEAN_RATING + POINTS * truth[one.name] <= one.high
    assert 0.93 <= covered / (count * len(truth)) <= 0.99


def test_a_clear_favourite_is_told_from_the_rest() -> None:
    votes = [[Duel("a", name, 1.0)] for name in "bc" * 20] + [[Duel("b", "c", float(n % 2))] for n in range(20)]
    best, *rest = rank_preferred(votes)
    assert (best.name, str(best.rank)) == ("a", "1")
    assert {str(one.rank) for one in rest} == {"2–3"}
    assert best.low > max(one.high for one in rest)
