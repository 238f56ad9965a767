"""Exports larger than the memory that they may take: read, written and sent a little at a time, in every format."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from proctor.stores.database import Database
from server.serving import Server, serving

pytestmark = pytest.mark.untraced
ANSWERS, LENGTH = 500, 200_000
MOST_MB = 48.0
"""More than a page of rows and a row group take, and half of what the answers are long together."""
SMALL, LARGE = ({"models": ["demo/weak"], "benchmarks": [f"puzzles?count={count}"]} for count in (3, ANSWERS))
FORMATS = ("jsonl", "csv", "junit", "parquet", "inspect")


def memory_mb(server: Server, name: str) -> float:
    status = Path(f"/proc/{server.process.pid}/status").read_text(encoding="utf-8")
    return int(re.findall(rf"^{name}:\s+(\d+) kB", status, re.MULTILINE)[0]) / 1024


def size_of(server: Server, path: str) -> int:
    """How long the answer is; no more than a piece of it is kept here."""
    connection, answer = server.open("GET", path)
    size = 0
    while piece := answer.read(2**16):
        size += len(piece)
    connection.close()
    assert answer.status == 200
    return size


@pytest.mark.parametrize("database_engine", ["sqlite", "postgresql"], indirect=True)
def test_no_export_takes_memory_for_the_whole_of_it(database: Database, home: Path, tmp_path: Path) -> None:
    with serving(home, tmp_path) as server:
        small, large = server.run(SMALL), server.run(LARGE)
        with database.connection() as connection:
            mine = (
                "SELECT responses.id FROM responses JOIN evaluations ON evaluations.id = evaluation_id WHERE run_id = ?"
            )
            ids = [row[0] for row in connection.execute(mine, [large]).fetchall()]
            assert len(ids) == ANSWERS
            for number in ids:
                text = f"{number} " * (LENGTH // (len(str(number)) + 1))
                connection.execute("UPDATE bodies SET text = ? WHERE response_id = ?", [text, number])
        grown = {}
        for name in FORMATS:
            size_of(server, f"/api/v1/runs/{small}/export?format={name}")  # what it imports
            Path(f"/proc/{server.process.pid}/clear_refs").write_text("5", encoding="utf-8")  # forget the highest
            before = memory_mb(server, "VmRSS")
            size = size_of(server, f"/api/v1/runs/{large}/export?format={name}")
            grown[name] = memory_mb(server, "VmHWM") - before
            if name in ("jsonl", "csv", "inspect"):  # others shorten or compress
                assert size > 0.9 * ANSWERS * LENGTH
        assert max(grown.values()) < MOST_MB, grown
