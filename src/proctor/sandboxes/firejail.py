"""firejail: a set-user-id tool that hides folders one by one; it needs an account of its own to run code as."""

from __future__ import annotations

import os
import pwd
from pathlib import Path

from proctor.domain.errors import SandboxError
from proctor.sandboxes.cold import bootstrap, cold_pool, interpreter, sized_folder, tool
from proctor.sandboxes.pool import SandboxPool
from proctor.sandboxes.system import shown

NAME = "firejail"
ACCOUNT = "proctor-sandbox"
_OWN = ("/proc", "/dev", "/etc", "/tmp", "/run", "/home")  # noqa: S108  it makes these itself
_ETC = "passwd,group,ld.so.cache,alternatives,localtime"


def _as_account(account: str) -> list[str]:
    """firejail looks its user up, so a bare user id will not do; code never runs as root."""
    if os.geteuid() != 0:
        return []
    try:
        entry = pwd.getpwnam(account)
    except KeyError:
        raise SandboxError(
            f"firejail needs an account to run code as: useradd -r -m -d /var/lib/{account} -s /bin/sh {account}"
        ) from None
    return [
        tool("setpriv"),
        "--reuid",
        str(entry.pw_uid),
        "--regid",
        str(entry.pw_gid),
        "--clear-groups",
        "--inh-caps=-all",
    ]


def hidden(python: Path) -> list[str]:
    """Everything but what is shown, folder by folder; firejail itself needs /run, and empties /home."""
    seen = shown(python)
    kept = (*seen.paths, *_OWN)
    run = [f"/run/{name}" for name in sorted(path.name for path in Path("/run").iterdir()) if name != "firejail"]
    paths = [*_beside("/", kept), *run, *seen.covered]
    return [f"--blacklist={path}" for path in paths if not Path(path).is_symlink()]


def _beside(folder: str, kept: tuple[str, ...]) -> list[str]:
    """What lies in the folder, or in one on the way to what is kept, and is not kept."""
    found: list[str] = []
    for path in sorted(str(entry) for entry in Path(folder).iterdir()):
        if path in kept:
            continue
        is_on_the_way = any(one.startswith(f"{path}/") for one in kept)
        found += _beside(path, kept) if is_on_the_way else [path]
    return found


def command(python: Path, account: str = ACCOUNT) -> list[str]:
    is_root = os.geteuid() == 0
    return [
        *(sized_folder("/tmp") if is_root else ()),  # noqa: S108  over the machine's, for the run alone
        *_as_account(account),
        tool("firejail"),
        *(
            "--quiet",
            "--noprofile",
            "--net=none",
            "--private",
            "--private-dev",
            f"--private-etc={_ETC}",
        ),
        *(() if is_root else ("--private-tmp",)),
        *(
            "--private-cwd=/tmp",
            "--caps.drop=all",
            "--nonewprivs",
            "--noroot",
            "--restrict-namespaces",
            "--hostname=sandbox",
        ),
        *hidden(python),
        "--keep-fd={fds}",
        "--",
    ]


def create(*, parallel: int | None = None, account: str = ACCOUNT) -> SandboxPool:
    python = interpreter()
    return cold_pool(
        NAME,
        command(python, account),
        python=python,
        inside=bootstrap(),
        parallel=parallel,
        is_carrying=True,
        is_disk_supervised=os.geteuid() != 0,  # only root can give its /tmp a size
    )
