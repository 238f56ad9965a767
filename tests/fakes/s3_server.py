"""A real server of S3 on this machine: SeaweedFS, which refuses wrong secrets and buckets without rights."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sysconfig
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

BUCKET, FORBIDDEN, MISSING = "kept", "other", "missing"
KEY, SECRET = "proctor", "right-secret"
READER, READER_SECRET = "reader", "reader-secret"
WRITER, WRITER_SECRET = "writer", "writer-secret"
OWNER, OWNER_SECRET = "owner", "owner-secret"
START_SECONDS = 90
PROGRAM = Path(sysconfig.get_path("scripts")) / "weed"
_PARTS = ("master", "volume", "filer", "s3", "admin")
_RIGHTS = {
    OWNER: (OWNER_SECRET, ["Admin", "Read", "Write", "List"]),
    KEY: (SECRET, [f"{action}:{BUCKET}" for action in ("Read", "Write", "List")]),
    READER: (READER_SECRET, [f"{action}:{BUCKET}" for action in ("Read", "List")]),
    WRITER: (WRITER_SECRET, [f"Write:{BUCKET}"]),
}


class S3Server:
    """One process with a bucket that KEY may use, and one that it may not; its data survives a stop."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._ports = dict(zip((*_PARTS, *(f"{part}.grpc" for part in _PARTS)), _free_ports(), strict=True))
        self._process: subprocess.Popen[bytes] | None = None
        identities = [
            {"name": name, "credentials": [{"accessKey": name, "secretKey": secret}], "actions": actions}
            for name, (secret, actions) in _RIGHTS.items()
        ]
        (folder / "s3.json").write_text(json.dumps({"identities": identities}))

    @property
    def endpoint(self) -> str:
        return f"http://127.0.0.1:{self._ports['s3']}"

    def url(self, prefix: str, *, bucket: str = BUCKET, options: str = "") -> str:
        return f"s3://{bucket}/{prefix}?endpoint={self.endpoint}{options}"

    def bucket(self, name: str = BUCKET) -> Any:
        """The bucket as its owner sees it, past our own code."""
        from obstore.store import S3Store

        return S3Store(
            name,
            config={"access_key_id": OWNER, "secret_access_key": OWNER_SECRET, "region": "us-east-1"},
            aws_endpoint_url_s3=self.endpoint,
            client_options={"allow_http": True, "proxy_url": self.endpoint, "proxy_excludes": "127.0.0.1"},
            retry_config={"max_retries": 0},
        )

    def start(self) -> None:
        if self._process is not None:
            return
        ports = [
            f"-{part}.port{'.grpc' if kind else ''}={port}"
            for name, port in self._ports.items()
            for part, _, kind in [name.partition(".")]
        ]
        with (self._folder / "log.txt").open("ab") as log:
            self._process = subprocess.Popen(
                [
                    PROGRAM, "-logtostderr", "mini", "-dir=data", "-ip=127.0.0.1", "-ip.bind=127.0.0.1", *ports,
                    "-admin.ui=false", "-webdav=false", "-s3.port.iceberg=0", "-s3.port.lance=0",
                    "-master.telemetry=false", "-s3.config=s3.json", "-s3.autoCreateBucket=false",
                    f"-bucket={BUCKET},{FORBIDDEN}",
                    f"-filer.localSocket={self._folder / 'filer.sock'}", f"-s3.localSocket={self._folder / 's3.sock'}",
                ],
                cwd=self._folder, env={"HOME": str(self._folder)}, stdout=log, stderr=log,
            )  # fmt: skip
        self._wait()

    def _wait(self) -> None:
        deadline = time.monotonic() + START_SECONDS
        while not all(map(self._takes, (BUCKET, FORBIDDEN))):
            if self._process is None or self._process.poll() is not None or time.monotonic() > deadline:
                self.stop()
                raise RuntimeError(f"SeaweedFS did not start:\n{(self._folder / 'log.txt').read_text()[-3000:]}")
            time.sleep(0.1)

    def _takes(self, bucket: str) -> bool:
        """Whether a bucket can be written and read: its parts are ready one after the other."""
        from obstore.exceptions import BaseError

        owned, probe = self.bucket(bucket), bytes(5000)
        try:
            owned.put("ready", probe)
            is_ready = bool(owned.get("ready").bytes().to_bytes() == probe)
            owned.delete("ready")
        except (BaseError, FileNotFoundError):
            return False
        return is_ready

    def stop(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(60)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        for port in self._ports.values():  # its sockets, whose folder cannot be chosen
            for path in Path("/tmp").glob(f"seaweedfs-*-{port}.sock"):
                path.unlink()

    @contextmanager
    def stopped(self) -> Iterator[None]:
        """Down, and up again afterwards with everything that was kept."""
        self.stop()
        try:
            yield
        finally:
            self.start()


def _free_ports() -> list[int]:
    """All at once, so that they differ."""
    with ExitStack() as held:
        sockets = [held.enter_context(socket.socket()) for _ in range(2 * len(_PARTS))]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]
