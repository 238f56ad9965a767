"""Answers of the playground as one stream (SSE) that can be opened again anywhere without a gap or a repeat.

There is no row or event per token: the id of an event says how much of each answer its reader has, `120.0e.-`: 120
characters of the first answer, the second one empty and ended, the third not begun. Whoever sends it back as
Last-Event-ID is given the rest, by this process or by another.
"""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import AsyncGenerator, Mapping, Sequence

from msgspec import Struct

from proctor.domain.documents.document import json_bytes, plain_values
from proctor.domain.documents.playground import PlaygroundAnswer
from proctor.runs.playground.live import Playground
from proctor.runs.playground.reading import read_ask
from proctor.runs.playground.showing import Reader, answer_of, even_length, is_revealed
from proctor.server.events import BEAT, BEAT_SECONDS, RETRY
from proctor.stores.database import Database
from proctor.stores.playground import OPEN_STATES, AnswerRow, AskRow

LOOK_SECONDS = 0.5
"""How often the database is asked about an ask of another process."""
GATHER_SECONDS = 0.015
"""Pieces that come closer together than this are sent in one event."""
EVEN_RATE = 600.0
"""Characters a second of every answer while names are hidden, at most."""
_PART = re.compile(r"-|(\d{1,9})(?:\+(\d{1,9}))?(e?)")


class AnswerCursor(Struct, frozen=True):
    """What a reader has of one answer."""

    is_started: bool = False
    text: int = 0
    reasoning: int = 0
    has_ended: bool = False

    def __str__(self) -> str:
        if not self.is_started:
            return "-"
        return f"{self.text}{f'+{self.reasoning}' if self.reasoning else ''}{'e' if self.has_ended else ''}"


def read_cursor(text: str, slots: Sequence[str]) -> dict[str, AnswerCursor] | None:
    """What Last-Event-ID says of each answer; None where it is no id of this stream. Empty: nothing was seen."""
    if not text:
        return {slot: AnswerCursor() for slot in slots}
    parts = [_PART.fullmatch(part) for part in text.split(".")]
    if len(parts) != len(slots):
        return None
    found = {}
    for slot, part in zip(slots, parts, strict=True):
        if part is None:
            return None
        seen = AnswerCursor() if part[0] == "-" else AnswerCursor(True, int(part[1]), int(part[2] or 0), bool(part[3]))
        found[slot] = seen
    return found


class AskStream:
    """One reader's stream of one ask."""

    def __init__(self, playground: Playground, database: Database, row: AskRow, reader: Reader) -> None:
        self._playground, self._database, self._row = playground, database, row
        self._is_shown = is_revealed(row, reader)
        self._even = 0.0
        """How much of every text may be shown by now, while names are hidden."""
        self._looked_at = time.monotonic()

    async def follow(self, seen: Mapping[str, AnswerCursor], ending: asyncio.Event) -> AsyncGenerator[bytes, None]:
        """What the reader has not seen, as it comes, until every answer has ended or the server does."""
        seen = dict(seen)
        self._even = float(max((one.text for one in seen.values()), default=0))
        yield RETRY
        beat_at = time.monotonic() + BEAT_SECONDS
        while not ending.is_set():
            live = self._playground.find(self._row.id)
            changed = None if live is None else live.changed
            rows = live.rows() if live is not None else await asyncio.to_thread(self._read)
            content = b"".join(self._events(rows, seen))
            if content:
                beat_at = time.monotonic() + BEAT_SECONDS
                yield content
            # Whoever reads the ask after its end finds all of it written down.
            if all(one.has_ended for one in seen.values()) and (live is None or live.done.is_set()):
                yield _event("end", {"ask_id": self._row.id}, seen)
                return
            if time.monotonic() >= beat_at:
                beat_at = time.monotonic() + BEAT_SECONDS
                yield BEAT
            await self._wait(changed, is_pacing=not self._is_shown)

    async def _wait(self, changed: asyncio.Event | None, *, is_pacing: bool) -> None:
        if changed is None or is_pacing:
            await asyncio.sleep(LOOK_SECONDS if changed is None and not is_pacing else 0.1)
            return
        try:
            async with asyncio.timeout(LOOK_SECONDS * 2):
                await changed.wait()
        except TimeoutError:
            return
        await asyncio.sleep(GATHER_SECONDS)

    def _read(self) -> Sequence[AnswerRow]:
        return read_ask(self._database, self._row.id).answers

    def _events(self, rows: Sequence[AnswerRow], seen: dict[str, AnswerCursor]) -> list[bytes]:
        found = []
        most = None if self._is_shown else self._even_length(rows)
        for row in rows:
            for name, data, now in self._of_answer(row, seen[row.slot], most):
                seen[row.slot] = now
                found.append(_event(name, {"answer": row.slot, **data}, seen))
        return found

    def _even_length(self, rows: Sequence[AnswerRow]) -> int:
        """How much of every text may be shown: no more than the slowest has, and never a jump."""
        now = time.monotonic()
        bound = even_length(rows)
        allowed = self._even + EVEN_RATE * (now - self._looked_at)
        longest = max((len(row.text) for row in rows), default=0)
        self._looked_at, self._even = now, min(allowed, float(longest if bound is None else bound))
        return int(self._even)

    def _of_answer(
        self, row: AnswerRow, seen: AnswerCursor, most: int | None
    ) -> list[tuple[str, dict[str, object], AnswerCursor]]:  # fmt: skip
        """The events of one answer that the reader has not seen."""
        if seen.has_ended:
            return []
        found: list[tuple[str, dict[str, object], AnswerCursor]] = []
        shown = answer_of(row, is_shown=self._is_shown, most=most)
        if not seen.is_started:
            seen = AnswerCursor(True)
            found.append(("start", {"model": shown.model}, seen))
        is_replaced = bool(row.details.get("is_replaced"))
        text, reasoning = shown.text[seen.text :], (shown.reasoning or "")[seen.reasoning :]
        if (text or reasoning) and not is_replaced:
            seen = AnswerCursor(True, seen.text + len(text), seen.reasoning + len(reasoning))
            delta: dict[str, object] = {"text": text} if text else {}
            if shown.first_token_seconds is not None:
                delta["first_token_seconds"] = shown.first_token_seconds
            found.append(("delta", {**delta, **({"reasoning": reasoning} if reasoning else {})}, seen))
        if shown.state not in OPEN_STATES:
            seen = AnswerCursor(True, seen.text, seen.reasoning, True)
            name = "complete" if shown.state == "complete" else "error"
            found.append((name, _ended(shown, is_replaced=is_replaced), seen))
        return found


def _ended(shown: PlaygroundAnswer, *, is_replaced: bool) -> dict[str, object]:
    """What is known once an answer has ended; its text only where that is not what was streamed."""
    fields = plain_values(shown)
    left_out = ("answer", "reasoning") if is_replaced else ("answer", "text", "reasoning")
    return {name: value for name, value in fields.items() if name not in left_out}


def _event(name: str, data: Mapping[str, object], seen: Mapping[str, AnswerCursor]) -> bytes:
    cursor = ".".join(str(seen[slot]) for slot in sorted(seen))
    return b"id: %s\nevent: %s\ndata: %s\n\n" % (cursor.encode(), name.encode(), json_bytes(data))
