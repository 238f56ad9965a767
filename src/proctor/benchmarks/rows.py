"""Rows: what a source gives, before its fields are mapped."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol

from msgspec import Struct

from proctor.domain.errors import BenchmarkError


class BadRow(Struct, frozen=True):
    """A row that could not be read, in place of the row."""

    reason: str


Row = tuple[int, Any]
"""Where a row stands, for messages (a line or a row number), and what is there: a mapping, a Sample, or a BadRow."""


class Rows(Protocol):
    """Rows that can be walked through again and again, always in the same order."""

    @property
    def label(self) -> str:
        """The file or function, for messages."""
        ...

    @property
    def unit(self) -> str:
        """What the places are: 'line' or 'row'."""
        ...

    def __iter__(self) -> Iterator[Row]: ...

    def at(self, positions: Sequence[int]) -> Iterator[Row]:
        """The rows at these positions (from 0), in the order asked for."""
        ...


class StreamedRows(Struct, frozen=True):
    """Rows of a source that can only be read from its beginning, opened anew each time."""

    label: str
    unit: str
    open: Callable[[], Iterable[Row]]

    def __iter__(self) -> Iterator[Row]:
        return iter(self.open())

    def at(self, positions: Sequence[int]) -> Iterator[Row]:
        return pick(self, positions)


def pick(rows: Rows | Iterable[Row], positions: Sequence[int]) -> Iterator[Row]:
    """Rows at some positions of a stream: read once, holding only those that are asked for and not yet due."""
    waiting = dict.fromkeys(positions, 0)
    for position in positions:
        waiting[position] += 1
    found: dict[int, Row] = {}
    stream = enumerate(rows)
    for position in positions:
        while position not in found:
            place, row = next(stream, (None, None))
            if place is None or row is None:
                raise BenchmarkError(f"There is no row {position + 1}: the data ended before it.")
            if place in waiting:
                found[place] = row
        waiting[position] -= 1
        yield found[position] if waiting[position] else found.pop(position)


def read_path(row: Any, path: Sequence[str]) -> Any:
    """The value at a path of keys and, in lists, of places; raises KeyError with the step that is not there."""
    value = row
    for step in path:
        if isinstance(value, Mapping):
            value = value[step]
        elif isinstance(value, list | tuple):
            value = _in_list(value, step)
        else:
            raise KeyError(step)
    return value


def _in_list(value: Sequence[Any], step: str) -> Any:
    if step.endswith(":") and step[:-1].isdigit():
        return value[int(step[:-1]) :]
    if not step.isdigit() or int(step) >= len(value):
        raise KeyError(step)
    return value[int(step)]
