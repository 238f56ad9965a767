"""Images without a registry: bases by debootstrap, Proctor's own from its Dockerfile; each is made once a session."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from deploy.local_processes import ROOT
from sandboxes.engines import skip_unless_engines_are_wanted, started_engine

IMAGE = "localhost/proctor:test"
BASE = "localhost/proctor-base:test"
MACHINE = "localhost/proctor-machine:test"
GIVEN_IMAGE = "TESTS_IMAGE"
"""May name an archive of BASE and IMAGE that was made before, which saves minutes while one writes tests."""
GIVEN_FOLDERS = {BASE: "TESTS_BASE", MACHINE: "TESTS_MACHINE"}
"""May name root file systems that debootstrap made before."""
PACKAGES = {
    BASE: "python3,python3-venv,ca-certificates",
    MACHINE: "systemd,systemd-sysv,dbus,python3,python3-venv,ca-certificates,openssl,postgresql,redis-server,"
    "nginx-light,prometheus",
}
SUITE = "bookworm"
NO_MORE_THAN_ROOT_HAS = ("--ulimit", "nofile=4096:4096", "--ulimit", "nproc=4096:4096")
"""Where root may not raise limits, engines must not try to."""


def podman(*arguments: str, fails: bool = False) -> str:
    done = subprocess.run(["podman", *arguments], capture_output=True, text=True, timeout=1200, check=False)
    assert bool(done.returncode) is fails, f"{arguments}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
    return done.stdout + done.stderr if fails else done.stdout


def make_root(base: str, folder: Path) -> Path:
    """A root file system of Debian as a tar archive; skipped, with the reason, where none can be made."""
    path = f"{os.environ['PATH']}:/usr/sbin:/sbin"
    if shutil.which("debootstrap", path=path) is None:
        pytest.skip("debootstrap is not installed: apt-get install debootstrap")
    root = Path(os.environ.get(GIVEN_FOLDERS[base]) or folder / "root")
    if not (root / "usr").is_dir():
        command = ["debootstrap", "--variant=minbase", f"--include={PACKAGES[base]}", SUITE, str(root)]
        made = subprocess.run(command, env={**os.environ, "PATH": path}, capture_output=True, text=True, check=False)
        if made.returncode:
            pytest.skip(f"no base can be made here: debootstrap ended with {made.stdout[-200:]}")
    packed = folder / "root.tar"
    subprocess.run(["tar", "-C", str(root), "-cf", str(packed), "."], check=True)
    shutil.rmtree(folder / "root", ignore_errors=True)
    return packed


def _build(folder: Path) -> None:
    podman("import", "--quiet", str(make_root(BASE, folder)), BASE)
    # Authorities of this machine's own are trusted while building; nothing of them stays in the image.
    trusted = os.environ.get("SSL_CERT_FILE") or "/etc/ssl/certs/ca-certificates.crt"
    npmrc = folder / "npmrc"
    npmrc.write_text("cafile=/etc/ssl/certs/ca-certificates.crt\n")
    mounts = ["-v", f"{trusted}:/etc/ssl/certs/ca-certificates.crt:ro", "-v", f"{npmrc}:/root/.npmrc:ro"]
    podman(
        *("build", "--quiet", "--format", "docker", "--network", "host", *mounts, "--build-arg", f"BASE={BASE}"),
        *("--build-arg", "VERSION=1.2.3", "-f", str(ROOT / "deploy/image/Dockerfile"), "-t", IMAGE, str(ROOT)),
    )


@pytest.fixture(scope="session")
def own_image() -> Iterator[Path]:
    """An archive with IMAGE, built from the Dockerfile as it is, and BASE."""
    skip_unless_engines_are_wanted("podman")
    if given := os.environ.get(GIVEN_IMAGE):
        yield Path(given)
        return
    folder = Path(tempfile.mkdtemp(prefix="pi-"))
    with pytest.MonkeyPatch.context() as patch:
        try:
            engine = folder / "e"
            engine.mkdir()
            with started_engine("podman", engine, patch):
                _build(folder)
                archive = folder / "images.tar"
                podman("save", "--quiet", "--multi-image-archive", "--output", str(archive), IMAGE, BASE)
            yield archive
        finally:
            shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def machine() -> Iterator[Path]:
    """A root file system with systemd and the services that Proctor needs, as a tar archive."""
    skip_unless_engines_are_wanted("debootstrap")
    folder = Path(tempfile.mkdtemp(prefix="pm-"))
    try:
        yield make_root(MACHINE, folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
