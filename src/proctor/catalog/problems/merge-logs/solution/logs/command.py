"""The two commands."""

import heapq
import json
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import ExitStack

from logs.records import LEVELS, Instant, Record, open_all


def merge(
    names: list[str],
    *,
    since: Instant | None,
    until: Instant | None,
    level: str | None,
    is_deduping: bool,
) -> int:
    """Write the records that are wanted in order of time; gives the exit code."""
    least = LEVELS.index(level) if level else 0
    with ExitStack() as stack:
        logs = open_all(names, stack)
        records: Iterable[Record] = heapq.merge(
            *logs, key=lambda record: record.instant
        )
        wanted = (
            record
            for record in records
            if record.level >= least
            and (since is None or record.instant >= since)
            and (until is None or record.instant < until)
        )
        for record in _deduped(wanted) if is_deduping else wanted:
            sys.stdout.buffer.write(record.line + b"\n")
    sys.stdout.buffer.flush()
    return 1 if any(log.bad for log in logs) else 0


def _deduped(records: Iterable[Record]) -> Iterator[Record]:
    now: Instant | None = None
    written: set[bytes] = set()
    for record in records:
        if record.instant != now:
            now = record.instant
            written.clear()
        if record.line not in written:
            written.add(record.line)
            yield record


def stats(names: list[str]) -> int:
    """Write the counts; gives the exit code."""
    levels: Counter[int] = Counter()
    files: Counter[str] = Counter()
    with ExitStack() as stack:
        logs = open_all(names, stack)
        for log in logs:
            files[log.name] += 0
            for record in log:
                levels[record.level] += 1
                files[log.name] += 1
    bad = sum(log.bad for log in logs)
    counts = {
        "records": levels.total(),
        "bad": bad,
        "levels": {name: levels[place] for place, name in enumerate(LEVELS)},
        "files": files,
    }
    print(json.dumps(counts, ensure_ascii=False))
    return 1 if bad else 0
