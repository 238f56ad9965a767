"""Parameters of benchmarks that are made by a function: its keyword arguments are what it takes."""

from __future__ import annotations

import inspect
import types
import typing
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from proctor.domain.errors import BenchmarkError, did_you_mean
from proctor.domain.plan import BenchmarkSpec

GIVEN = ("seed", "folder", "data")
"""Passed by Proctor to a function that asks for them; never by the user."""


def described(factory: Callable[..., Any]) -> dict[str, str]:
    """Each parameter of a factory with its default, as text."""
    return {
        name: "" if parameter.default is inspect.Parameter.empty else str(parameter.default)
        for name, parameter in inspect.signature(factory).parameters.items()
        if name not in GIVEN and parameter.kind is not inspect.Parameter.VAR_KEYWORD
    }


def call(
    factory: Callable[..., Any], name: str, given: Mapping[str, Any], *, seed: int, folder: Path, data: Path | None
) -> Any:
    """Call a factory with the user's parameters, converted to what it declares; refuses those it does not take."""
    known = inspect.signature(factory).parameters
    takes_any = any(parameter.kind is inspect.Parameter.VAR_KEYWORD for parameter in known.values())
    mine = described(factory)
    if not takes_any:
        refuse_unknown(name, given, mine)
    hints = _hints(factory)
    values = {key: _converted(name, key, value, hints.get(key)) for key, value in given.items()}
    passed = {"seed": seed, "folder": folder, "data": data}
    missing = [key for key in mine if key not in values and known[key].default is inspect.Parameter.empty]
    if missing and not takes_any:
        raise BenchmarkError(f"The benchmark {name!r} needs the parameter {missing[0]!r}.")
    return factory(**values, **{key: value for key, value in passed.items() if key in known})


def refuse_unknown(name: str, given: Mapping[str, Any], known: Mapping[str, Any]) -> None:
    for key in given:
        if key not in known:
            takes = f"It takes: {', '.join(known)}." if known else "It takes none."
            hint = did_you_mean(key, [*known, *BenchmarkSpec.OWN])
            raise BenchmarkError(f"The benchmark {name!r} has no parameter {key!r}.{hint} {takes}", setting=key)


def _hints(factory: Callable[..., Any]) -> dict[str, Any]:
    try:
        return typing.get_type_hints(factory)
    except (NameError, TypeError):  # a stranger's annotations may name what cannot be resolved
        return {}


def _converted(name: str, key: str, value: Any, hint: Any) -> Any:
    if hint is None or hint is Any:
        return value
    arms = typing.get_args(hint) if typing.get_origin(hint) in (typing.Union, types.UnionType) else (hint,)
    for arm in arms:
        if isinstance(arm, type) and isinstance(value, arm) and not (isinstance(value, bool) and arm is not bool):
            return value
    for arm in arms:
        converter = _FROM_TEXT.get(arm)
        if converter is None:
            continue
        try:
            return converter(value)
        except (ValueError, KeyError):
            continue
    wanted = " or ".join(_WORDS.get(arm, getattr(arm, "__name__", str(arm))) for arm in arms if arm is not type(None))
    raise BenchmarkError(
        f"The parameter {key!r} of the benchmark {name!r} is {value!r}; it must be {wanted}.", setting=key
    )


def _to_text(value: Any) -> str:
    """Lists become '1,2': what a query string would say."""
    if isinstance(value, list | tuple):
        return ",".join(map(str, value))
    if isinstance(value, Mapping | bool) or value is None:
        raise ValueError(value)
    return str(value)


def _to_int(value: Any) -> int:
    if not isinstance(value, str):
        raise ValueError(value)
    return int(value)


def _to_float(value: Any) -> float:
    if isinstance(value, bool):
        raise ValueError(value)
    return float(value)


_FROM_TEXT: dict[Any, Callable[[Any], Any]] = {
    bool: lambda value: {"true": True, "false": False}[str(value).lower()],
    int: _to_int,
    float: _to_float,
    str: _to_text,
}
_WORDS = {bool: "true or false", int: "a whole number", float: "a number", str: "text"}
