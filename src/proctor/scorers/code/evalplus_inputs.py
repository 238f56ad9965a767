"""MBPP+ inputs as the tasks mean them: JSON has no tuples, sets or complex numbers, so they are put back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Arguments = list[Any]


def _deep(value: Any) -> Any:
    return tuple(map(_deep, value)) if isinstance(value, list) else value


def _each(arguments: Arguments) -> Arguments:
    return [tuple(argument) for argument in arguments]


def _inside(arguments: Arguments) -> Arguments:
    return [[tuple(item) for item in argument] for argument in arguments]


def _both(arguments: Arguments) -> Arguments:
    return [tuple(tuple(item) for item in argument) for argument in arguments]


def _inside_first(arguments: Arguments) -> Arguments:
    return [[tuple(item) for item in arguments[0]], arguments[1]]


def _first(arguments: Arguments) -> Arguments:
    return [tuple(arguments[0]), *arguments[1:]]


def _second(arguments: Arguments) -> Arguments:
    return [arguments[0], tuple(arguments[1])]


def _sets(arguments: Arguments) -> Arguments:
    return [[set(item) if isinstance(item, list) and item else {} for item in arguments[0]]]


def _lists_inside_first(arguments: Arguments) -> Arguments:
    return [tuple(tuple(item) if isinstance(item, list) else item for item in arguments[0])]


def _polar(arguments: Arguments) -> Arguments:
    return [float(arguments[0]), complex(arguments[1])]


def _complex(arguments: Arguments) -> Arguments:
    return [complex(arguments[0])]


def _values(arguments: Arguments) -> Arguments:
    return [{key: tuple(value) for key, value in arguments[0].items()}, *arguments[1:]]


def _everything(arguments: Arguments) -> Arguments:
    return list(map(_deep, arguments))


_TASKS: dict[Callable[[Arguments], Arguments], str] = {
    _each: "2 116 132 143 222 261 273 394 399 421 424 429 470 560 579 596 616 630 726 740 744 809",
    _inside: "63 64 70 94 120 237 272 299 400 409 417 438 473 614 780",
    _inside_first: "75 413 444 753",
    _second: "106 750",
    _sets: "115",
    _polar: "124",
    _first: "250 405 446 617 720 763 808 307",
    _both: "259 401 445",
    _lists_inside_first: "278",
    _values: "722",
    _complex: "252",
    _everything: "580 615 791",
}
_READERS = {int(number): reader for reader, numbers in _TASKS.items() for number in numbers.split()}


def mbpp_inputs(task_id: str, inputs: list[Arguments]) -> list[Arguments]:
    """The task's inputs with their real types."""
    reader = _READERS.get(int(task_id.rpartition("/")[2]))
    return [reader(arguments) for arguments in inputs] if reader else inputs
