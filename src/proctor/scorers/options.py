"""Options of a scorer: checked against its fields when it is made, and part of its version."""

from __future__ import annotations

import math
import types
from collections.abc import Mapping
from dataclasses import fields
from functools import cache
from typing import Any, ClassVar, Literal, Protocol, TypeVar, Union, get_args, get_origin, get_type_hints

from proctor.domain.errors import BenchmarkError, did_you_mean
from proctor.domain.identity import digest
from proctor.domain.message import Json


class Configured(Protocol):
    """A dataclass whose fields are the scorer's options."""

    __dataclass_fields__: ClassVar[dict[str, Any]]


Made = TypeVar("Made", bound=Configured)

_PLAIN = {bool: "true or false", int: "a whole number", float: "a number", str: "text"}


def build(kind: type[Made], name: str, options: Mapping[str, Json]) -> Made:
    """Make the scorer, or say which option is wrong and what is allowed."""
    hints = _hints(kind)
    for option in options:
        if option not in hints:
            allowed = ", ".join(hints) or "none"
            hint = did_you_mean(option, hints)
            raise BenchmarkError(f"The scorer '{name}' has no option '{option}'.{hint} It takes: {allowed}.")
    values = {option: _read(name, option, value, hints[option]) for option, value in options.items()}
    return kind(**values)


def version_of(scorer: Configured, revision: str) -> str:
    """The revision of the rules, and a hash of the options that differ from their defaults."""
    given = {
        field.name: value
        for field in fields(scorer)
        if field.init and (value := getattr(scorer, field.name)) != field.default
    }
    return f"{revision}+{digest(given)[:8]}" if given else revision


@cache
def _hints(kind: type) -> dict[str, Any]:
    hints = get_type_hints(kind)
    return {field.name: hints[field.name] for field in fields(kind) if field.init}


def _read(name: str, option: str, value: Json, hint: Any) -> Any:
    for kind in get_args(hint) if get_origin(hint) in (Union, types.UnionType) else (hint,):
        read = _fit(value, kind)
        if read is not _MISFIT:
            return read
    raise BenchmarkError(f"The option '{option}' of the scorer '{name}' is {value!r}; it must be {_describe(hint)}.")


_MISFIT = object()


def _fit(value: Json, kind: Any) -> Any:
    """The value as that kind, or _MISFIT; true is not the number 1, but 1 is the number 1.0."""
    if get_origin(kind) is Literal:
        return value if any(value == known and type(value) is type(known) for known in get_args(kind)) else _MISFIT
    if get_origin(kind) is tuple:
        return tuple(value) if isinstance(value, list | tuple) and all(isinstance(v, str) for v in value) else _MISFIT
    if get_origin(kind) is Mapping:
        return value if isinstance(value, Mapping) else _MISFIT
    if kind is float:
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        return float(value) if is_number and math.isfinite(value) else _MISFIT
    if kind is int:
        return value if isinstance(value, int) and not isinstance(value, bool) else _MISFIT
    return value if isinstance(value, kind) else _MISFIT


def _describe(hint: Any) -> str:
    if get_origin(hint) in (Union, types.UnionType):
        return " or ".join(_describe(kind) for kind in get_args(hint) if kind is not type(None))
    if get_origin(hint) is Literal:
        return "one of " + ", ".join(map(str, get_args(hint)))
    if get_origin(hint) is tuple:
        return "a list of texts"
    if get_origin(hint) is Mapping:
        return "a mapping"
    return _PLAIN.get(hint, str(hint))
