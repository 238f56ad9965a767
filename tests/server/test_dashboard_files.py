"""The dashboard's files as a server gives them."""

from __future__ import annotations

import asyncio
import gzip
from pathlib import Path

import pytest
from starlette.requests import Request
from starlette.responses import FileResponse, Response

from proctor.domain.errors import UserError
from proctor.server.headers import policy
from proctor.server.problems import ProblemError
from proctor.server.static import Dashboard
from proctor.settings import Settings
from server.serving import serving


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


def test_hashed_files_are_linked_where_the_operator_says_and_only_they_may_come_from_there(tmp_path: Path) -> None:
    build(tmp_path / "built", "cccccccc")
    dashboard = Dashboard(tmp_path / "built", "https://cdn.example/proctor")
    page = bytes(answer(dashboard, "runs").body).decode()
    assert '<script src="https://cdn.example/proctor/assets/index-cccccccc.js">' in page
    file = answer(dashboard, "assets/index-cccccccc.js")
    assert file.headers["access-control-allow-origin"] == "*"
    assert file.headers["cache-control"] == "public, max-age=31536000, immutable"
    found = policy("https://cdn.example/proctor")
    assert "script-src 'self' https://cdn.example;" in found
    assert "style-src 'self' https://cdn.example 'unsafe-inline';" in found
    assert "connect-src 'self';" in found
    assert found.replace(" https://cdn.example", "") == policy(None)


@pytest.mark.parametrize("address", ["cdn.example", "https://cdn.example/?x", "https://u:p@cdn.example", "https://a b"])
def test_an_address_of_files_that_is_none_is_refused(address: str) -> None:
    with pytest.raises(UserError, match="PROCTOR_STATIC_URL"):
        Settings.from_environment({"PROCTOR_STATIC_URL": address})


def test_a_server_sends_its_page_and_policy_for_the_files_elsewhere(tmp_path: Path) -> None:
    with serving(tmp_path / "home", tmp_path, PROCTOR_STATIC_URL="https://cdn.example/") as server:
        page = server.ask("GET", "/runs")
        assert "script-src 'self' https://cdn.example;" in page.headers["content-security-policy"]
        assert b'"/assets/' not in page.body
