"""What is read quickly is what a thorough reading gives."""

from __future__ import annotations

import sys
from decimal import Decimal
from subprocess import run
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor.benchmarks.schema import BenchmarkFile
from proctor.domain.fields import Frozen, InvalidValueError, UnusualValueError
from proctor.domain.form_check import read_thoroughly
from proctor.domain.plan import Plan

VALUES = st.recursive(
    st.sampled_from(
        [
            None, True, False, 0, 1, -1, 0.0, 0.5, 2.5, float("nan"), float("inf"), 2**70, "", "x", "5", "true", "é",
            "\ud800", "a\n", "demo/strong", "demo/weak?temperature=0.3", "puzzles?limit=3", "sk-abcdefghijklmnopq",
            Decimal("1.5"), Decimal("NaN"), Decimal("Infinity"), b"x", ("a",),
        ]
    ),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(
        st.sampled_from(
            [
                "model", "benchmark", "temperature", "max_tokens", "stop", "extra", "cost_usd", "concurrency", "matrix",
                "shots", "prompt", "name", "user", "source", "fields", "target", "choices", "keys", "field", "kind",
                "schema", "exact", "mean", "language", "where", "limit",
            ]
        ),
        inner,
        max_size=3,
    ),
    max_leaves=6,
)  # fmt: skip
PLAN = {"models": ["demo/strong"], "benchmarks": ["puzzles"]}
BENCHMARK = {"name": "n", "dataset": {"source": "s.jsonl"}, "scorers": ["exact"]}


def thorough(kind: type[Frozen], value: object) -> Frozen | None:
    try:
        return read_thoroughly(kind, value)
    except InvalidValueError:
        return None


@pytest.mark.parametrize(("kind", "usual"), [(Plan, PLAN), (BenchmarkFile, BENCHMARK)])
@given(data=st.data())
def test_what_is_read_quickly_is_read_thoroughly_as_the_same(
    kind: type[Frozen], usual: dict[str, Any], data: st.DataObject
) -> None:
    fields = [one.encode_name for one in msgspec.structs.fields(kind)]
    value = {**usual, data.draw(st.sampled_from(fields)): data.draw(VALUES)}
    try:
        quick = kind.read_plain(value)
    except (UnusualValueError, ValueError, TypeError):
        return
    assert repr(quick) == repr(thorough(kind, value))


@pytest.mark.parametrize(
    "value",
    [
        PLAN,
        {
            "name": "all",
            "tags": ["a"],
            "models": [{"model": "demo/strong", "temperature": 0, "stop": "END", "base_url": "http://x"}],
            "benchmarks": [{"benchmark": "puzzles", "limit": 3, "where": {"category": ["a"], "level": 2}}],
            "sampling": {"max_tokens": 5, "extra": {"a": [1]}},
            "judge": "demo/strong",
            "limits": {"cost_usd": Decimal("0.5"), "minutes": 2},
        },
    ],
)
def test_plans_as_people_write_them_are_read_quickly(value: dict[str, Any]) -> None:
    assert repr(Plan.read_plain(value)) == repr(thorough(Plan, value))


def test_a_run_of_a_usual_plan_does_without_pydantic() -> None:
    code = (
        "import sys; from proctor.planning.plan_file import plan_from; "
        "from proctor.runs.resolve import PlanContext, resolve; "
        "from pathlib import Path; "
        "resolve(plan_from({'models': ['demo/strong'], 'benchmarks': ['capitals']}), PlanContext(Path(), {})); "
        "print('pydantic' in sys.modules)"
    )
    assert run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "False\n"
