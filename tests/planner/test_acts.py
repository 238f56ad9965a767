"""Every word of a plan changes what is run: which samples are drawn, or what is sent; the same seed draws the same."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from planner.world import world
from proctor.domain.evaluation import Evaluation
from proctor.planning.matrix import expand_matrix
from proctor.planning.plan_file import plan_from
from proctor.runs.plans.draft_plan import draft_plan
from proctor.runs.plans.planner_catalogue import planner_catalogue
from proctor.runs.resolve import PlanContext, resolve

START = "demo/strong on 60 puzzles, seed 3"


def evaluations(query: str) -> list[Evaluation]:
    plan = plan_from(draft_plan(query, world()).plan)
    context = PlanContext(Path.cwd(), os.environ)
    return resolve(expand_matrix(plan, Path.cwd()), context)


def told(found: list[Evaluation]) -> list[Any]:
    """Everything that decides what is asked: models, samples in their order, options, epochs."""
    return [
        (
            str(item.model_spec),
            item.benchmark.name,
            [sample.id for sample in item.samples],
            dict(item.options),
            item.epochs,
        )
        for item in found
    ]


SAID = {
    "temperature 0.7": lambda item: item.options["temperature"] == 0.7,
    "top_p 0.5": lambda item: item.options["top_p"] == 0.5,
    "at most 64 tokens": lambda item: item.options["max_tokens"] == 64,
    "3 epochs": lambda item: item.epochs == 3,
}


@given(st.sets(st.sampled_from(sorted(SAID)), min_size=1))
@settings(max_examples=12)
def test_each_option_that_is_said_reaches_the_requests_and_no_other_does(said: set[str]) -> None:
    (item,) = evaluations(f"{START}, {', '.join(sorted(said))}")
    for words, holds in SAID.items():
        is_set = holds(item) if words in said else False
        assert is_set is (words in said)
    assert len(item.options) == len(said - {"3 epochs"})


@given(st.integers(5, 90), st.integers(0, 50))
@settings(max_examples=10)
def test_sizes_and_seeds_choose_the_samples_and_the_same_seed_the_same(limit: int, seed: int) -> None:
    query = f"demo/strong on puzzles, {limit} questions, seed {seed}"
    first = told(evaluations(query))
    assert len(first[0][2]) == limit
    assert told(evaluations(query)) == first
    assert told(evaluations(query.replace(f"seed {seed}", f"seed {seed + 1}"))) != first
    smaller = told(evaluations(query.replace(f"{limit} questions", f"{limit - 1} questions")))
    assert set(smaller[0][2]) < set(first[0][2])


REGIONS = ("Africa", "Americas", "Asia", "Europe", "Oceania")


@given(st.sets(st.sampled_from(REGIONS), min_size=1, max_size=4), st.booleans(), st.integers(0, 20))
@settings(max_examples=12)
def test_a_filter_keeps_or_leaves_out_exactly_what_it_says(regions: set[str], is_left_out: bool, seed: int) -> None:
    words = " and ".join(sorted(regions))
    said = f"capitals without {words}" if is_left_out else f"capitals of {words}"
    query = f"{said}, demo/strong, all of it, seed {seed}"
    (item,) = evaluations(query)
    kept = set(REGIONS) - regions if is_left_out else regions
    assert {sample.category for sample in item.samples} == kept
    (whole,) = evaluations(f"capitals, demo/strong, all of it, seed {seed}")
    assert {one.id for one in item.samples} == {one.id for one in whole.samples if one.category in kept}
    assert told(evaluations(query)) == told([item])


OF_THE_PLAN: dict[str, dict[str, Any]] = {
    "no cache": {"cache": False},
    "batch mode": {"batch": True},
    "offline": {"offline": True},
    "within 7 minutes": {"limits.minutes": 7},
    "8 at once": {"limits.concurrency": 8},
    "judged by demo/average": {"judge": ["demo/average"]},
    "seed 9": {"seed": 9},
    "4 epochs": {"epochs": 4},
    "temperatures 0 and 1": {"matrix.temperature": [0, 1]},
}


def flat(plan: dict[str, Any]) -> dict[str, Any]:
    """The plan's fields, those of its parts by their path."""
    found: dict[str, Any] = {}
    for name, value in plan.items():
        found |= {f"{name}.{part}": one for part, one in value.items()} if isinstance(value, dict) else {name: value}
    return found


@given(st.sets(st.sampled_from(sorted(OF_THE_PLAN)), min_size=1))
@settings(max_examples=20)
def test_each_field_that_is_said_is_set_and_no_other_is(said: set[str]) -> None:
    start = "demo/strong and demo/weak on 30 puzzles"
    before, after = (
        flat(dict(draft_plan(query, world()).plan)) for query in (start, f"{start}, {', '.join(sorted(said))}")
    )
    changed = {name: value for name, value in after.items() if before.get(name) != value}
    assert changed == {name: value for words in said for name, value in OF_THE_PLAN[words].items()}
    assert set(before) <= set(after)


@pytest.mark.parametrize(
    "said",
    ["demo/weak", "and capitals, 10 questions each", "level 5", "temperatures 0 and 1"],
)
def test_a_further_model_benchmark_level_or_axis_changes_what_is_asked(said: str) -> None:
    start = "demo/strong on 10 puzzles" if "capitals" not in said else "demo/strong on sorting"
    assert told(evaluations(f"{start}, {said}")) != told(evaluations(start))


def test_what_is_kept_for_the_planner_is_the_catalogue_of_this_tree() -> None:
    from proctor.benchmarks.registry import list_benchmarks
    from proctor.runs.plans.planner_catalogue import describe_for_planner

    kept = {item.name: item for item in planner_catalogue({}).benchmarks}
    for info in list_benchmarks():
        item, fresh = kept.pop(info.name), describe_for_planner(info)
        # What is counted in the data stands in the kept file only.
        counted = {name: getattr(item, name) for name in ("samples", "categories", "languages", "max_tokens")}
        assert item == replace(fresh, **counted), "run scripts/refresh-planner"
    assert not kept
