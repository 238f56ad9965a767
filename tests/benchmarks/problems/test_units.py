"""Quantities with units."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor.benchmarks.problems.units import GOLD, KINDS, convert, parse_quantity, seconds, whole_bytes

UNITS = [GOLD, *(unit for kind in KINDS.values() for unit in kind)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("200 ms", (200.0, "ms")),
        ("0.5 gold", (0.5, "gold")),
        ("128 MiB", (128.0, "MiB")),
        ("1 %", (1.0, "%")),
        ("1%", (1.0, "%")),
        ("100 requests/s", (100.0, "requests/s")),
    ],
)
def test_quantities_are_read_as_people_write_them(text: str, expected: tuple[float, str]) -> None:
    assert parse_quantity(text) == expected


@pytest.mark.parametrize("text", ["", "ms", "200", "-1 ms", "1e3 ms", "1 ms 2 s", "nan ms", "1,5 s", "inf s", "٣ ms x"])
def test_what_is_no_quantity_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is not a number with a unit"):
        parse_quantity(text)


def test_a_misspelt_unit_gets_a_suggestion() -> None:
    with pytest.raises(ValueError, match=r"there is no unit 'request/s'\. Did you mean 'requests/s'"):
        parse_quantity("5 request/s")


def test_a_time_is_no_size() -> None:
    with pytest.raises(ValueError, match="'2 s' is not a size: write it in B, kB"):
        whole_bytes("2 s")


def test_units_convert_exactly() -> None:
    assert convert("0.2 s", "time", "ms") == 200.0
    assert convert("3 ms", "time", "s") == 0.003
    assert seconds("2 min") == 120.0
    assert whole_bytes("128 MiB") == 134_217_728
    assert whole_bytes("1.5 kB") == 1500


@given(st.decimals(0, 10**9, places=3), st.sampled_from(UNITS), st.sampled_from(["", " ", "  "]))
def test_every_quantity_of_known_units_is_read_back(number: object, unit: str, gap: str) -> None:
    assert parse_quantity(f"{number}{gap}{unit}") == (float(str(number)), unit)


@given(st.text(max_size=30))
def test_any_other_text_is_a_value_error_and_never_another(text: str) -> None:
    try:
        value, unit = parse_quantity(text)
    except ValueError:
        return
    assert math.isfinite(value)
    assert value >= 0
    assert unit in UNITS
