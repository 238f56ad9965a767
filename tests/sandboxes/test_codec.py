"""What crosses between judge and judged: everything that should, as it was; nothing that should not."""

from __future__ import annotations

import json
import math
from array import array
from collections import Counter, OrderedDict, defaultdict, deque, namedtuple
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proctor.sandboxes.inside.codec import CodecError, Decoder, Encoder, dumps, loads
from proctor.sandboxes.inside.packing import packed, unpacked


def no_handles(value: Any) -> Any:
    raise CodecError(f"a handle for {value!r}")


def crossed(value: Any) -> Any:
    return Decoder(no_handles).decode(loads(dumps(Encoder(no_handles).encode(value))))


SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text()
    | st.binary()
    | st.complex_numbers(allow_nan=False)
    | st.decimals(allow_nan=False)
    | st.fractions()
    | st.dates()
    | st.datetimes()
    | st.timedeltas()
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner)
        | st.tuples(inner, inner)
        | st.dictionaries(st.text() | st.integers() | st.tuples(st.integers(), st.text()), inner)
        | st.sets(st.integers() | st.text())
        | st.frozensets(st.integers())
    ),
    max_leaves=20,
)


@settings(deadline=None)
@given(VALUES)
def test_plain_values_arrive_as_they_were(value: Any) -> None:
    assert same(crossed(value), value)


def same(left: Any, right: Any) -> bool:
    """Equal, and of the same types all the way down: 1, 1.0 and True are three things here."""
    if type(left) is not type(right) or left != right:
        return False
    if isinstance(left, list | tuple):
        return all(map(same, left, right))
    if isinstance(left, dict):
        return same(list(left.items()), list(right.items()))
    if isinstance(left, set | frozenset):
        return sorted(map(repr, left)) == sorted(map(repr, right))
    return repr(left) == repr(right)


@pytest.mark.parametrize(
    "value",
    [
        10**5000,
        -(2**20000),
        [10**5000, 1],
        math.inf,
        -0.0,
        range(1, 10, 3),
        slice(1, None, 2),
        ...,
        NotImplemented,
        deque([1, 2], maxlen=3),
        OrderedDict(a=1),
        Counter("aab"),
        defaultdict(list, {1: [2]}),
        bytearray(b"\xff"),
        array("i", [1, 2]),
        {1: 2}.keys(),
        {1: 2}.items(),
        "\ud800",
        int,
        ValueError,
        datetime(2024, 1, 2, tzinfo=UTC),
        date(2024, 1, 2),
        time(1, 2),
        timedelta(1, 2, 3),
        Decimal("NaN"),
        Fraction(1, 3),
    ],
    ids=lambda value: type(value).__name__,
)
def test_unusual_values_arrive_as_they_were(value: Any) -> None:
    again = crossed(value)
    assert type(again) is type(value)
    if isinstance(value, int) or (isinstance(value, list) and isinstance(value[0], int)):
        assert again == value
    else:
        assert repr(again) == repr(value)


def test_nan_arrives_as_nan() -> None:
    assert math.isnan(crossed(float("nan")))


def test_subclasses_are_reduced_so_no_method_of_theirs_runs() -> None:
    class Sly(int):
        def __eq__(self, other: object) -> bool:
            return True

        def __int__(self) -> int:
            return 42

        __index__ = __int__
        __hash__ = int.__hash__

    class Text(str):
        __slots__ = ()

        def __str__(self) -> str:
            return "lie"

    point = namedtuple("point", "x y")
    assert type(crossed(Sly(7))) is int
    assert crossed(Sly(7)) == 7
    assert crossed(Text("true")) == "true"
    assert crossed(point(1, 2)) == (1, 2)
    assert type(crossed(point(1, 2))) is tuple


class Sly:
    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = None  # type: ignore[assignment]


class SlyDay(Sly, date): ...


class SlyMoment(Sly, datetime): ...


class SlyNumber(Sly, Decimal): ...


class SlyShare(Sly, Fraction): ...


