"""From the `source` of a benchmark file to its rows."""

from __future__ import annotations

from pathlib import Path

from proctor import plugins
from proctor.benchmarks.rows import Rows
from proctor.domain.errors import BenchmarkError

_FORMATS = {
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".jsonl.gz": "jsonl",
    ".json": "json",
    ".csv": "csv",
    ".tsv": "csv",
    ".parquet": "parquet",
}


def open_rows(source: str, folder: Path, format_name: str | None = None) -> Rows:
    """Rows of a file relative to `folder`, or of `scheme://…`; a source is a plugin, called as (location, folder)."""
    scheme, mark, location = source.partition("://")
    name = scheme if mark else format_name or _format_of(source)
    try:
        rows: Rows = plugins.create("sources", name, location if mark else source, folder)
    except plugins.PluginNotFoundError as unknown:
        raise BenchmarkError(
            f"No source {name!r} (in {source!r}).{unknown.hint} There are: {', '.join(unknown.known)}."
        ) from None
    return rows


def _format_of(source: str) -> str:
    lowered = source.lower()
    for ending, name in _FORMATS.items():
        if lowered.endswith(ending):
            return name
    if (own := Path(lowered).suffix.removeprefix(".")) and plugins.is_known("sources", own):
        return own  # a plugin reads the files that are called after it
    raise BenchmarkError(
        f"The data file {source!r} ends in none of {', '.join(_FORMATS)}; say what it is with 'format'."
    )
