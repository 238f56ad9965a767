"""Notices of a run on standard error."""

from __future__ import annotations

from proctor.cli.echo import echo
from proctor.domain.event import Event, NoticeGiven


def show_notices(event: Event) -> None:
    """Shown as they come, whatever view is on."""
    if isinstance(event, NoticeGiven):
        echo(event.text, err=True)
