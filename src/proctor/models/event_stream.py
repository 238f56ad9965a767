"""A streamed answer, put together again into the document a plain call would have given."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import orjson

from proctor.domain.errors import ModelError, ProviderFaultError
from proctor.domain.model import TextDelta
from proctor.models.faults import Target
from proctor.models.sse import EventParser

ODD = (AttributeError, IndexError, KeyError, TypeError, ValueError)
"""What reading a document of an unknown form comes upon."""


class EventStream:
    """Takes chunks as they arrive; a dialect says what an event means, and when everything has come."""

    def __init__(self, target: Target) -> None:
        self.target = target
        self.is_done = False
        """Nothing more will come: stop reading."""
        self.is_complete = False
        """More may come, but the answer would be whole without it."""
        self.first_token_at: float | None = None
        """When the first piece of the answer's text came, by `time.perf_counter`."""
        self.on_delta: Callable[[TextDelta], None] | None = None
        """Who is told of each piece of text, if anybody is."""
        self._parser = EventParser()

    def take(self, chunk: bytes) -> bool:
        """Whether the stream has said all there is to say."""
        for event in self._parser.feed(chunk):
            self._read_data(event.data)
        return self.is_done

    def finish(self) -> dict[str, Any]:
        """The whole document; raises when the stream broke off before its end."""
        if not self.is_done:
            for event in self._parser.finish():
                self._read_data(event.data)
        if not (self.is_done or self.is_complete):
            raise ProviderFaultError(f"{self.target.model} broke off its stream before the end")
        try:
            return self.document()
        except ODD:
            raise self.unreadable() from None

    def note_token(self) -> None:
        if self.first_token_at is None:
            self.first_token_at = time.perf_counter()

    def note_text(self, text: str = "", reasoning: str = "") -> None:
        """A piece of the answer, or of the thoughts before it."""
        self.note_token()
        if self.on_delta is not None:
            self.on_delta(TextDelta(text, reasoning))

    def _read_data(self, data: bytes) -> None:
        if self.is_done:
            return
        if data == b"[DONE]":
            self.read_end()
            return
        try:
            self.read(orjson.loads(data))
        except ODD:
            raise self.unreadable() from None

    def unreadable(self) -> ModelError:
        return ProviderFaultError(f"{self.target.model} sent a stream that cannot be read")

    def read_end(self) -> None:
        """The marker with which chat completions end; other dialects have none."""

    def read(self, part: dict[str, Any]) -> None:
        raise NotImplementedError

    def document(self) -> dict[str, Any]:
        raise NotImplementedError
