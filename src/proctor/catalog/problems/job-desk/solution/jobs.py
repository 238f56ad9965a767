"""A job and the states it goes through."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

State = Literal["waiting", "leased", "done", "dead"]
STATES: tuple[State, ...] = ("waiting", "leased", "done", "dead")


@dataclass(slots=True)
class Job:
    """A piece of work; what stands below `state` changes over its life."""

    id: str
    queue: str
    payload: Any
    priority: int
    number: int
    """Its place among all jobs, in the order of posting."""
    max_attempts: int
    key: str | None = None
    state: State = "waiting"
    attempts: int = 0
    token: str | None = None
    until: float = 0.0
    """When its delay is over, or its lease runs out."""

    @property
    def rank(self) -> tuple[int, int]:
        """Sorts jobs in the order in which they are handed out."""
        return -self.priority, self.number

    def changing(self) -> dict[str, Any]:
        """Give what changes over its life, to be remembered."""
        return {
            "id": self.id,
            "state": self.state,
            "attempts": self.attempts,
            "token": self.token,
            "until": self.until,
        }

    def shown(self) -> dict[str, Any]:
        """Give what clients may see."""
        return {
            "id": self.id,
            "queue": self.queue,
            "state": self.state,
            "attempts": self.attempts,
            "priority": self.priority,
            "payload": self.payload,
        }
