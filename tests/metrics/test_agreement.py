"""Agreement of judges against published values and other packages."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor.metrics.agreement import Level, cohen_kappa, fleiss_kappa, krippendorff_alpha

# Krippendorff, "Computing Krippendorff's Alpha-Reliability" (2011), section C: four observers, twelve units.
OBSERVERS = [
    [1, 2, 3, 3, 2, 1, 4, 1, 2, None, None, None],
    [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, None, 3],
    [None, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, None],
    [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, None],
]


@pytest.mark.parametrize(("level", "published"), [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849)])
def test_krippendorffs_alpha_equals_the_published_example(level: Level, published: float) -> None:
    assert krippendorff_alpha(list(zip(*OBSERVERS, strict=True)), level) == pytest.approx(published, abs=5e-4)


@pytest.mark.parametrize("level", ["nominal", "ordinal", "interval"])
@pytest.mark.parametrize("seed", range(4))
def test_krippendorffs_alpha_equals_the_krippendorff_package(level: Level, seed: int) -> None:
    package = pytest.importorskip("krippendorff")
    rng = random.Random(seed)
    truth = [rng.randrange(1, 6) for _ in range(30)]
    units = [[t if rng.random() < 0.6 else rng.choice([1, 2, 3, 4, 5, None]) for _ in range(4)] for t in truth]
    data = [[float("nan") if r is None else float(r) for r in rater] for rater in zip(*units, strict=True)]
    expected = package.alpha(reliability_data=data, level_of_measurement=level)
    assert krippendorff_alpha(units, level) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("weights", [None, "linear", "quadratic"])
@pytest.mark.parametrize("seed", range(3))
def test_cohens_kappa_equals_scikit_learn(weights: str | None, seed: int) -> None:
    metrics = pytest.importorskip("sklearn.metrics")
    rng = random.Random(seed)
    a = [rng.randrange(1, 12) for _ in range(80)]
    b = [x if rng.random() < 0.5 else rng.randrange(1, 12) for x in a]
    assert cohen_kappa(a, b, weights=weights) == pytest.approx(  # type: ignore[arg-type]
        metrics.cohen_kappa_score(a, b, weights=weights), abs=1e-9
    )


def test_cohens_kappa_of_words_equals_the_definition() -> None:
    a = ["yes"] * 25 + ["no"] * 25
    b = ["yes"] * 20 + ["no"] * 5 + ["yes"] * 10 + ["no"] * 15
    # 0.7 observed, 0.5 by chance.
    assert cohen_kappa(a, b) == pytest.approx(0.4)
    assert cohen_kappa(a, b, weights="linear") == pytest.approx(0.4)


def test_fleiss_kappa_equals_the_published_example() -> None:
    # Fleiss (1971) in the worked example of ten items, fourteen judges and five categories.
    table = [
        [0, 0, 0, 0, 14], [0, 2, 6, 4, 2], [0, 0, 3, 5, 6], [0, 3, 9, 2, 0], [2, 2, 8, 1, 1],
        [7, 7, 0, 0, 0], [3, 2, 6, 3, 0], [2, 5, 3, 2, 2], [6, 5, 2, 1, 0], [0, 2, 2, 3, 7],
    ]  # fmt: skip
    ratings = [[label for label, count in enumerate(row) for _ in range(count)] for row in table]
    assert fleiss_kappa(ratings) == pytest.approx(0.210, abs=5e-4)
    inter_rater = pytest.importorskip("statsmodels.stats.inter_rater")
    assert fleiss_kappa(ratings) == pytest.approx(inter_rater.fleiss_kappa(table), abs=1e-9)


def test_undefined_agreement_is_not_a_number() -> None:
    assert cohen_kappa([], []) is None
    assert cohen_kappa(["a", "a"], ["a", "a"]) is None
    assert fleiss_kappa([]) is None
    assert fleiss_kappa([["a"], ["b"]]) is None
    assert fleiss_kappa([["a", "a"], ["a", "a"]]) is None
    assert krippendorff_alpha([["a", None], [None, "b"]]) is None
    assert krippendorff_alpha([["a", "a"]]) is None


def test_ratings_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ValueError, match="same items"):
        cohen_kappa([1], [1, 2])
    with pytest.raises(ValueError, match="needs 2 ratings"):
        fleiss_kappa([[1, 2], [1, 2, 3]])
    with pytest.raises(ValueError, match="numbers"):
        krippendorff_alpha([["a", "b"]], "interval")
    with pytest.raises(ValueError, match="nominal, ordinal, interval"):
        krippendorff_alpha([[1, 2]], "ratio")  # type: ignore[arg-type]


@given(st.lists(st.lists(st.integers(1, 4), min_size=3, max_size=3), min_size=2, max_size=20), st.randoms())
def test_neither_the_order_of_items_nor_of_judges_matters(units: list[list[int]], rng: random.Random) -> None:
    shuffled = [rng.sample(unit, 3) for unit in rng.sample(units, len(units))]
    assert fleiss_kappa(shuffled) == pytest.approx(fleiss_kappa(units), abs=1e-9)
    for level in ("nominal", "ordinal", "interval"):
        alpha = krippendorff_alpha(units, level)  # type: ignore[arg-type]
        assert krippendorff_alpha(shuffled, level) == pytest.approx(alpha, abs=1e-9)  # type: ignore[arg-type]
        assert alpha is None or alpha <= 1 + 1e-12
    a, b = [u[0] for u in units], [u[1] for u in units]
    assert cohen_kappa(a, b) == pytest.approx(cohen_kappa(b, a), abs=1e-9)


@given(st.lists(st.integers(1, 4), min_size=2, max_size=20).filter(lambda labels: len(set(labels)) > 1))
def test_full_agreement_is_one(labels: list[int]) -> None:
    assert cohen_kappa(labels, labels) == 1
    assert fleiss_kappa([[x, x, x] for x in labels]) == pytest.approx(1)
    assert krippendorff_alpha([[x, x, None] for x in labels], "ordinal") == 1
