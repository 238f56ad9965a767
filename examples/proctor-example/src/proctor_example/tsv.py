"""An export format: a line for each trial, for `proctor export -f tsv`."""

from __future__ import annotations

from collections.abc import Iterator

from proctor.reports.rows import RunRows

COLUMNS = ("sample_id", "model", "outcome", "scores")


def write(rows: RunRows) -> Iterator[bytes]:
    """Bytes, piece by piece: a run of any size then needs little memory."""
    yield _line(COLUMNS)
    for row in rows:
        scores = ",".join(f"{scorer}={score.value}" for scorer, score in row.scores.items())
        yield _line((row.sample_id, row.model, row.outcome.value, scores))


def _line(cells: tuple[str, ...]) -> bytes:
    return ("\t".join(" ".join(cell.split()) for cell in cells) + "\n").encode()
