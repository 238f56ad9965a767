"""firejail: a set-user-id tool that hides folders one by one; it needs an account of its own to run code as."""

from __future__ import annotations

import os
import pwd
from pathlib import Path

from proctor.domain.errors import SandboxError
from proctor.sandboxes.cold import bootstrap, cold_pool, interpreter, tool
from proctor.sandboxes.pool import Pool

NAME = "firejail"
ACCOUNT = "proctor-sandbox"
_SHOWN = frozenset(("usr", "bin", "sbin", "lib", "lib32", "lib64", "libx32", "proc", "dev", "etc", "tmp"))
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


def _hidden() -> list[str]:
    """Everything at the top but the system; firejail itself needs /run, and empties /home."""
    top = [
        f"/{name}"
        for name in sorted(path.name for path in Path("/").iterdir())
        if name not in _SHOWN and name not in ("run", "home")
    ]
    run = [f"/run/{name}" for name in sorted(path.name for path in Path("/run").iterdir()) if name != "firejail"]
    return [f"--blacklist={path}" for path in (*top, *run) if not Path(path).is_symlink()]


def _sized_tmp() -> list[str]:
    """A /tmp of the right size in a mount namespace that ends with the run; firejail's own has no size."""
    mount = "mount -t tmpfs -o size={disk},nr_inodes=8192,mode=1777,nosuid,nodev proctor /tmp"
    return [tool("unshare"), "--mount", "--propagation", "private", tool("sh"), "-c", f'{mount} && exec "$@"', "sh"]


def command(account: str = ACCOUNT) -> list[str]:
    is_root = os.geteuid() == 0
    return [
        *(_sized_tmp() if is_root else ()),
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
        *_hidden(),
        "--keep-fd={fds}",
        "--",
    ]


def create(*, parallel: int | None = None, account: str = ACCOUNT) -> Pool:
    return cold_pool(
        NAME,
        command(account),
        python=interpreter(),
        inside=bootstrap(),
        parallel=parallel,
        is_carrying=True,
        is_disk_supervised=os.geteuid() != 0,  # only root can give its /tmp a size
    )
