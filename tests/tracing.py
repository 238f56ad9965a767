"""What coverage follows: not every process that is started, and not what repeats the same lines for long."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.abc import Loader
from importlib.machinery import SourceFileLoader
from types import ModuleType
from typing import Any

import pytest
from _pytest.assertion.rewrite import AssertionRewritingHook

TRACED_CASES = 3
"""How many cases of a test with many are followed: the others take the same ways, and are run all the same."""
TRACED_ON_BOTH = ("stores",)
"""Folders whose tests are followed on either engine: elsewhere the second takes the ways of the first."""

MARKERS = (
    "traced: coverage follows the processes that it starts, for only they run it",
    "untraced: coverage looks away, for it repeats what other tests run once, and would take three times as long",
)


REPETITION = pytest.StashKey[bool]()


def _draws_examples(item: pytest.Item) -> bool:
    """A hundred examples take the same ways through the code again and again; tests with one example are traced."""
    return bool(getattr(getattr(item, "obj", None), "is_hypothesis_test", False))


def _is_repetition(item: pytest.Item) -> bool:
    """Whether other cases of the same test have gone the way already."""
    return item.stash.get(REPETITION, False)


def _place_among_cases(item: pytest.Item) -> tuple[int, ...]:
    callspec = getattr(item, "callspec", None)
    return () if callspec is None else tuple(callspec.indices.values())


def find_repetitions(items: list[pytest.Item]) -> None:
    """Note which cases coverage need not follow: the same ones in every worker, whoever runs them."""
    cases: Counter[str] = Counter()
    for item in sorted(items, key=_place_among_cases):  # plain pytest shuffles them
        callspec = getattr(item, "callspec", None)
        if callspec is None or item.get_closest_marker("traced") is not None:
            continue
        name = item.nodeid.partition("[")[0]
        if callspec.params.get("database_engine") == "postgresql" and item.path.parent.name not in TRACED_ON_BOTH:
            item.stash[REPETITION] = True
            continue
        cases[name] += 1
        item.stash[REPETITION] = cases[name] > TRACED_CASES


LOADERS: tuple[type[Loader], ...] = (SourceFileLoader, AssertionRewritingHook)
"""What loads Proctor's modules: pytest rewrites the assertions of a package that brings a plugin of its own."""


def _follow(execute: Callable[[Any, ModuleType], None], trace: Any) -> Callable[[Any, ModuleType], None]:
    """Return `execute` with `trace` set while a module of Proctor's is executed, and those that it imports."""

    def exec_module(loader: Any, module: ModuleType) -> None:
        is_first = sys.gettrace() is None and module.__name__.partition(".")[0] == "proctor"
        if not is_first:
            execute(loader, module)
            return
        sys.settrace(trace)
        try:
            execute(loader, module)
        finally:
            sys.settrace(None)

    return exec_module


@contextmanager
def imports_followed() -> Iterator[None]:
    """While tests are collected, coverage follows how Proctor's modules are imported, and nothing else."""
    trace = sys.gettrace()
    if trace is None:
        yield
        return
    with pytest.MonkeyPatch.context() as patch:
        for loader in LOADERS:
            patch.setattr(loader, "exec_module", _follow(loader.exec_module, trace))
        sys.settrace(None)
        try:
            yield
        finally:
            sys.settrace(trace)


@contextmanager
def followed(item: pytest.Item) -> Iterator[None]:
    """While a test runs, coverage follows what its markers say: this process, but none that it starts."""
    trace = sys.gettrace()
    with pytest.MonkeyPatch.context() as patch:
        if item.get_closest_marker("traced") is None:  # a quarter of a second for each process
            patch.delenv("COVERAGE_PROCESS_CONFIG", raising=False)
        if item.get_closest_marker("untraced") is not None or _draws_examples(item) or _is_repetition(item):
            sys.settrace(None)
        try:
            yield
        finally:
            sys.settrace(trace)
