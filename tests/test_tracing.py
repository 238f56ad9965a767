"""Coverage looks away where a marker says so, and nowhere else."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import FrameType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor.metrics import ranking
from tracing import LOADERS, TRACED_CASES, followed, imports_followed


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


@pytest.mark.parametrize("case", range(TRACED_CASES + 2))
def test_only_the_first_cases_of_a_test_are_traced(item: pytest.Item, case: int) -> None:
    with followed(item):
        assert (sys.gettrace() is None) == (case >= TRACED_CASES)


@pytest.mark.traced
@pytest.mark.parametrize("case", range(TRACED_CASES + 1))
def test_every_case_of_a_test_that_is_to_be_traced_is(item: pytest.Item, case: int) -> None:
    with followed(item):
        assert sys.gettrace() is _tracer


def test_while_tests_are_collected_the_imports_of_proctor_are_traced_and_nothing_else(
    item: pytest.Item, tmp_path: Path
) -> None:
    (tmp_path / "looks_at_its_tracer.py").write_text("import sys\nseen = sys.gettrace()\n")
    seen = []
    with imports_followed():
        during = sys.gettrace()
        for name in ("proctor.looks_at_its_tracer", "looks_at_its_tracer"):
            spec = spec_from_file_location(name, tmp_path / "looks_at_its_tracer.py")
            assert spec is not None
            assert spec.loader is not None
            module = module_from_spec(spec)
            spec.loader.exec_module(module)
            seen.append(module.seen)
    assert (during, seen, sys.gettrace()) == (None, [_tracer, None], _tracer)


def test_what_loads_a_module_of_proctor_is_followed() -> None:
    assert type(ranking.__loader__) in LOADERS
