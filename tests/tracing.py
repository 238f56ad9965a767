"""What coverage follows: not every process that is started, and not what repeats the same lines for long."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

MARKERS = (
    "traced: coverage follows the processes that it starts, for only they run it",
    "untraced: coverage looks away, for it repeats what other tests run once, and would take three times as long",
)


def _draws_examples(item: pytest.Item) -> bool:
    """A hundred examples take the same ways through the code again and again; tests with one example are traced."""
    return bool(getattr(getattr(item, "obj", None), "is_hypothesis_test", False))


@contextmanager
def followed(item: pytest.Item) -> Iterator[None]:
    """While a test runs, coverage follows what its markers say: this process, but none that it starts."""
    trace = sys.gettrace()
    with pytest.MonkeyPatch.context() as patch:
        if item.get_closest_marker("traced") is None:  # a quarter of a second for each process
            patch.delenv("COVERAGE_PROCESS_CONFIG", raising=False)
        if item.get_closest_marker("untraced") is not None or _draws_examples(item):
            sys.settrace(None)
        try:
            yield
        finally:
            sys.settrace(trace)
