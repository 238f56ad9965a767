"""Columns that runs write, and statements that insert many rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
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


def insert_statements(
    table: str, columns: Sequence[str], rows: Sequence[tuple[Any, ...]], on_conflict: str
) -> Iterator[tuple[str, list[Any]]]:
    """Statements and parameters that insert all the rows, a hundred or so at a time."""
    one = f"({','.join('?' * len(columns))})"
    head = f"INSERT INTO {table} ({','.join(columns)}) VALUES "  # noqa: S608 - names come from this module
    start, size = 0, MAX_ROWS
    while start < len(rows):
        while size > len(rows) - start:
            size //= 2
        part = rows[start : start + size]
        yield f"{head}{','.join([one] * size)} {on_conflict}", [value for row in part for value in row]
        start += size


def places(count: int) -> str:
    """Placeholders for what stands in IN (…); of nothing, what equals nothing: PostgreSQL knows no empty list."""
    return ",".join("?" * count) or "NULL"
