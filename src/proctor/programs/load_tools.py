"""Which load generator is there: wrk, or Locust where that is what a machine has."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from proctor.domain.workspace import Reach
from proctor.programs import locust, wrk
from proctor.programs.load_answers import Round


@dataclass(frozen=True, slots=True)
class LoadTool:
    name: str
    version: str
    measure: Callable[[Reach, Mapping[str, Any], int], Awaitable[Round]]


def chosen() -> LoadTool | None:
    """The first that is there."""
    for name, tool in (("wrk", wrk), ("locust", locust)):
        version = tool.version()
        if version is not None:
            return LoadTool(name, version, tool.measure)
    return None
