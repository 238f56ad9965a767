"""JUnit XML, which every CI system shows: trials as test cases, or gates as test cases."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from xml.sax.saxutils import escape, quoteattr

from msgspec import Struct

from proctor.domain.documents.result import TrialResult
from proctor.domain.text import visible
from proctor.domain.trial import Outcome
from proctor.metrics.rounding import figure_text
from proctor.reports.rows import RunRows

RIGHT = 0.5
"""A mark from here on counts as right."""
MAX_TEXT_LENGTH = 4_000
UNPRINTABLE = re.compile("[\ud800-\udfff\ufffe\uffff]")
"""What XML does not allow, beside control characters."""


class JunitCase(Struct, frozen=True):
    """One test case; `problem` is None when it passed. `kind` is `error` for a fault, else `failure`."""

    group: str
    name: str
    seconds: float | None = None
    problem: str | None = None
    kind: str = "failure"
    details: str = ""


def export_junit(rows: RunRows) -> Iterator[bytes]:
    """One test case a trial; reads twice, because the counts come first, and keeps nothing."""
    counts = {"tests": 0, "failure": 0, "error": 0}
    seconds = 0.0
    for case in map(_case, rows):
        _count(counts, case)
        seconds += case.seconds or 0.0
    yield from _suite(f"proctor {rows.run_id}", counts, seconds, map(_case, rows))


def gates_junit(name: str, cases: Sequence[JunitCase]) -> str:
    """One test case a gate."""
    counts = {"tests": 0, "failure": 0, "error": 0}
    for case in cases:
        _count(counts, case)
    return b"".join(_suite(name, counts, 0.0, iter(cases))).decode()


def _count(counts: dict[str, int], case: JunitCase) -> None:
    counts["tests"] += 1
    if case.problem is not None:
        counts[case.kind] += 1


def _suite(name: str, counts: Mapping[str, int], seconds: float, cases: Iterator[JunitCase]) -> Iterator[bytes]:
    numbers = f'tests="{counts["tests"]}" failures="{counts["failure"]}" errors="{counts["error"]}"'
    head = f'{numbers} time="{seconds:.3f}"'
    yield f'<?xml version="1.0" encoding="UTF-8"?>\n<testsuites {head}>\n'.encode()
    yield f"<testsuite name={_quoted(name)} {head}>\n".encode()
    for case in cases:
        yield _case_xml(case).encode()
    yield b"</testsuite>\n</testsuites>\n"


def _case(row: TrialResult) -> JunitCase:
    group = f"{row.benchmark}.{row.side or row.model}"
    name = row.sample_id if row.epoch == 0 else f"{row.sample_id} (epoch {row.epoch})"
    problem, kind = _problem(row)
    details = "" if problem is None else _details(row)
    return JunitCase(group, name, row.latency_seconds, problem, kind, details)


def _problem(row: TrialResult) -> tuple[str | None, str]:
    if row.outcome is Outcome.FAILED:
        return row.error or "no scorer could measure the answer", "error"
    wrong = {name: score for name, score in row.scores.items() if score.value is not None and score.value < RIGHT}
    if not wrong:
        return None, "failure"
    start = "invalid: " if row.outcome is Outcome.INVALID else ""
    return start + "; ".join(
        f"{name} {figure_text(score.value or 0.0, 6)}: {score.reason}" for name, score in wrong.items()
    ), "failure"


def _details(row: TrialResult) -> str:
    parts = {"input": row.input, "target": row.target, "response": row.response}
    return "\n".join(f"{name}: {text[:MAX_TEXT_LENGTH]}" for name, text in parts.items() if text is not None)


def _case_xml(case: JunitCase) -> str:
    time = "" if case.seconds is None else f' time="{case.seconds:.6f}"'
    head = f"<testcase classname={_quoted(case.group)} name={_quoted(case.name)}{time}"
    if case.problem is None:
        return f"{head}/>\n"
    body = escape(_clean(case.details))
    return f"{head}><{case.kind} message={_quoted(case.problem)}>{body}</{case.kind}></testcase>\n"


def _quoted(text: str) -> str:
    return quoteattr(_clean(text), {"\n": "&#10;", "\t": "&#9;", "\r": "&#13;"})


def _clean(text: str) -> str:
    """XML cannot hold every character, not even escaped."""
    return UNPRINTABLE.sub("\ufffd", visible(text))
