"""Spans of what is done, for whoever follows traces; where nobody does, nothing is imported and nothing is kept.

A span says what was done, for how long and with what end; prompts, answers and programs are in none.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Literal, Protocol

Attribute = str | int | float | bool | tuple[str, ...]
Attributes = Mapping[str, Attribute | None]
"""What is None is left out."""
Kind = Literal["internal", "client"]
NONE: Attributes = {}


class TraceSpan(Protocol):
    def set(self, attributes: Attributes) -> None:
        """Add what is known by now."""

    def current(self) -> AbstractContextManager[None]:
        """What is begun within the block is a part of it."""
        ...

    def fail(self, kind: str) -> None:
        """It ended with a fault of this kind; what the fault says is not kept."""

    def end(self) -> None:
        """It is over; calling it twice is harmless."""


class Tracer(Protocol):
    def begin(self, name: str, attributes: Attributes, kind: Kind, parent: str | None) -> TraceSpan: ...

    def close(self) -> None:
        """Send what is not sent yet, for as long as that takes seconds."""

    def current(self) -> str | None:
        """The current span for another process, in the form of the header `traceparent`."""
        ...


class _Nothing:
    def set(self, _: Attributes) -> None:
        return

    def current(self) -> AbstractContextManager[None]:
        return _NOWHERE

    def fail(self, _: str) -> None:
        return

    def end(self) -> None:
        return


NOTHING: TraceSpan = _Nothing()
_NOWHERE = nullcontext()
_UNTRACED = nullcontext(NOTHING)
"""Blocks of which nothing is kept: one for all, for every trial enters several."""
_TRACERS: list[Tracer] = []


def begin_span(
    name: str, attributes: Attributes = NONE, *, kind: Kind = "internal", parent: str | None = None
) -> TraceSpan:
    """A span that whoever begins it ends; a part of the current one where no parent is named."""
    return _TRACERS[0].begin(name, attributes, kind, parent) if _TRACERS else NOTHING


def span(
    name: str, attributes: Attributes = NONE, *, kind: Kind = "internal", parent: str | None = None
) -> AbstractContextManager[TraceSpan]:
    """A span for as long as the block lasts; an exception that leaves the block is its fault."""
    return _traced(begin_span(name, attributes, kind=kind, parent=parent)) if _TRACERS else _UNTRACED


@contextmanager
def _traced(found: TraceSpan) -> Iterator[TraceSpan]:
    try:
        with found.current():
            yield found
    except BaseException as error:
        found.fail(type(error).__name__)
        raise
    finally:
        found.end()


def is_traced() -> bool:
    return bool(_TRACERS)


def trace_context() -> dict[str, str]:
    """What another process needs to go on with the current trace."""
    found = _TRACERS[0].current() if _TRACERS else None
    return {} if found is None else {"traceparent": found}


def end_tracing() -> None:
    """Send what is left; nothing is traced from now on."""
    for tracer in _TRACERS:
        tracer.close()
    _TRACERS.clear()


def trace_with(tracer: Tracer) -> None:
    """From now on this process's spans go there."""
    _TRACERS[:] = [tracer]
