"""nsjail: namespaces made by Google's tool, with our filter and limits inside."""

from __future__ import annotations

from pathlib import Path

from proctor.sandboxes.cold import bootstrap, cold_pool, drop_privileges, interpreter, tool
from proctor.sandboxes.pool import Pool

NAME = "nsjail"
_SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/etc/ld.so.cache", "/etc/alternatives")
_DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")


def command(python: Path) -> list[str]:
    prefix = str(python.resolve().parents[1])
    shown = [path for path in (*_SYSTEM, *(() if prefix.startswith("/usr") else (prefix,))) if Path(path).exists()]
    return [
        *drop_privileges(),
        tool("nsjail"),
        *("--mode", "o", "--quiet", "--user", "65534", "--group", "65534", "--hostname", "sandbox"),
        *("--cwd", "/tmp"),  # noqa: S108  the sandbox's own
        *(part for path in shown for part in ("--bindmount_ro", path)),
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


def create(*, parallel: int | None = None) -> Pool:
    python = interpreter()
    return cold_pool(NAME, command(python), python=python, inside=bootstrap(), is_carrying=True, parallel=parallel)
