"""Whatever a run does about garbage, it leaves the process as it was."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest

from proctor.engine.garbage_collection import OBJECTS_BETWEEN, relaxed_gc


@pytest.fixture(autouse=True)
def _as_before() -> Iterator[None]:
    before = gc.get_threshold()
    yield
    gc.set_threshold(*before)


def test_cycles_are_looked_for_less_often_and_then_as_before() -> None:
    gc.set_threshold(700, 11, 12)

    def fail() -> None:
        with relaxed_gc():
            assert gc.get_threshold() == (OBJECTS_BETWEEN, 11, 12)
            raise ValueError("mine")

    with pytest.raises(ValueError, match="mine"):
        fail()
    assert gc.get_threshold() == (700, 11, 12)


@pytest.mark.parametrize("first", [0, 50_000])
def test_who_looks_even_less_often_is_left_alone(first: int) -> None:
    gc.set_threshold(first, 10, 10)
    with relaxed_gc():
        assert gc.get_threshold() == (first, 10, 10)
    assert gc.get_threshold() == (first, 10, 10)
