"""Plans that vary something: every combination, in order, and nothing else changes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from proctor.domain.errors import PlanError
from proctor.domain.plan import Plan
from proctor.planning.matrix import MAX_EVALUATIONS, expand_matrix, with_axes
from proctor.planning.plan_file import plan_from


def plan(**values: Any) -> Plan:
    return plan_from({"models": ["demo/strong"], "benchmarks": ["sums"], **values})


def expanded(**values: Any) -> Plan:
    return expand_matrix(plan(**values), Path())


def test_a_plan_that_varies_nothing_is_the_same_plan_and_is_written_as_before() -> None:
    one = plan()
    assert expand_matrix(one, Path()) is one
    assert "matrix" not in one.model_dump_json()


def test_every_combination_is_listed_in_the_order_of_the_values() -> None:
    found = expanded(matrix={"shots": [5, 0], "variant": ["direct", "cot"], "temperature": [1, 0]})
    assert [spec.sampling.temperature for spec in found.models] == [1, 0]
    assert [(spec.parameters["variant"], spec.shots) for spec in found.benchmarks] == [
        ("direct", 5), ("direct", 0), ("cot", 5), ("cot", 0),
    ]  # fmt: skip
    assert found.matrix is None
    assert expand_matrix(found, Path()) is found


@pytest.mark.parametrize("is_expanded", [False, True])
def test_a_plan_with_a_matrix_round_trips(is_expanded: bool) -> None:
    one = plan(matrix={"shots": [0, 5], "prompt": [{"name": "a", "user": "{{ input }}"}], "temperature": [0, 0.5]})
    one = expand_matrix(one, Path()) if is_expanded else one
    assert Plan.model_validate_json(one.model_dump_json()) == one


def test_what_an_entry_says_of_itself_wins_over_the_plans_matrix() -> None:
    found = expanded(
        models=["demo/strong?temperature=0.5", {"model": "demo/weak", "label": "small"}],
        benchmarks=[{"benchmark": "sums", "shots": 3}, {"benchmark": "more", "matrix": {"shots": [1]}}],
        matrix={"shots": [0, 5], "temperature": [0, 1]},
    )
    assert [found.label(spec) for spec in found.models] == ["demo/strong", "small?temperature=0", "small?temperature=1"]
    assert [spec.shots for spec in found.benchmarks] == [3, 1]


def test_a_flag_wins_over_all_that_a_plan_says() -> None:
    one = plan(
        models=["demo/strong?temperature=0.5", "demo/weak"],
        benchmarks=[{"benchmark": "sums", "shots": 3}, {"benchmark": "more", "matrix": {"shots": [1]}}],
        sampling={"temperature": 1},
    )
    found = expand_matrix(with_axes(one, {"shots": [0, 5], "temperature": [0]}), Path())
    assert [spec.shots for spec in found.benchmarks] == [0, 5, 0, 5]
    assert [spec.sampling.temperature for spec in found.models] == [0, 0]
    assert found.sampling.temperature is None


def test_a_prompt_file_is_read_where_the_plan_is_and_named_after_itself(tmp_path: Path) -> None:
    (tmp_path / "terse.yaml").write_text("user: '{{ input }} Number only.'\n", encoding="utf-8")
    found = expand_matrix(plan(matrix={"prompt": ["terse.yaml"]}), tmp_path)
    assert found.benchmarks[0].parameters["prompt"] == {"name": "terse", "user": "{{ input }} Number only."}


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"matrix": {"shot": [0]}}, "matrix.shot: there is no field 'shot'. Did you mean 'shots'?"),
        ({"matrix": {"shots": [0, -1]}}, "matrix.shots[1]: -1 cannot be used: it must be at least 0."),
        ({"matrix": {"shots": []}}, "matrix.shots: the list is empty"),
        ({"matrix": {"shots": [5, 5]}}, "matrix.shots: 5 is listed twice"),
        ({"matrix": {"temperature": [0, "a"]}}, "matrix.temperature[1]: 'a' is not a number"),
        ({"matrix": {"temperature": [0]}, "sampling": {"temperature": 1}}, "'temperature' is set to 1 and also varied"),
        ({"benchmarks": [{"benchmark": "x", "matrix": {"temperature": [0]}}]}, "benchmarks[0].matrix.temperature"),
        ({"benchmarks": [{"benchmark": "x", "shots": 1, "matrix": {"shots": [0]}}]}, "'shots' is set to 1 and also"),
        ({"models": [{"model": "demo/strong", "matrix": {"shots": [0]}}]}, "models[0].matrix.shots: there is no field"),
        ({"matrix": {"prompt": [{"name": "a"}]}}, "the prompt 'a' says nothing"),
        ({"matrix": {"prompt": ["none.yaml"]}}, "There is no file none.yaml"),
        ({"matrix": {"shots": list(range(MAX_EVALUATIONS + 1))}}, "make 1,001 evaluations; at most 1,000"),
    ],
)
def test_a_mistake_names_its_field(values: dict[str, Any], words: str) -> None:
    with pytest.raises(PlanError) as caught:
        expanded(**values)
    assert words in str(caught.value)
