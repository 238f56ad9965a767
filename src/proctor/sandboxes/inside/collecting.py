"""Finds the tests in a test file that has been run: functions, classes and unittest cases, as pytest would."""

from __future__ import annotations

import inspect
import itertools
import sys
import types
from collections.abc import Callable, Iterator
from typing import Any

Call = Callable[[], Any]


def collected(space: dict[str, Any], seen: set[int]) -> Iterator[tuple[str, Call]]:
    """Name and call of every test defined since the last time."""
    for name, value in list(space.items()):
        if id(value) in seen:
            continue
        if isinstance(value, types.FunctionType) and name.startswith("test") and value.__module__ == "__judge__":
            seen.add(id(value))
            yield from _expanded(name, value, space)
        elif isinstance(value, type) and value.__module__ == "__judge__":
            seen.add(id(value))
            yield from _of_class(name, value, space)


def _of_class(name: str, kind: type, space: dict[str, Any]) -> Iterator[tuple[str, Call]]:
    unittest = sys.modules.get("unittest")
    if unittest is not None and issubclass(kind, unittest.TestCase):
        if kind.setUpClass.__func__ is not unittest.TestCase.setUpClass.__func__:  # type: ignore[attr-defined]
            # It may use the submission and fail by its doing: a test like the others.
            yield f"{name}.setUpClass", kind.setUpClass  # type: ignore[attr-defined]
        for method in unittest.TestLoader().getTestCaseNames(kind):
            yield f"{name}.{method}", lambda method=method: kind(method).debug()  # type: ignore[misc]
        return
    if name.startswith("Test") and "__init__" not in vars(kind):
        for method in [key for key in vars(kind) if key.startswith("test") and callable(getattr(kind, key))]:
            function = getattr(kind, method)
            yield from _expanded(f"{name}.{method}", function, space, lambda method=method: getattr(kind(), method))  # type: ignore[misc]


def _expanded(
    name: str, function: Callable[..., Any], space: dict[str, Any], bind: Callable[[], Callable[..., Any]] | None = None
) -> Iterator[tuple[str, Call]]:
    """One call per combination of parameters, fixtures filled in by name; `bind` gives a method its object."""
    sets: list[list[dict[str, Any]]] = getattr(function, "_proctor_parameters", [])
    if not all(sets):
        # Parameters may come from the submission; a test that has none of them proves nothing.
        yield name, _miss_parameters
        return
    for number, combination in enumerate(itertools.product(*sets)):
        values = {key: value for part in combination for key, value in part.items()}
        label = f"{name}[{number}]" if sets else name
        yield label, lambda values=values: _call(bind() if bind else function, values, space)  # type: ignore[misc]


def _miss_parameters() -> None:
    raise AssertionError("there are no parameters to run this test with")


def _call(function: Callable[..., Any], values: dict[str, Any], space: dict[str, Any]) -> None:
    finishers: list[Iterator[Any]] = []
    try:
        wanted = inspect.signature(function).parameters
        result = function(**{key: values[key] if key in values else _fixture(key, space, finishers) for key in wanted})
        if inspect.iscoroutine(result):
            import asyncio

            asyncio.run(result)
    finally:
        for generator in reversed(finishers):
            next(generator, None)


def _fixture(name: str, space: dict[str, Any], finishers: list[Iterator[Any]]) -> Any:
    made = space.get(name)
    if made is None or not hasattr(made, "_proctor_fixture"):
        raise LookupError(f"no fixture called {name!r} here")
    inner = {key: _fixture(key, space, finishers) for key in inspect.signature(made).parameters}
    value = made(**inner)
    if inspect.isgenerator(value):
        finishers.append(value)
        return next(value)
    return value


class _Raises:
    """`pytest.raises`: passes when the block raises what was named."""

    def __init__(self, kinds: Any, *, match: str | None = None) -> None:
        self.kinds, self.match, self.value = kinds, match, None

    def __enter__(self) -> _Raises:
        return self

    def __exit__(self, kind: Any, error: Any, _: Any) -> bool:
        import re

        if kind is None:
            raise AssertionError(f"did not raise {self.kinds}")
        if not issubclass(kind, self.kinds):
            return False
        self.value, self.type = error, kind
        if self.match is not None and not re.search(self.match, str(error)):
            raise AssertionError(f"{error!s} does not match {self.match!r}")
        return True


class _Approx:
    """`pytest.approx` for numbers, lists, tuples and dicts of them."""

    def __init__(self, expected: Any, rel: float = 1e-6, abs: float = 1e-12) -> None:  # noqa: A002  pytest's names
        self.expected, self.rel, self.abs = expected, rel, abs

    def __eq__(self, other: object) -> bool:
        return self._close(other, self.expected)

    __hash__ = None  # type: ignore[assignment]

    def _close(self, got: Any, want: Any) -> bool:
        import math

        if isinstance(want, dict):
            return (
                isinstance(got, dict) and got.keys() == want.keys() and all(self._close(got[k], want[k]) for k in want)
            )
        if isinstance(want, list | tuple):
            return isinstance(got, list | tuple) and len(got) == len(want) and all(map(self._close, got, want))
        if isinstance(want, int | float) and isinstance(got, int | float):
            return math.isclose(got, want, rel_tol=self.rel, abs_tol=self.abs)
        return bool(got == want)


def _parametrize(names: str | list[str] | tuple[str, ...], values: Any, **_: Any) -> Callable[[Any], Any]:
    keys = [key.strip() for key in names.split(",")] if isinstance(names, str) else list(names)
    rows = [dict(zip(keys, row, strict=True)) if len(keys) > 1 else {keys[0]: row} for row in values]

    def mark(function: Any) -> Any:
        function._proctor_parameters = [rows, *getattr(function, "_proctor_parameters", [])]  # noqa: SLF001  ours
        return function

    return mark


def _fixture_mark(function: Any = None, **_: Any) -> Any:
    if function is None:
        return _fixture_mark
    function._proctor_fixture = True  # noqa: SLF001  ours
    return function


class _Marks:
    parametrize = staticmethod(_parametrize)

    def __getattr__(self, name: str) -> Any:
        return lambda *args, **_: args[0] if args and callable(args[0]) else (lambda function: function)


def small_pytest() -> types.ModuleType:
    """The part of pytest that test files of benchmarks use, where pytest itself is not installed in the sandbox."""
    module = types.ModuleType("pytest")
    vars(module).update(raises=_Raises, approx=_Approx, mark=_Marks(), fixture=_fixture_mark, fail=_fail)
    return module


def _fail(reason: str = "") -> None:
    raise AssertionError(reason)
