"""A run's complete responses as one artifact: what every figure of it was computed from, in one file."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import orjson

from proctor.domain.artifacts import Artifacts
from proctor.domain.documents.document import json_bytes
from proctor.domain.documents.result import EXTRAS
from proctor.runs.results import trial_result
from proctor.stores.database import Database
from proctor.stores.result_rows import ResultRow
from proctor.stores.results import ResultStore

_GZIP = 31


class RawDataStoppedError(Exception):
    """Whoever kept them was told to stop: nothing is kept."""


def keep_raw_data(
    database: Database, run_id: str, artifacts: Artifacts, go_on: Callable[[], bool] = lambda: True
) -> str:
    """Keep every attempt of a run, with prompts, whole responses and scores, as gzip of JSONL; gives its key.

    The rows are those of `proctor export --all-attempts --with prompt,metadata,choices,tags`, with the contents of
    files. It is read and compressed a row at a time; the same rows give the same key. Raises RawDataStoppedError once
    `go_on` says no.
    """
    rows = _while(go_on, ResultStore(database).results(run_id, all_attempts=True))
    return artifacts.put(f"{run_id}.jsonl.gz", _compressed(map(_line, rows)))


def _while(go_on: Callable[[], bool], rows: Iterable[ResultRow]) -> Iterator[ResultRow]:
    for row in rows:
        if not go_on():
            raise RawDataStoppedError
        yield row


def _line(row: ResultRow) -> bytes:
    return json_bytes({**trial_result(row, extras=EXTRAS).document, **_files(row)}, orjson.OPT_APPEND_NEWLINE)


def _files(row: ResultRow) -> dict[str, Any]:
    """Whole files, of which an export has only the sizes."""
    more = orjson.loads(row.more) if row.more else {}
    return {"files": more["files"]} if "files" in more else {}


def _compressed(lines: Iterable[bytes]) -> Iterator[bytes]:
    packer = zlib.compressobj(wbits=_GZIP)
    for line in lines:
        if chunk := packer.compress(line):
            yield chunk
    yield packer.flush()
