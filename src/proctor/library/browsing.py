"""Samples to look through in a notebook, with comments that stand on the run for everybody."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from msgspec.structs import asdict

from proctor.client.client import Client
from proctor.domain.documents.annotation import Comment
from proctor.domain.documents.result import TrialResult
from proctor.domain.errors import PlanError, ProctorError
from proctor.domain.text import visible
from proctor.library.place import opened
from proctor.library.run import Run
from proctor.library.stored import Home
from proctor.runs.results import read_page, trial_result
from proctor.stores.annotations import AnnotationStore, CommentRow
from proctor.stores.runs import RunStore

if TYPE_CHECKING:
    import anywidget

LIMIT = 200
MAX_TEXT = 20_000
"""Characters of a text that are sent to the page."""
MAX_COMMENT = 20_000
AUTHOR = "local"
"""Who comments where there are no accounts, as on a server without them."""


class SampleSource(Protocol):
    """Where samples are read and comments are kept; runs are named in full."""

    def find(self, run: str) -> str: ...
    def rows(self, run: str, *, is_wrong: bool, limit: int) -> Sequence[tuple[str, TrialResult]]: ...
    def comments(self, run: str) -> Sequence[Comment]: ...
    def comment(self, run: str, text: str, result_id: str | None) -> Comment: ...


class StoredSamples:
    """Samples of this machine's own store."""

    def __init__(self, home: Home) -> None:
        self._home = home

    def find(self, run: str) -> str:
        with opened(self._home) as database:
            return RunStore(database).get(run).id

    def rows(self, run: str, *, is_wrong: bool, limit: int) -> Sequence[tuple[str, TrialResult]]:
        with opened(self._home) as database:
            rows, _ = read_page(database, run, {}, limit=limit, is_wrong=is_wrong)
            return [(str(row.id), trial_result(row)) for row in rows]

    def comments(self, run: str) -> Sequence[Comment]:
        with opened(self._home) as database:
            return [_comment(row) for row in AnnotationStore(database).comments(run, limit=500)]

    def comment(self, run: str, text: str, result_id: str | None) -> Comment:
        with opened(self._home) as database:
            result = None if result_id is None else int(result_id)
            return _comment(AnnotationStore(database).add_comment(run, result, AUTHOR, text))


class ServedSamples:
    """Samples of a server's runs."""

    def __init__(self, client: Client) -> None:
        self._client = client

    def find(self, run: str) -> str:
        return self._client.run(run).run_id

    def rows(self, run: str, *, is_wrong: bool, limit: int) -> Sequence[tuple[str, TrialResult]]:
        found = []
        for row in self._client.results(run, wrong=is_wrong, limit=min(limit, 500)):
            found.append((row.result_id, row))
            if len(found) == limit:
                break
        return found

    def comments(self, run: str) -> Sequence[Comment]:
        return list(self._client.comments(run))

    def comment(self, run: str, text: str, result_id: str | None) -> Comment:
        return self._client.comment(run, text, result_id=result_id)


def browse(
    run: Run | str = "latest",
    *,
    client: Client | None = None,
    wrong: bool = False,
    limit: int = LIMIT,
    home: Path | str | None = None,
) -> anywidget.AnyWidget:
    """A widget with a run's samples: prompts, answers, marks, reasons and comments.

    `client` reads the run from a server and comments there, under the name of its key; otherwise it is a run of this
    machine. `wrong` shows only answers below the full mark.
    """
    if limit < 1:
        raise PlanError(f"limit is at least 1, not {limit}.")
    try:
        from proctor.library.sample_widget import SampleBrowser
    except ImportError as error:
        raise ImportError("browse() needs anywidget: pip install 'proctor[notebook]'") from error
    source: SampleSource = StoredSamples(home) if client is None else ServedSamples(client)
    return SampleBrowser(BrowsedSamples(source, source.find(run.id if isinstance(run, Run) else run), wrong, limit))


class BrowsedSamples:
    """What the widget shows, in plain values, and what it may ask for."""

    def __init__(self, source: SampleSource, run_id: str, is_wrong: bool, limit: int) -> None:
        self._source, self.run_id, self._is_wrong, self._limit = source, run_id, is_wrong, limit

    def samples(self) -> list[dict[str, Any]]:
        rows = self._source.rows(self.run_id, is_wrong=self._is_wrong, limit=self._limit)
        return [_shown(result_id, row) for result_id, row in rows]

    def comments(self) -> list[dict[str, Any]]:
        found = self._source.comments(self.run_id)
        return [{**asdict(one), "author": _cut(one.author), "text": _cut(one.text)} for one in found]

    def add_comment(self, message: Mapping[str, Any]) -> str:
        """Keep what was typed; gives why not, or nothing."""
        text, result_id = message.get("comment"), message.get("result_id")
        if not isinstance(text, str) or not text.strip():
            return "An empty comment is not kept."
        if len(text) > MAX_COMMENT:
            return f"A comment has at most {MAX_COMMENT:,} characters, not {len(text):,}."
        if result_id is not None and not (isinstance(result_id, str) and result_id.isdecimal()):
            return "There is no such sample."
        try:
            self._source.comment(self.run_id, text.strip(), result_id)
        except ProctorError as error:
            return str(error)
        return ""


def _shown(result_id: str, row: TrialResult) -> dict[str, Any]:
    scores = [
        {"name": name, "value": score.value, "answer": _cut(score.answer), "reason": _cut(score.reason)}
        for name, score in row.scores.items()
    ]
    return {
        "result_id": result_id,
        "sample_id": _cut(row.sample_id),
        "model": _cut(row.model),
        "benchmark": _cut(row.benchmark),
        "category": _cut(row.category),
        "outcome": row.outcome.value,
        "input": _cut(row.input),
        "target": _cut(row.target),
        "response": _cut(row.response),
        "error": _cut(row.error),
        "scores": scores,
    }


def _cut(text: str | None) -> str | None:
    """The text as a page may show it: bounded, and without what changes the direction of the rest."""
    if text is None or len(text) <= MAX_TEXT:
        return text if text is None else visible(text)
    return f"{visible(text[:MAX_TEXT])}… ({len(text):,} characters)"


def _comment(row: CommentRow) -> Comment:
    result = None if row.response_id is None else str(row.response_id)
    return Comment(row.id, row.run_id, result, row.author, row.text, row.created_at)
