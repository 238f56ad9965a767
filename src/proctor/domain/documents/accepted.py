"""What a server says of a run that it has taken on, and of one that it shows."""

from __future__ import annotations

from collections.abc import Sequence

from proctor.domain.documents.document import Document
from proctor.domain.documents.listing import ListedRun, ShownStatus
from proctor.domain.documents.run import ShownRun
from proctor.domain.run import RunStatus


class AcceptedRun(Document, frozen=True):
    """A run that is written down; workers execute it."""

    run_id: str
    status: RunStatus


class ServedRun(ShownRun, frozen=True, kw_only=True):
    """A run as `proctor show --json` prints it, and how far it is."""

    progress: float
    """From 0 to 1."""
    shown_status: ShownStatus
    """As `status`, but `interrupted` where nobody executes a run that was begun."""
    plan_id: str | None = None
    """The saved plan that it was made from, where it was; the plan itself may be gone since."""


class RunPage(Document, frozen=True):
    """Runs, newest first."""

    items: Sequence[ListedRun]
    next: str | None
    """What `after` is for the next page; null on the last one."""
