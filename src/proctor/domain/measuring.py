"""Measurements that processes take of themselves; they go nowhere until something listens, and cost nothing then."""

from __future__ import annotations

from collections.abc import Callable, Mapping

Sink = Callable[[str, float, Mapping[str, str]], None]
_SINKS: list[Sink] = []


def measure(name: str, value: float = 1.0, **labels: str) -> None:
    """Tell whoever listens; labels have few values each: no run, no user, no model."""
    for sink in _SINKS:
        sink(name, value, labels)


def is_measured() -> bool:
    return bool(_SINKS)


def listen(sink: Sink) -> None:
    """From now on `sink` is told of every measurement of this process."""
    _SINKS.append(sink)


def stop_listening(sink: Sink) -> None:
    _SINKS.remove(sink)
