"""Results as a Parquet file, written a row group at a time."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from io import BytesIO
from itertools import islice

from proctor.domain.documents.result import EXTRAS, TrialResult
from proctor.domain.errors import UserError
from proctor.domain.message import Json
from proctor.reports.rows import RunRows, flat_values

ROWS_PER_GROUP = 10_000


def export_parquet(rows: RunRows, *, rows_per_group: int = ROWS_PER_GROUP) -> Iterator[bytes]:
    """One row a trial, with the fields of the JSON lines; a row group at a time, so memory holds no more than one."""
    try:
        import pyarrow
        from pyarrow import parquet
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
    piece = BytesIO()
    with parquet.ParquetWriter(piece, schema, compression="zstd") as writer:
        for group in _groups(rows, rows_per_group):
            table = pyarrow.Table.from_pylist([_flat(row, rows.extras) for row in group], schema=schema)
            writer.write_table(table, row_group_size=rows_per_group)
            yield _taken(piece)
    yield _taken(piece)


def _taken(piece: BytesIO) -> bytes:
    """What was written since the last time; the writer itself counts where it is in the file."""
    content = piece.getvalue()
    piece.seek(0)
    piece.truncate()
    return content


def _groups(rows: Iterable[TrialResult], size: int) -> Iterator[list[TrialResult]]:
    walker = iter(rows)
    while group := list(islice(walker, size)):
        yield group


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
