"""The default runner: namespaces made by `bwrap`, once per workspace."""

from __future__ import annotations

import os
import subprocess
from functools import cache
from pathlib import Path

from proctor.domain.workspace import WorkspaceLimits
from proctor.sandboxes import bubblewrap
from proctor.sandboxes.cold import drop_privileges, interpreter, tool
from proctor.sandboxes.inside.agent_files import Folders
from proctor.sandboxes.namespaces import ENVIRONMENT
from proctor.sandboxes.workspaces.accounts import lease
from proctor.sandboxes.workspaces.bundle import start_command
from proctor.sandboxes.workspaces.opening import Launch, open_workspace
from proctor.sandboxes.workspaces.workspace import OpenWorkspace

_SHARED_MEMORY = 16 << 20
_INSIDE_UID = "65534"
DATA = {
    "hosts": "127.0.0.1 localhost sandbox\n::1 localhost\n",
    "nsswitch.conf": "passwd: files\ngroup: files\nhosts: files dns\n",
    "passwd": f"sandbox:x:{_INSIDE_UID}:{_INSIDE_UID}::/tmp:/bin/sh\n",
    "group": f"sandbox:x:{_INSIDE_UID}:\n",
}
"""The few files of /etc that programs ask for; nothing of the host's."""


@cache
def _version(path: str) -> str:
    done = subprocess.run([path, "--version"], capture_output=True, check=False, timeout=20)  # noqa: S603  the tool itself
    return done.stdout.decode(errors="replace").split()[-1] if done.returncode == 0 else "unknown"


class Bubblewrap:
    """Workspaces in namespaces of their own, without any service to run first."""

    name = "bubblewrap"
    is_isolated = True

    def __init__(self) -> None:
        self._tool = tool("bwrap")
        self._python = interpreter()

    def command(self, limits: WorkspaceLimits, uid: int) -> list[str]:
        folders: list[str] = []
        for name in Folders.NAMES:
            folders += ["--size", str(limits.disk_bytes), "--tmpfs", name]
        return [
            *(part.format(uid=uid) for part in drop_privileges()),
            self._tool,
            *("--unshare-all", "--unshare-user", "--disable-userns", "--die-with-parent", "--as-pid-1"),
            *("--new-session", "--info-fd", "{info}", "--hostname", "sandbox"),
            *("--uid", _INSIDE_UID, "--gid", _INSIDE_UID, "--cap-drop", "ALL"),
            *bubblewrap.binds(self._python),
            *(part for name in DATA for part in ("--ro-bind-data", f"{{data:{name}}}", f"/etc/{name}")),
            *("--proc", "/proc", "--dev", "/dev"),
            *folders,
            *("--size", str(_SHARED_MEMORY), "--tmpfs", "/dev/shm", "--remount-ro", "/dev"),  # noqa: S108
            *("--chdir", "/work", "--remount-ro", "/", "--"),
            *start_command(str(self._python)),
        ]

    async def open(self, limits: WorkspaceLimits = WorkspaceLimits()) -> OpenWorkspace:  # noqa: B008  frozen
        uid, held = lease()
        try:
            launch = Launch(
                self.name,
                _version(self._tool),
                tuple(self.command(limits, uid)),
                is_telling_pid=True,
                data=DATA,
                is_counting_users=True,
                enforced_by={"disk": "tmpfs and supervision"},
                kept=(held.fileno(),) if held is not None else (),
                path=_path(self._python),
            )
            return await open_workspace(launch, limits)
        finally:
            if held is not None:
                held.close()  # the supervisor has its own copy by now

    async def close(self) -> None:
        """Workspaces are closed one by one; a runner holds nothing."""


def _path(python: Path) -> str:
    usual = ENVIRONMENT["PATH"]
    return usual if str(python).startswith("/usr/") else f"{python.parent}{os.pathsep}{usual}"


def create() -> Bubblewrap:
    return Bubblewrap()
