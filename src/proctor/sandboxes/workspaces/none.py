"""No sandbox: limits only, in a temporary folder. Chosen by an explicit flag alone, and said in every record."""

from __future__ import annotations

import platform
from pathlib import Path

from proctor.domain.workspace import WorkspaceLimits
from proctor.sandboxes.namespaces import ENVIRONMENT
from proctor.sandboxes.slot import INTERPRETER
from proctor.sandboxes.workspaces.bundle import start_command
from proctor.sandboxes.workspaces.opening import Launch, open_workspace
from proctor.sandboxes.workspaces.workspace import OpenWorkspace

WARNING = "NO SANDBOX: programs run as this user, with this user's files and network."


class Unprotected:
    """Programs run as this user; the workspace's folders have other names, put into commands and variables."""

    name = "none"
    is_isolated = False

    async def open(self, limits: WorkspaceLimits = WorkspaceLimits()) -> OpenWorkspace:  # noqa: B008  frozen
        launch = Launch(
            self.name,
            platform.release(),
            tuple(start_command(INTERPRETER)),
            is_isolated=False,
            is_hosted=True,
            is_filtered=False,
            is_notifying=False,
            network="host",
            path=f"{Path(INTERPRETER).parent}:{ENVIRONMENT['PATH']}",
            notes={"warning": WARNING},
        )
        return await open_workspace(launch, limits)

    async def close(self) -> None:
        """Workspaces are closed one by one; a runner holds nothing."""


def create() -> Unprotected:
    return Unprotected()
