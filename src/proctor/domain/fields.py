"""What the fields of a plan are made of: numbers as they were written, lists that hold something."""

import math
from typing import Annotated, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

T = TypeVar("T")
MAX_NUMBER = 2**63 - 1
"""JSON of any size is not read by everybody."""


class Frozen(BaseModel):
    """A part of a plan: it does not change, and has no fields beside those it names.

    Modules with such models evaluate their annotations: as texts (`from __future__ import annotations`), Pydantic would
    compile every one of them at every start.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", protected_namespaces=(), defer_build=True)


def some(value: tuple[T, ...]) -> tuple[T, ...]:
    """The list, which must not be empty."""
    if not value:
        raise ValueError("the list is empty: at least one is needed")
    return value


def as_written(value: object) -> int | float:
    """Text comes from a query string; true is no number, whatever Python says."""
    if isinstance(value, str):
        for kind in (int, float):
            try:
                value = kind(value)
                break
            except ValueError:
                continue
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise ValueError(f"{value!r} is not a number")
    if isinstance(value, int) and abs(value) > MAX_NUMBER:
        raise ValueError(f"the number must be between -{MAX_NUMBER:,} and {MAX_NUMBER:,}")
    return value


def _whole(value: object) -> object:
    if isinstance(value, bool):
        raise ValueError(f"{value!r} is not a whole number")
    return value


Number = Annotated[int | float, BeforeValidator(as_written)]
"""0 stays 0 and 0.0 stays 0.0: options are sent as they were written."""
Whole = Annotated[int, BeforeValidator(_whole), Field(ge=-MAX_NUMBER, le=MAX_NUMBER)]
