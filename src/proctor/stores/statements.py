"""Columns that runs write, and statements that insert many rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any

RESPONSE_COLUMNS = (
    "id", "evaluation_id", "trial_id", "attempt", "sample_id", "sample_digest", "epoch", "category", "cluster",
    "cache_key", "is_cached", "error", "retries", "finish_reason", "input_tokens", "output_tokens",
    "reasoning_tokens", "cached_tokens", "cost_pico_usd", "latency_seconds", "first_token_seconds", "created_at",
    "cache_write_tokens", "cost_basis", "month",
)  # fmt: skip
SAMPLE_COLUMNS = ("digest", "sample_id", "input", "target", "prompt", "body")
BODY_COLUMNS = ("response_id", "text", "more", "month")
SCORE_COLUMNS = (
    "response_id", "scorer", "version", "value", "is_invalid", "answer", "reason", "details", "is_unreadable",
    "is_forgeable", "weight", "covers", "month",
)  # fmt: skip

# Each row of a multi-row insert costs one step of the virtual machine less, and the interpreter lock is given up
# once for many rows; SQLite allows 32,766 parameters in a statement. Powers of two, so that there are only eight
# statements for a table: each is prepared once and kept, where one for every number of rows would fill the memory.
MAX_ROWS = 128
_LITERALS = {None: "NULL", True: "TRUE", False: "FALSE"}
"""What SQLite's driver looks for an adapter for, at every value: that takes longer than to bind all the others."""


def insert_statements(
    table: str, columns: Sequence[str], rows: Sequence[tuple[Any, ...]], on_conflict: str
) -> Iterator[tuple[str, list[Any]]]:
    """Statements and parameters that insert all the rows, a hundred or so at a time."""
    if not rows:
        return
    by_column = list(zip(*rows, strict=True))
    literals = [_literal_of_all(values) for values in by_column]
    bound = [values for values, literal in zip(by_column, literals, strict=True) if literal is None]
    parameters, width = list(chain.from_iterable(zip(*bound, strict=True))), len(bound)
    one = f"({','.join(literal or '?' for literal in literals)})"
    head = f"INSERT INTO {table} ({','.join(columns)}) VALUES "  # noqa: S608 - names come from this module
    start, size = 0, MAX_ROWS
    while start < len(rows):
        while size > len(rows) - start:
            size //= 2
        part = parameters[start * width : (start + size) * width]
        yield f"{head}{','.join([one] * size)} {on_conflict}", part
        start += size


def _literal_of_all(values: Sequence[Any]) -> str | None:
    """What is written into the statement instead of being bound in every row; None for what differs."""
    first = values[0]
    if first is not None and first is not True and first is not False:
        return None
    return _LITERALS[first] if values.count(first) == len(values) else None


def places(count: int) -> str:
    """Placeholders for what stands in IN (…); of nothing, what equals nothing: PostgreSQL knows no empty list."""
    return ",".join("?" * count) or "NULL"
