"""Plain values cross unchanged; anything else arrives as a handle or not at all."""

from __future__ import annotations

import math
from contextlib import suppress
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from enum import IntEnum
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor.programs.inside.values import ValueCodecError, decode, dumps, encode, loads

hashable = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.integers(min_value=10**3100, max_value=10**3101),
    st.floats(allow_nan=False),
    st.text(),
    st.binary(),
    st.complex_numbers(allow_nan=False),
    st.decimals(allow_nan=False),
    st.fractions(),
    st.datetimes(timezones=st.just(UTC)),
    st.datetimes(),
    st.dates(),
    st.times(),
    st.timedeltas(),
)
values = st.recursive(
    st.one_of(hashable, st.builds(range, st.integers(-9, 9), st.integers(-9, 9), st.just(2))),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.lists(inner, max_size=4).map(tuple),
        st.dictionaries(hashable, inner, max_size=3),
        st.sets(hashable, max_size=3),
        st.frozensets(hashable, max_size=3),
    ),
    max_leaves=12,
)


def refuse(*_: Any) -> Any:
    raise AssertionError("nothing here is a handle")


def through(value: Any) -> Any:
    return decode(loads(dumps(encode(value, refuse))), refuse)


@given(values)
def test_a_value_comes_back_equal_and_of_the_same_type(value: Any) -> None:
    back = through(value)
    assert back == value
    assert repr(back) == repr(value) or isinstance(value, set | frozenset | list | tuple | dict)
    assert type(back) is type(value)


def test_what_looks_alike_stays_apart() -> None:
    assert [type(item) for item in through([1, 1.0, True, "1", b"1", Decimal(1), Fraction(1)])] == [
        int,
        float,
        bool,
        str,
        bytes,
        Decimal,
        Fraction,
    ]
    assert math.isnan(through(float("nan")))
    assert math.copysign(1, through(-0.0)) == -1


class Sly(str):
    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = str.__hash__

    def __str__(self) -> str:
        return "another"


class Colour(IntEnum):
    RED = 1


def test_a_subclass_is_reduced_to_its_base() -> None:
    back = through([Sly("x"), Colour.RED])
    assert back == ["x", 1]
    assert [type(item) for item in back] == [str, int]


def test_a_date_is_no_datetime() -> None:
    moment = datetime(2020, 1, 2, tzinfo=UTC)
    back = through([date(2020, 1, 2), moment, time(1), timedelta(1)])
    assert back == [date(2020, 1, 2), moment, time(1), timedelta(1)]
    assert [type(item) for item in back] == [date, datetime, time, timedelta]


def test_other_objects_are_exported() -> None:
    thing = object()
    sent = encode([thing], lambda value: {"h": "mine" if value is thing else "?"})
    assert decode(sent, lambda tag, body: (tag, body)) == [("h", "mine")]


json_values: Any = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.text(max_size=5)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(st.sampled_from("ifdtFsbBcTDMumqRhX?"), inner, max_size=2),
    ),
)


@given(json_values)
def test_nonsense_is_refused_and_nothing_else_happens(data: Any) -> None:
    asked: list[str] = []
    with suppress(ValueCodecError):
        decode(data, lambda tag, body: asked.append(tag))
    assert {*asked} <= {*"hX?"}, "what has a tag of ours is read here"


def test_deep_nesting_is_refused_both_ways() -> None:
    deep: Any = []
    for _ in range(500):
        deep = [deep]
    with pytest.raises(ValueCodecError):
        encode(deep, refuse)
    with pytest.raises(ValueCodecError):
        decode(deep, refuse)
    with pytest.raises(ValueCodecError):
        loads(b"[" * 100_000)
