"""Host users for workspaces: each workspace runs as one that no other workspace on this machine has."""

from __future__ import annotations

import os
import secrets
import socket

from proctor.domain.errors import SandboxError

FIRST_UID = 61_001
COUNT = 1_000
_FIRST_OF_MANY, _MANY = 1_000_000, 2_000_000_000


def anyone() -> int:
    """A user nobody has, drawn from so many that no two workspaces get the same; for machines we cannot ask."""
    return _FIRST_OF_MANY + secrets.randbelow(_MANY)


def lease() -> tuple[int, socket.socket | None]:
    """A user, and the lease on it that holds until every copy is closed; our own user where we are not root.

    A name in the kernel's table of sockets is the lease: it is given back however its holder ends, and leaves no file.
    """
    if os.geteuid() != 0:
        return os.geteuid(), None
    for uid in range(FIRST_UID, FIRST_UID + COUNT):
        taken = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        try:
            taken.bind(f"\0proctor-workspace-{uid}")
        except OSError:
            taken.close()
            continue
        return uid, taken
    raise SandboxError(f"All {COUNT} users for workspaces are taken; close some workspaces first.")
