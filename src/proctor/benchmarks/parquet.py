"""Parquet files, through pyarrow where it is installed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from proctor.benchmarks.rows import Row, Rows, StreamedRows
from proctor.domain.errors import BenchmarkError

BATCH = 1024


def read_parquet(location: str, folder: Path) -> Rows:
    """The rows of a .parquet file, a batch at a time."""
    try:
        import pyarrow.parquet as pq
    except ImportError as missing:
        raise BenchmarkError(
            f"Reading {location} takes the package pyarrow: pip install 'proctor[parquet]'."
        ) from missing
    return StreamedRows(location, "row", lambda: _rows(pq, folder / location, location))


def _rows(pq: Any, path: Path, label: str) -> Iterator[Row]:
    import pyarrow as pa

    number = 0
    try:
        with pq.ParquetFile(path) as file:
            for batch in file.iter_batches(batch_size=BATCH):
                for row in batch.to_pylist():
                    number += 1
                    yield number, row
    except FileNotFoundError as missing:
        raise BenchmarkError(f"There is no data file {label}.") from missing
    except (pa.ArrowException, OSError) as fault:
        reason = " ".join(str(fault).split())
        raise BenchmarkError(f"{label} cannot be read as Parquet (after row {number}): {reason}") from fault
