"""What every log line and span within a piece of work says: the request that it goes back to, the run, the chunk."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar

_CONTEXT: ContextVar[Mapping[str, str]] = ContextVar("log_context", default={})  # noqa: B039 - never changed in place


def current_context() -> Mapping[str, str]:
    """The fields that hold here and now."""
    return _CONTEXT.get()


@contextmanager
def log_context(**fields: str | None) -> Iterator[None]:
    """Add fields for as long as the block lasts, also in the tasks and threads that are started within it."""
    token = _CONTEXT.set({**_CONTEXT.get(), **{name: value for name, value in fields.items() if value is not None}})
    try:
        yield
    finally:
        _CONTEXT.reset(token)
