"""Amounts as people read them: nothing that was paid looks free."""

from __future__ import annotations

import re
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from proctor.reports.figures import bytes_text, cost_text, coverage_notes, estimate_text, small_cost_text
from reports.parts import estimate, evaluation


@pytest.mark.parametrize(
    ("usd", "shown", "small"),
    [
        (None, "unknown", "unknown"),
        (0, "$0.0000", "$0"),
        (Decimal("0.000062"), "$0.000062", "$0.000062"),
        (6.249e-5, "$0.000062", "$0.000062"),
        (9.99e-5, "$0.00010", "$0.00010"),
        (1.2e-9, "$0.0000000012", "$0.0000000012"),
        (0.0001, "$0.0001", "$0.0001"),
        (0.00012345, "$0.0001", "$0.000123"),
        (0.12345, "$0.1235", "$0.123"),
        (12345.678, "$12345.6780", "$12345.68"),
    ],
)
def test_an_amount_is_shown_in_plain_notation(usd: float | None, shown: str, small: str) -> None:
    assert cost_text(usd) == shown
    assert small_cost_text(usd) == small


@given(st.floats(1e-12, 1e6))
def test_no_amount_above_nothing_looks_free_or_has_an_exponent(usd: float) -> None:
    for text in (cost_text(usd, "computed"), small_cost_text(usd, "computed")):
        assert re.fullmatch(r"≈\$\d+(\.\d+)?", text)
        assert float(text.removeprefix("≈$")) == pytest.approx(usd, rel=0.5)


def test_a_mark_says_what_it_is_of() -> None:
    mark = estimate(0.85, 4, ci95=(0.8, 0.9))
    assert estimate_text(mark) == "0.850 [0.800, 0.900] n=4"
    assert estimate_text(replace(mark, covers=0.966667)) == "0.850 of 0.9667 [0.800, 0.900] n=4"
    assert estimate_text(replace(mark, covers=1.0)) == "0.850 of 1 [0.800, 0.900] n=4"
    assert coverage_notes([evaluation(metrics={"a": mark, "b": replace(mark, covers=1.0)})]) == []
    (note,) = coverage_notes([evaluation(metrics={"a": replace(mark, covers=1.0), "b": replace(mark, covers=0.6)})])
    assert note.startswith("'of 0.6': the measured parts have 0.6 of the weight on average")


@pytest.mark.parametrize(
    ("size", "shown"),
    [
        (0, "0 B"),
        (1023, "1023 B"),
        (1024, "1 KiB"),
        (1536, "1.5 KiB"),
        (2**20 - 1, "1,024 KiB"),
        (805306368, "768 MiB"),
        (2**41, "2,048 GiB"),
    ],
)
def test_a_size_has_a_unit_that_people_read(size: int, shown: str) -> None:
    assert bytes_text(size) == shown
