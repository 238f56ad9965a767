"""A score that people's marks correct: it covers the truth whatever the scorer does."""

from __future__ import annotations

from random import Random
from statistics import fmean

import pytest

from proctor.metrics.agreement import cohen_kappa, kappa_interval
from proctor.metrics.intervals import estimate_rate
from proctor.metrics.prediction_powered import MIN_MARKED, prediction_powered_mean


def _drawn(random: Random, n: int, rest: int, truth: float, miss: float, invent: float) -> tuple[list, list]:  # type: ignore[type-arg]
    """Marked pairs and the scorer's other values; the scorer misses what is right and invents what is not."""

    def one() -> tuple[float, float]:
        is_right = random.random() < truth
        scorer = random.random() >= miss if is_right else random.random() < invent
        return float(scorer), float(is_right)

    return [one() for _ in range(n)], [one()[0] for _ in range(rest)]


@pytest.mark.untraced
@pytest.mark.parametrize("n", [MIN_MARKED, 100])
@pytest.mark.parametrize(
    ("truth", "miss", "invent"),
    [
        (0.6, 0.05, 0.05),
        (0.6, 0.0, 0.4),  # a judge that is far too kind
        (0.85, 0.02, 0.3),
        (0.5, 0.5, 0.5),  # one that says nothing
        (0.95, 0.01, 0.01),
        (0.6, 0.0, 0.0),  # one that is always right
        (0.98, 0.0, 0.0),  # nearly everything is right, or wrong: often no mark shows the rare case
        (0.02, 0.5, 0.01),
    ],
)
def test_the_interval_covers_the_truth_whatever_the_scorer_does(
    n: int, truth: float, miss: float, invent: float
) -> None:
    random = Random(n * 1000 + int(truth * 100) + int(invent * 10))
    repeats, covered = 1_000, 0
    for _ in range(repeats):
        found = prediction_powered_mean(*_drawn(random, n, 1_000, truth, miss, invent))
        assert found.low is not None
        assert found.high is not None
        covered += found.low <= truth <= found.high
    # Three standard errors below 95 %.
    assert covered / repeats >= 0.93


def test_a_kind_judge_is_corrected_where_the_plain_score_is_wrong_for_sure() -> None:
    random = Random(1)
    marked, rest = _drawn(random, 200, 3_000, 0.6, 0.0, 0.4)
    found = prediction_powered_mean(marked, rest)
    values = [scorer for scorer, _ in marked] + rest
    plain = estimate_rate(round(sum(values)), len(values))
    assert found.value is not None
    assert found.low is not None
    assert found.high is not None
    assert plain.low is not None
    assert plain.low > 0.7
    assert found.low < 0.6 < found.high < plain.low


def test_a_good_judge_makes_it_narrower_than_the_marks_alone_and_a_useless_one_no_wider() -> None:
    random = Random(2)
    for miss, bound in ((0.02, 0.75), (0.5, 1.1)):
        marked, rest = _drawn(random, 200, 5_000, 0.6, miss, miss)
        found = prediction_powered_mean(marked, rest)
        alone = estimate_rate(round(sum(person for _, person in marked)), len(marked))
        assert found.high is not None
        assert found.low is not None
        assert alone.high is not None
        assert alone.low is not None
        assert found.high - found.low < bound * (alone.high - alone.low)


def test_where_every_answer_was_marked_it_is_what_people_said() -> None:
    marked, _ = _drawn(Random(3), 80, 0, 0.7, 0.1, 0.1)
    found = prediction_powered_mean(marked, [])
    assert found.value == pytest.approx(fmean(person for _, person in marked))


def test_few_marks_give_no_estimate() -> None:
    marked, rest = _drawn(Random(4), MIN_MARKED - 1, 100, 0.7, 0.1, 0.1)
    found = prediction_powered_mean(marked, rest)
    assert (found.value, found.low, found.n) == (None, None, MIN_MARKED - 1)


@pytest.mark.untraced
@pytest.mark.parametrize("cells", [(0.5, 0.1, 0.05, 0.35), (0.8, 0.02, 0.06, 0.12)])
def test_kappas_interval_covers_the_true_kappa(cells: tuple[float, float, float, float]) -> None:
    both, first, second, _ = cells
    a, b = both + first, both + second
    expected = a * b + (1 - a) * (1 - b)
    truth = (1 - first - second - expected) / (1 - expected)
    random, repeats, covered = Random(7), 150, 0
    for _ in range(repeats):
        drawn = random.choices(range(4), cells, k=80)
        interval = kappa_interval(*(drawn.count(cell) for cell in range(4)))
        assert interval is not None
        covered += interval[0] <= truth <= interval[1]
    assert covered / repeats >= 0.9


def test_kappas_interval_holds_kappa_and_perfect_agreement_is_not_certainty() -> None:
    low, high = kappa_interval(20, 0, 0, 20) or (0, 0)
    assert 0.7 < low < 0.95
    assert high == 1
    people, judge = [True] * 30 + [False] * 10, [True] * 25 + [False] * 15
    kappa = cohen_kappa(people, judge)
    low, high = kappa_interval(25, 5, 0, 10) or (0, 0)
    assert kappa is not None
    assert low < kappa < high
    assert kappa_interval(12, 0, 0, 0) is None
    assert kappa_interval(0, 0, 0, 0) is None
