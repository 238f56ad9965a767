from __future__ import annotations

import itertools

from hypothesis import given
from hypothesis import strategies as st

from proctor.domain.documents.evaluation import EvaluationSummary
from proctor.reports.frontier import Priced, frontier, frontier_section
from reports.parts import estimate, evaluation

costs = st.floats(0, 10, allow_nan=False)
scores = st.floats(0, 1, allow_nan=False)


def priced(name: str, score: float, cost: float) -> Priced:
    return Priced(name, "b", score, f"{score}", cost, None)


def test_a_model_that_is_dearer_and_worse_is_not_on_the_frontier() -> None:
    models = [priced("cheap", 0.6, 1), priced("bad", 0.5, 2), priced("good", 0.9, 5)]
    assert [item.model for item in frontier(models)] == ["cheap", "good"]


def test_of_two_equally_good_ones_the_cheaper_counts() -> None:
    models = [priced("dear", 0.6, 2), priced("cheap", 0.6, 1)]
    assert [item.model for item in frontier(models)] == ["cheap"]


@given(st.lists(st.tuples(scores, costs), min_size=1, max_size=12))
def test_along_the_frontier_more_money_always_buys_more(points: list[tuple[float, float]]) -> None:
    models = [priced(str(n), score, cost) for n, (score, cost) in enumerate(points)]
    found = frontier(models)
    assert found
    assert max(item.score for item in found) == max(item.score for item in models)
    assert min(item.cost_usd for item in found) == min(item.cost_usd for item in models)
    for a, b in itertools.pairwise(found):
        assert (a.cost_usd, a.score) == (b.cost_usd, b.score) or (a.cost_usd < b.cost_usd and a.score < b.score)


def scored(model: str, score: float | None, cost: float | None) -> EvaluationSummary:
    metrics = {"accuracy": estimate(score)}
    return evaluation(model=model, metrics=metrics, cost_usd=cost, answers_cost_usd=cost, cost_per_correct_usd=cost)


def test_the_section_names_who_is_on_the_frontier_and_draws_it() -> None:
    section = frontier_section([scored("a", 0.5, 1.0), scored("b", 0.4, 2.0), scored("c", 0.9, 3.0)])
    assert section is not None
    assert [(row[0], row[1]) for row in section.tables[0].rows] == [("a", "yes"), ("b", "no"), ("c", "yes")]
    assert "<svg" in section.charts[0].svg


def test_without_prices_or_scores_there_is_no_section() -> None:
    assert frontier_section([scored("a", 0.5, None), scored("b", 0.4, 1.0)]) is None
    assert frontier_section([scored("a", None, 1.0), scored("b", 0.4, 1.0)]) is None
