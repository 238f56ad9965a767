"""Whose data may be seen: one project's, or all of it by the command line on its own database."""

from __future__ import annotations

import re

from msgspec import Struct

from proctor.domain.errors import UserError

LOCAL = "local"
"""The project of whoever has only one."""
_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,62}")


class Scope(Struct, frozen=True):
    """Everything when `project` is None; what is written then belongs to the project `local`."""

    project: str | None = None

    def __post_init__(self) -> None:
        if self.project is not None:
            check_project_name(self.project)

    @property
    def owner(self) -> str:
        """The project that what is written belongs to."""
        return self.project or LOCAL


EVERYTHING = Scope()


def check_project_name(name: str) -> str:
    """The name itself; raises UserError for one that no project can have."""
    if not _NAME.fullmatch(name):
        raise UserError(
            f"{name!r} cannot be a project's name: 1 to 63 lower-case letters, digits and hyphens, not a hyphen first."
        )
    return name
