"""Write a run's results as JSON lines or CSV, a row at a time."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Collection, Iterator

from orjson import OPT_APPEND_NEWLINE

from proctor.domain.documents.document import json_bytes
from proctor.domain.documents.result import EXTRAS, TrialResult
from proctor.domain.message import Json
from proctor.reports.rows import RunRows, flat_values

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
    """One JSON object a line, one line a trial."""
    for row in rows:
        yield json_bytes(row, OPT_APPEND_NEWLINE)


def export_csv(rows: RunRows) -> Iterator[bytes]:
    """One line a trial and scorer; no cell can be taken for a formula by a spreadsheet."""
    buffer = io.StringIO(newline="")
    writer = csv.writer(buffer, lineterminator="\r\n")
    sides = ("side",) if rows.has_sides else ()
    columns = (*COLUMNS, *sides, *(name for name in EXTRAS if name in rows.extras))
    writer.writerow(columns)
    for row in rows:
        for line in _lines(row, rows.extras):
            writer.writerow([harmless(line.get(column)) for column in columns])
        yield buffer.getvalue().encode()
        buffer.seek(0)
        buffer.truncate()
    yield buffer.getvalue().encode()


def _lines(row: TrialResult, extras: Collection[str]) -> Iterator[dict[str, Json]]:
    values = flat_values(row, extras)
    if not row.scores:
        yield values
    for scorer, score in row.scores.items():
        marked = {"value": score.value, "answer": score.answer, "reason": score.reason}
        yield {**values, "scorer": scorer, "scorer_version": score.version, **marked}


def harmless(value: Json) -> Json:
    """Text that a spreadsheet would run as a formula gets a leading apostrophe; a number, also as text, stays one."""
    is_formula = isinstance(value, str) and value.startswith(FORMULA_STARTS) and not NUMBER.fullmatch(value)
    return f"'{value}" if is_formula else value