def test_subclasses_of_dates_and_exact_numbers_are_reduced_too() -> None:
    values = [SlyDay(2024, 1, 2), SlyMoment(2024, 1, 2, 3, tzinfo=UTC), SlyNumber("1.50"), SlyShare(1, 3)]
    back = crossed(values)
    assert [type(value) for value in back] == [date, datetime, Decimal, Fraction]
    assert back == [date(2024, 1, 2), datetime(2024, 1, 2, 3, tzinfo=UTC), Decimal("1.50"), Fraction(1, 3)]


def test_a_moment_in_a_named_zone_stays_an_object_of_its_side() -> None:
    """As an offset it would forget the zone's rules: a day later, over a change of the clocks, is another moment."""
    handle = {"h": [0, "c", "datetime"]}
    for value in (datetime(2024, 7, 1, 12, tzinfo=ZoneInfo("Europe/Berlin")), time(12, tzinfo=ZoneInfo("Asia/Seoul"))):
        assert Encoder(lambda _: handle).encode(value) == handle


def test_functions_go_by_name_only_to_a_side_that_knows_them() -> None:
    handle = {"h": [0, "c", "builtin_function_or_method"]}
    assert Encoder(lambda _: handle).encode(len) == {"o": "builtins.len"}
    assert Encoder(lambda _: handle, is_naming_functions=False).encode(len) == handle


def test_nesting_without_end_is_refused_both_ways() -> None:
    deep: Any = []
    for _ in range(500):
        deep = [deep]
    with pytest.raises(CodecError):
        Encoder(no_handles).encode(deep)
    with pytest.raises(CodecError):
        loads(b"[" * 100_000)


def test_sharing_and_cycles_survive() -> None:
    inner = [1]
    shared = crossed([inner, inner])
    assert shared[0] is shared[1]
    loop: list[Any] = []
    loop.append(loop)
    again = crossed(loop)
    assert again[0] is again


def test_a_function_of_the_other_side_never_becomes_one_of_ours() -> None:
    with pytest.raises(CodecError):
        Decoder(no_handles).decode({"o": "builtins.eval"})
    assert Decoder(no_handles, is_trusting=True).decode({"o": "builtins.len"}) is len


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from([*"rhXoiztFbcRleqmTuavnyEdOCDsqB", "q2", "f", "n"]), inner, max_size=2)
    ),
    max_leaves=12,
)


STANDARD = {"builtins", "collections", "datetime", "decimal", "fractions", "array", "numpy"}


@settings(deadline=None)
@given(JSON)
def test_nonsense_raises_only_what_the_judge_expects(message: Any) -> None:
    expected = (
        CodecError,
        ValueError,
        TypeError,
        LookupError,
        ArithmeticError,
        AttributeError,
        RecursionError,
        MemoryError,
    )
    try:
        made = Decoder(no_handles).decode(json.loads(json.dumps(message)))
    except expected:
        return
    assert type(made).__module__ in STANDARD


@settings(deadline=None)
@given(st.lists(st.tuples(st.sampled_from(["a", "b", "c"]), st.sampled_from(["a", "b"])), min_size=1, max_size=20))
def test_long_lists_of_tuples_are_packed_exactly(rows: list[tuple[str, str]]) -> None:
    values = rows * (5_000 // len(rows) + 1)
    form = packed(values)
    assert form is not None
    assert unpacked(json.loads(json.dumps(form))) == values
    assert crossed(values) == values


@pytest.mark.parametrize(
    "values", [[(1, True)] * 5000, [(0.0, -0.0)] * 5000, [(1, 1.0)] * 5000, [[1]] * 5000, [((1,),)] * 5000]
)
def test_lists_whose_values_could_be_confused_are_not_packed(values: list[Any]) -> None:
    assert packed(values) is None
    assert repr(crossed(values)) == repr(values)


@pytest.mark.parametrize(
    "change", [{"count": 1 << 40}, {"lengths": -1}, {"lengths": 3}, {"table": [[]]}, {"data": "!"}, {"count": "x"}]
)
def test_a_packed_form_that_does_not_add_up_is_refused(change: dict[str, Any]) -> None:
    form = packed([("a", "b")] * 5000)
    assert form is not None
    with pytest.raises((ValueError, TypeError, LookupError)):
        unpacked({**form, **change})
