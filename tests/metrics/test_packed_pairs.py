"""Marks that are had at once are compared with the same result, to the last digit, as marks that come in turn."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import asdict

from proctor.metrics.compare import StoppedEarly, compare_marks
from proctor.metrics.pairing import Mark, PackedMarks, pair

VALUES = (0.0, 1.0, None)
codes = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), max_size=60)


class Side:
    """An evaluation's marks in turn."""

    def __init__(self, marks: list[int]) -> None:
        self.marks = marks

    def __iter__(self) -> Iterator[Mark]:
        return ((f"s{place:03}", VALUES[code], None, 1) for place, code in enumerate(self.marks))


class PackedSide(Side):
    """The same at once, with no way to have them in turn."""

    def __init__(self, marks: list[int], samples: str = "all") -> None:
        super().__init__(marks)
        self.samples = samples

    def packed_marks(self) -> PackedMarks | None:
        return PackedMarks(self.samples, bytes(self.marks), "s{:03}".format)

    def __iter__(self) -> Iterator[Mark]:
        raise AssertionError("they are read at once")


STOPPED = [None, StoppedEarly(None)]


@given(codes, st.integers(0, 4), st.sampled_from(STOPPED))
def test_they_compare_as_they_would_in_turn(
    marks: list[tuple[int, int]], keep: int, stopped: StoppedEarly | None
) -> None:
    a, b = [one for one, _ in marks], [other for _, other in marks]
    in_turn = compare_marks(Side(a), Side(b), keep=keep, stopped=stopped)
    packed = compare_marks(PackedSide(a), PackedSide(b), keep=keep, stopped=stopped)
    assert repr(asdict(packed)) == repr(asdict(in_turn))


@given(codes)
def test_their_spread_is_that_of_the_differences(marks: list[tuple[int, int]]) -> None:
    a, b = [one for one, _ in marks], [other for _, other in marks]
    found, plain = pair(PackedSide(a), PackedSide(b)), pair(Side(a), Side(b))
    differences = [VALUES[y] - VALUES[x] for x, y in marks if 2 not in (x, y)]  # type: ignore[operator]
    assert (found.spread, found.n) == (plain.spread, len(differences))
    if len(differences) > 1:
        mean = sum(differences) / len(differences)
        wanted = (sum((one - mean) ** 2 for one in differences) / (len(differences) - 1)) ** 0.5
        assert found.spread == pytest.approx(wanted)


def test_other_samples_or_another_order_are_matched_by_their_ids() -> None:
    with pytest.raises(AssertionError, match="at once"):
        pair(PackedSide([0, 1]), PackedSide([1, 1], "others"))
    assert pair(Side([0, 1]), Side([1, 1, 1])).left_out.only_b_not_asked_in_a == 1
