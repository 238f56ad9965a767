"""Data that was uploaded to a server: it lies beside the benchmark file that names it."""

from __future__ import annotations

from pathlib import Path

from proctor.benchmarks.rows import Rows
from proctor.benchmarks.sources import open_rows
from proctor.domain.errors import BenchmarkError

FOLDER = "uploads"


def read_upload(location: str, folder: Path) -> Rows:
    """The rows of `upload://FILE`, as a server has laid them out for whoever reads the benchmark."""
    found = sorted((folder / FOLDER).glob(f"{location}.*")) if location.replace("-", "").isalnum() else []
    if not found:
        raise BenchmarkError(f"upload://{location} is a file on a server, and is read there only.")
    return open_rows(f"{FOLDER}/{found[0].name}", folder)
