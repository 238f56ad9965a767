"""Real container engines of our own: on a private socket and folder, ended by process id, leaving nothing."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from proctor.sandboxes.containers import find_engine
from proctor.sandboxes.images import build_image
from sandboxes.presence import skip_unless_installed

_START_SECONDS = 30
_CONTAINERS = """[engine]
cgroup_manager = "cgroupfs"
runtime = "runc"
events_logger = "none"
"""
_STORAGE = '[storage]\ndriver = "overlay"\ngraphroot = "{folder}/data"\nrunroot = "{folder}/run"\n'


WANTED = "TESTS_ENGINES"


def skip_unless_engines_are_wanted(name: str) -> None:
    """Engines take minutes, and on a busy machine their own time limits pass: they have a command of their own."""
    if not os.environ.get(WANTED):
        pytest.skip(f"{name}: started by 'make engines' ({WANTED}=1)")


@contextmanager
def _docker(folder: Path) -> Iterator[dict[str, str]]:
    daemon = shutil.which("dockerd", path="/usr/sbin:/usr/bin:/usr/local/bin:/usr/local/sbin")
    if daemon is None:
        pytest.skip("dockerd is not installed")
    log = folder / "log"
    options = "--iptables=false --ip6tables=false --ip-masq=false --ip-forward=false --bridge=none"
    with log.open("wb") as said:
        process = subprocess.Popen(
            [
                daemon,
                *("--data-root", str(folder / "data"), "--exec-root", str(folder / "run"), "-H", f"unix://{folder}/s"),
                *("--pidfile", str(folder / "pid"), "--storage-driver", "overlay2", *options.split()),
                *("--exec-opt", "native.cgroupdriver=cgroupfs"),
            ],
            stdin=subprocess.DEVNULL,
            stdout=said,
            stderr=said,
        )
    try:
        deadline = time.monotonic() + _START_SECONDS
        while not Path(folder, "s").exists() and process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.1)
        if process.poll() is not None or not Path(folder, "s").exists():
            pytest.fail(f"dockerd does not start here: {log.read_text(errors='replace')[-300:]}")
        yield {"DOCKER_HOST": f"unix://{folder}/s"}
    finally:
        process.terminate()
        try:
            process.wait(30)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


@contextmanager
def _podman(folder: Path) -> Iterator[dict[str, str]]:
    files = {"CONTAINERS_CONF": ("engine.conf", _CONTAINERS), "CONTAINERS_STORAGE_CONF": ("storage.conf", _STORAGE)}
    for name, text in files.values():
        (folder / name).write_text(text.format(folder=folder))
    yield {variable: str(folder / name) for variable, (name, _) in files.items()}


_STARTED: dict[str, Callable[[Path], object]] = {"docker": _docker, "podman": _podman}
_GROUPS = {"docker": "docker", "podman": "libpod_parent"}


@contextmanager
def engine(name: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """An engine that answers and has the image; skipped, with the reason, where it is not installed."""
    with started_engine(name, folder, monkeypatch):
        build_image(find_engine(name).client, name)
        yield


@contextmanager
def started_engine(name: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """An engine that answers, without any image; skipped, with the reason, where it is not installed."""
    skip_unless_engines_are_wanted(name)
    skip_unless_installed(name)
    if os.geteuid() != 0:
        pytest.skip(f"{name}: only root can start an engine of its own")
    groups = [top / _GROUPS[name] for top in Path("/sys/fs/cgroup").glob("*/") if not (top / _GROUPS[name]).exists()]
    try:
        with _STARTED[name](folder) as variables:  # type: ignore[attr-defined]
            for key, value in variables.items():
                monkeypatch.setenv(key, value)
            yield
    finally:
        sweep(folder, groups)


def sweep(folder: Path, groups: list[Path]) -> None:
    """Remove what an engine that has ended left: mounts, its folder, and control groups that are empty."""
    mounted = [line.split()[1] for line in Path("/proc/self/mounts").read_text().splitlines()]
    for point in sorted((point for point in mounted if point.startswith(f"{folder}/")), reverse=True):
        subprocess.run(["umount", "-l", point], check=False)
    shutil.rmtree(folder, ignore_errors=True)
    for group in groups:
        with contextlib.suppress(OSError):  # another engine's too
            group.rmdir()
