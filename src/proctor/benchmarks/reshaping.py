"""Rows made of rows: changed by a function, or joined with those of a second source."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

from msgspec import Struct

from proctor.benchmarks.rows import BadRow, Row, Rows, pick
from proctor.domain.errors import BenchmarkError
from proctor.domain.sample import Sample

Transform = Callable[[Mapping[str, Any]], Mapping[str, Any] | Sample | list[Mapping[str, Any]]]


class TransformedRows(Struct, frozen=True):
    """Each row as a function makes it, or the rows where it makes several; one that it cannot use is a bad row."""

    rows: Rows
    transform: Transform
    name: str
    is_expanding: bool = False
    """Whether a row may become several: positions then have to be counted."""

    @property
    def label(self) -> str:
        return self.rows.label

    @property
    def unit(self) -> str:
        return self.rows.unit

    def __iter__(self) -> Iterator[Row]:
        for place, row in self.rows:
            made = self._made(row)
            if isinstance(made, list):
                yield from ((place, one) for one in made)
            else:
                yield place, made

    def at(self, positions: Sequence[int]) -> Iterator[Row]:
        if self.is_expanding:
            return pick(self, positions)
        return ((place, self._made(row)) for place, row in self.rows.at(positions))

    def _made(self, row: Any) -> Any:
        if not isinstance(row, Mapping):
            return row
        try:
            return self.transform(row)
        except KeyError as missing:
            known = ", ".join(map(str, list(row)[:15]))
            return BadRow(f"the transform {self.name!r} needs the field {missing}; the row has: {known}")
        except (ValueError, TypeError, AttributeError, LookupError) as fault:
            return BadRow(f"the transform {self.name!r} cannot use this row: {fault}")


class JoinedRows(Struct, frozen=True, dict=True):
    """Rows with the fields of the second source's row of the same key added; a row without a partner stays as it is."""

    rows: Rows
    second: Rows
    key: str

    @property
    def label(self) -> str:
        return self.rows.label

    @property
    def unit(self) -> str:
        return self.rows.unit

    def __iter__(self) -> Iterator[Row]:
        return ((place, self._joined(row)) for place, row in self.rows)

    def at(self, positions: Sequence[int]) -> Iterator[Row]:
        return ((place, self._joined(row)) for place, row in self.rows.at(positions))

    def _joined(self, row: Any) -> Any:
        if not isinstance(row, Mapping):
            return row
        return {**self._by_key.get(row.get(self.key), {}), **row}

    @cached_property
    def _by_key(self) -> dict[Any, Mapping[str, Any]]:
        found: dict[Any, Mapping[str, Any]] = {}
        for place, row in self.second:
            if not isinstance(row, Mapping) or self.key not in row:
                reason = row.reason if isinstance(row, BadRow) else f"there is no field {self.key!r}"
                raise BenchmarkError(f"{self.second.label}, {self.second.unit} {place}: {reason}.")
            found[row[self.key]] = row
        return found
