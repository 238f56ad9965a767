"""The dashboard's files as a server gives them."""

from __future__ import annotations

import asyncio
import gzip
from pathlib import Path

import pytest
from starlette.requests import Request
from starlette.responses import FileResponse, Response

from proctor.server.problems import ProblemError
from proctor.server.static import Dashboard


def build(folder: Path, name: str) -> None:
    """As a build leaves it: another page, and files of other names."""
    for path in folder.rglob("*"):
        if path.is_file():
            path.unlink()
    (folder / "assets").mkdir(parents=True, exist_ok=True)
    (folder / "assets" / f"index-{name}.js").write_text(name)
    (folder / "index.html").write_text(f'<script src="/assets/index-{name}.js"></script>')


def answer(dashboard: Dashboard, path: str, **headers: str) -> Response:
    sent = [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
    return asyncio.run(dashboard.answer(Request({"type": "http", "path_params": {"path": path}, "headers": sent})))


def test_a_dashboard_that_is_built_anew_is_served_without_a_restart(tmp_path: Path) -> None:
    build(tmp_path, "aaaaaaaa")
    dashboard = Dashboard(tmp_path)
    assert isinstance(answer(dashboard, "assets/index-aaaaaaaa.js"), FileResponse)
    build(tmp_path, "bbbbbbbb")
    page = answer(dashboard, "runs")
    assert isinstance(page, FileResponse)
    assert "bbbbbbbb" in Path(page.path).read_text()
    found = answer(dashboard, "assets/index-bbbbbbbb.js")
    assert isinstance(found, FileResponse)
    assert found.headers["cache-control"].endswith("immutable")
    with pytest.raises(ProblemError):
        answer(dashboard, "assets/index-aaaaaaaa.js")


def test_scripts_and_styles_are_sent_compressed_to_whoever_takes_that(tmp_path: Path) -> None:
    build(tmp_path, "aaaaaaaa")
    dashboard, path = Dashboard(tmp_path), "assets/index-aaaaaaaa.js"
    found = answer(dashboard, path, accept_encoding="br, gzip;q=0.8")
    assert gzip.decompress(bytes(found.body)) == b"aaaaaaaa"
    assert found.headers["content-encoding"] == "gzip"
    assert found.headers["vary"] == "Accept-Encoding"
    assert found.headers["cache-control"].endswith("immutable")
    for refusing in ("br", "gzip;q=0", "gzip; q=0.00", ""):
        assert isinstance(answer(dashboard, path, accept_encoding=refusing), FileResponse)
    assert isinstance(answer(dashboard, "", accept_encoding="gzip"), FileResponse)
