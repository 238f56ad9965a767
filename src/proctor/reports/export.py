"""Write a run's results as JSON lines or CSV, a row at a time."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Collection, Iterable, Iterator
from typing import Any

import orjson

from proctor.reports.rows import EXTRAS, RunRows, flat_json, result_json
from proctor.stores.results import ResultRow

FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
"""The wide forms count too: some spreadsheets take them for the narrow ones."""
NUMBER = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?")
COLUMNS = (
    "run_id", "model", "benchmark", "sample_id", "epoch", "attempt", "category", "input", "target", "response",
    "reasoning", "tool_calls", "outcome", "scorer", "value", "answer", "reason", "cached",
    "finish_reason", "latency_seconds", "first_token_seconds", "input_tokens", "output_tokens", "reasoning_tokens",
    "cached_tokens", "cost_usd", "cost_basis", "price_source", "error", "scorer_version",
)  # fmt: skip


def export_jsonl(rows: RunRows) -> Iterator[bytes]:
    return as_jsonl(rows, rows.extras)


def export_csv(rows: RunRows) -> Iterator[bytes]:
    return as_csv(rows, rows.extras)


def as_jsonl(rows: Iterable[ResultRow], extras: Collection[str] = ()) -> Iterator[bytes]:
    """One JSON object a line, one line a trial."""
    for row in rows:
        yield orjson.dumps(result_json(row, extras=extras), option=orjson.OPT_APPEND_NEWLINE)


def as_csv(rows: Iterable[ResultRow], extras: Collection[str] = ()) -> Iterator[bytes]:
    """One line a trial and scorer; no cell can be taken for a formula by a spreadsheet."""
    buffer = io.StringIO(newline="")
    writer = csv.writer(buffer, lineterminator="\r\n")
    columns = (*COLUMNS, *(name for name in EXTRAS if name in extras))
    writer.writerow(columns)
    for row in rows:
        for line in _lines(flat_json(row, extras)):
            writer.writerow([harmless(line.get(column)) for column in columns])
        yield buffer.getvalue().encode()
        buffer.seek(0)
        buffer.truncate()
    yield buffer.getvalue().encode()


def _lines(row: dict[str, Any]) -> Iterator[dict[str, Any]]:
    scores = row.pop("scores")
    if not scores:
        yield row
    for scorer, score in scores.items():
        marked = {key: score[key] for key in ("value", "answer", "reason")}
        yield {**row, "scorer": scorer, "scorer_version": score["version"], **marked}


def harmless(value: Any) -> Any:
    """Text that a spreadsheet would run as a formula gets a leading apostrophe; a number, also as text, stays one."""
    is_formula = isinstance(value, str) and value.startswith(FORMULA_STARTS) and not NUMBER.fullmatch(value)
    return f"'{value}" if is_formula else value
