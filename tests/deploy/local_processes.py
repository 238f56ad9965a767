"""Programs of a deployment as processes of this machine: on free ports, ended by their ids."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

ROOT = Path(__file__).parents[2]
GATEWAY = ROOT / "deploy" / "gateway"
PROGRAM = "from proctor.cli.main import main; main()"
PLACES = f"{os.environ.get('PATH', '')}:/usr/sbin"


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def wait_for(holds: Callable[[], bool], said: Callable[[], str], seconds: float = 150) -> None:
    until = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < until, said()
        time.sleep(0.1)


def end(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is None:
        process.send_signal(signal.SIGTERM)
        with suppress(subprocess.TimeoutExpired):
            process.wait(40)
    if process.poll() is None:
        process.kill()
        process.wait()


def is_open(port: int) -> bool:
    with socket.socket() as probe:
        probe.settimeout(1)
        return probe.connect_ex(("127.0.0.1", port)) == 0


def nginx_command(folder: Path, address: int, servers: tuple[int, int, int]) -> list[str]:
    """NGINX with the files as they are, but this test's addresses and folders in the two that differ by place."""
    shutil.copy(GATEWAY / "nginx.conf", folder / "nginx.conf")
    site, listen = (GATEWAY / "site.conf").read_text(), (GATEWAY / "listen.conf").read_text()
    for name, port in zip(("api-1", "api-2", "api-spare"), servers, strict=True):
        assert f"server {name}:8000" in site
        site = site.replace(f"{name}:8000", f"127.0.0.1:{port}")
    assert "listen 8443 ssl http2;" in listen
    (folder / "site.conf").write_text(site.replace(" /tmp/", f" {folder}/nginx-"))
    listen = listen.replace("listen 8443", f"listen 127.0.0.1:{address}").replace("/run/secrets", str(folder))
    (folder / "listen.conf").write_text(listen)
    found = shutil.which("nginx", path=PLACES)
    assert found is not None
    who = "user root; " if os.geteuid() == 0 else ""
    given = f"daemon off; {who}pid {folder}/nginx.pid;"
    return [found, "-e", "stderr", "-p", str(folder), "-c", str(folder / "nginx.conf"), "-g", given]
