"""nsjail: namespaces made by Google's tool, with our filter and limits inside."""

from __future__ import annotations

from pathlib import Path

from proctor.sandboxes.cold import bootstrap, cold_pool, drop_privileges, interpreter, tool
from proctor.sandboxes.pool import SandboxPool
from proctor.sandboxes.system import shown

NAME = "nsjail"
_DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")


def mounts(python: Path) -> list[str]:
    """Arguments for what a sandbox sees of this machine, read-only."""
    seen = shown(python)
    return [
        *(part for source, target in seen.binds for part in ("--bindmount_ro", f"{source}:{target}")),
        *(part for path, target in seen.links for part in ("--symlink", f"{target}:{path}")),
        *(part for path in seen.covered for part in ("--mount", f"none:{path}:tmpfs:size=4096,nr_inodes=2,mode=0555")),
    ]


def command(python: Path) -> list[str]:
    return [
        *drop_privileges(),
        tool("nsjail"),
        *("--mode", "o", "--quiet", "--user", "65534", "--group", "65534", "--hostname", "sandbox"),
        *("--cwd", "/tmp"),  # noqa: S108  the sandbox's own
        *mounts(python),
        *(part for path in _DEVICES for part in ("--bindmount", path)),
        *("--mount", "none:/tmp:tmpfs:size={disk}", "--time_limit", "0", "--keep_env"),
        *(
            "--rlimit_as",
            "inf",
            "--rlimit_cpu",
            "inf",
            "--rlimit_fsize",
            "inf",
            "--rlimit_nofile",
            "{files}",
            "--rlimit_nproc",
            "inf",
        ),
        *("--pass_fd", "{fd0}", "--pass_fd", "{fd1}"),
        "--",
    ]


def create(*, parallel: int | None = None) -> SandboxPool:
    python = interpreter()
    return cold_pool(NAME, command(python), python=python, inside=bootstrap(), is_carrying=True, parallel=parallel)
