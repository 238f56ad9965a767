"""Figures that servers report: a wrong one is unknown, and never ends a run or gives money back."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor.domain.response import Response, Usage
from proctor.models.figures import MAX_DOLLARS, MAX_TOKENS, dollars, sound, tokens

ANYTHING = (
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=9) | st.lists(st.none()) | st.decimals()
)


@pytest.mark.parametrize(
    ("value", "expected"),
    [(0, 0), (12, 12), (12.0, 12), (12.5, None), (-1, None), (True, None), ("12", None), (None, None), (10**10, None)],
)
def test_a_number_of_tokens_is_whole_and_not_negative(value: Any, expected: int | None) -> None:
    assert tokens(value) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (0, Decimal(0)),
        (0.25, Decimal("0.25")),
        ("0.000001", Decimal("0.000001")),
        (Decimal("1.5"), Decimal("1.5")),
        (-0.5, None),
        ("NaN", None),
        ("Infinity", None),
        ("1e12", None),
        ("free", None),
        (True, None),
        (None, None),
    ],
)
def test_a_cost_is_finite_and_not_negative(value: Any, expected: Decimal | None) -> None:
    assert dollars(value) == expected


@given(ANYTHING, ANYTHING, ANYTHING, ANYTHING)
def test_whatever_is_reported_a_response_can_be_reckoned_with(count: Any, cost: Any, name: Any, reason: Any) -> None:
    given = Response("text", usage=Usage(count, count, count), cost_usd=cost, model=name, reasoning=reason)
    found = sound(given)
    assert found.usage.input_tokens is None or 0 <= found.usage.input_tokens <= MAX_TOKENS
    assert found.cost_usd is None or 0 <= found.cost_usd <= MAX_DOLLARS
    assert isinstance(found.model, str | None)
    assert isinstance(found.reasoning, str | None)


def test_a_response_without_a_fault_is_left_as_it_is_and_one_without_a_text_is_none() -> None:
    good = Response("text", usage=Usage(1, 2), cost_usd=Decimal(1), model="m", request_id="r")
    assert sound(good) is good
    nothing: Any = None
    with pytest.raises(TypeError, match="a text was expected"):
        sound(Response(nothing))
