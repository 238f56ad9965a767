"""Results as a Parquet file, written a row group at a time."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from io import BytesIO

from orjson import OPT_APPEND_NEWLINE

from proctor.domain.documents.document import json_bytes
from proctor.domain.documents.result import EXTRAS, TrialResult
from proctor.domain.errors import UserError
from proctor.domain.message import Json
from proctor.reports.rows import RunRows, flat_values

ROWS_PER_GROUP = 10_000
BYTES_PER_GROUP = 4 * 2**20
"""A group of long answers has fewer rows."""
BYTES_AT_ONCE = 2**19


def export_parquet(rows: RunRows, *, rows_per_group: int = ROWS_PER_GROUP) -> Iterator[bytes]:
    """One row a trial, with the fields of the JSON lines; a row group at a time, so memory holds no more than one."""
    try:
        import pyarrow
        from pyarrow import json, parquet
    except ImportError:
        raise UserError("Parquet needs pyarrow: pip install 'proctor[parquet]'.") from None
    text, number, count, flag = pyarrow.string(), pyarrow.float64(), pyarrow.int64(), pyarrow.bool_()
    score = pyarrow.struct(
        [("scorer", text), ("value", number), ("answer", text), ("reason", text), ("invalid", flag), ("version", text)]
    )  # fmt: skip
    schema = pyarrow.schema(
        [
            ("run_id", text), ("model", text), ("benchmark", text), ("sample_id", text), ("epoch", count),
            ("attempt", count), ("category", text), ("input", text), ("target", text), ("response", text),
            ("reasoning", text), ("tool_calls", text), ("outcome", text), ("scores", pyarrow.list_(score)),
            ("cached", flag), ("finish_reason", text),
            ("latency_seconds", number), ("first_token_seconds", number), ("input_tokens", count),
            ("output_tokens", count), ("reasoning_tokens", count), ("cached_tokens", count), ("cost_usd", number),
            ("cost_basis", text), ("price_source", text), ("error", text),
            *([("side", text)] if rows.has_sides else []),
            *((name, text) for name in EXTRAS if name in rows.extras),
        ]
    )  # fmt: skip
    # From JSON, because pyarrow imports pandas to look at objects of Python, where it is there.
    options = json.ParseOptions(explicit_schema=schema, unexpected_field_behavior="ignore")
    piece, slices = BytesIO(), list[pyarrow.Table]()
    with parquet.ParquetWriter(piece, schema, compression="zstd") as writer:

        def write_group() -> bytes:
            writer.write_table(pyarrow.concat_tables(slices), row_group_size=rows_per_group)
            slices.clear()
            return _taken(piece)

        for lines in _slices(rows, rows_per_group):
            read = json.ReadOptions(use_threads=False, block_size=len(lines))
            slices.append(json.read_json(BytesIO(lines), read, options))
            count, size = (sum(getattr(one, name) for one in slices) for name in ("num_rows", "nbytes"))
            if count >= rows_per_group or size >= BYTES_PER_GROUP:
                yield write_group()
        if slices:
            yield write_group()
    yield _taken(piece)


def _taken(piece: BytesIO) -> bytes:
    """What was written since the last time; the writer itself counts where it is in the file."""
    content = piece.getvalue()
    piece.seek(0)
    piece.truncate()
    return content


def _slices(rows: RunRows, most_rows: int) -> Iterator[bytes]:
    """The rows as JSON lines, a few at a time: reading them takes many times their length for a moment."""
    lines, count = bytearray(), 0
    for row in rows:
        lines += json_bytes(_flat(row, rows.extras), OPT_APPEND_NEWLINE)
        count += 1
        if count == most_rows or len(lines) >= BYTES_AT_ONCE:
            yield bytes(lines)
            lines.clear()
            count = 0
    if count:
        yield bytes(lines)


def _flat(row: TrialResult, extras: Collection[str]) -> dict[str, Json]:
    scores = [
        {
            "scorer": name,
            "value": score.value,
            "answer": score.answer,
            "reason": score.reason,
            "invalid": score.invalid,
            "version": score.version,
        }
        for name, score in row.scores.items()
    ]
    return {**flat_values(row, extras), "scores": scores}
