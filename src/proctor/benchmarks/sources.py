"""From the `source` of a benchmark file to its rows."""

from __future__ import annotations

from pathlib import Path

from proctor import plugins
from proctor.benchmarks.rows import Rows
from proctor.domain.errors import BenchmarkError, did_you_mean

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
        factory = plugins.load("sources", name)
    except plugins.PluginNotFoundError as unknown:
        hint = did_you_mean(name, unknown.known)
        raise BenchmarkError(
            f"No source {name!r} (in {source!r}).{hint} There are: {', '.join(unknown.known)}."
        ) from None
    rows: Rows = factory(location if mark else source, folder)
    return rows


def _format_of(source: str) -> str:
    lowered = source.lower()
    for ending, name in _FORMATS.items():
        if lowered.endswith(ending):
            return name
    raise BenchmarkError(
        f"The data file {source!r} ends in none of {', '.join(_FORMATS)}; say what it is with 'format'."
    )
