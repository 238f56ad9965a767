"""What a member may do in a project: each role may do what the one before may."""

from __future__ import annotations

from enum import StrEnum


class Role(StrEnum):
    VIEWER = "viewer"
    EDITOR = "editor"
    OWNER = "owner"


_VIEWER = ("benchmark:read", "run:read", "results:read")
_EDITOR = (*_VIEWER, "benchmark:write", "run:write")
PERMISSIONS: dict[Role, frozenset[str]] = {
    Role.VIEWER: frozenset(_VIEWER),
    Role.EDITOR: frozenset(_EDITOR),
    Role.OWNER: frozenset((*_EDITOR, "project:admin")),
}
ADMIN = "admin:full"
"""Of the server's own administrators: every project, and who may use the server."""
KEY_SCOPES = (*sorted(PERMISSIONS[Role.OWNER]), ADMIN)
"""What a key can be given."""
