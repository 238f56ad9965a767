"""What happened to a plan."""

from __future__ import annotations

from enum import StrEnum


class RunStatus(StrEnum):
    QUEUED = "queued"
    RUNNING = "running"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"


ENDED = (RunStatus.COMPLETED, RunStatus.FAILED, RunStatus.CANCELLED)
IMPORTED = "imported"
"""The provider of models whose answers came from the log of another tool: no leaderboard ranks them."""
CANCELLED_REASON = "the run was cancelled"
INTERRUPTED_REASON = "interrupted"
BY_HAND = (CANCELLED_REASON, INTERRUPTED_REASON)
"""Why a run stopped that somebody ended; limits end runs with other words."""
COST_LIMIT = "the cost limit"
"""How the reason begins with which a run stops that may spend no more."""
