"""Coverage looks away where a marker says so, and nowhere else."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from types import FrameType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tracing import followed


def _tracer(frame: FrameType, event: str, argument: object) -> None:
    return None


@pytest.fixture
def item(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[pytest.Item]:
    """This test, as coverage would run it; whatever traces it comes back afterwards."""
    monkeypatch.setenv("COVERAGE_PROCESS_CONFIG", "set")
    before = sys.gettrace()
    sys.settrace(_tracer)
    yield request.node
    sys.settrace(before)


def test_an_unmarked_test_is_traced_but_not_the_processes_it_starts(item: pytest.Item) -> None:
    with followed(item):
        seen = sys.gettrace(), os.environ.get("COVERAGE_PROCESS_CONFIG")
    assert seen == (_tracer, None)
    assert os.environ["COVERAGE_PROCESS_CONFIG"] == "set"


@pytest.mark.traced
def test_processes_are_traced_where_they_alone_run_something(item: pytest.Item) -> None:
    with followed(item):
        assert os.environ["COVERAGE_PROCESS_CONFIG"] == "set"


@pytest.mark.untraced
def test_what_repeats_itself_is_not_traced_and_what_comes_after_it_is(item: pytest.Item) -> None:
    with followed(item):
        during = sys.gettrace()
    assert (during, sys.gettrace()) == (None, _tracer)


def test_drawn_examples_are_not_traced(item: pytest.Item, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(item, "obj", given(st.integers())(lambda number: None))
    with followed(item):
        assert sys.gettrace() is None
