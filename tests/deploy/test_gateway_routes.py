"""What gateways know of routes: every stream and every route that takes files, as the API itself tells them."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
import yaml

from dashboard_types import openapi
from deploy.local_processes import GATEWAY, ROOT

pytestmark = pytest.mark.sqlite
NGINX = (GATEWAY / "nginx.conf").read_text()
HAPROXY = (GATEWAY / "haproxy.cfg").read_text()
MESH = ROOT / "deploy" / "istio" / "mesh.yaml"


@pytest.fixture(scope="module")
def operations() -> list[tuple[str, str, dict[str, Any]]]:
    paths = json.loads(openapi())["paths"]
    return [
        (method, re.sub(r"\{\w+\}", "x", path), operation)
        for path, methods in paths.items()
        for method, operation in methods.items()
    ]


def _kinds(parts: Any) -> set[str]:
    return {kind for part in parts for kind in part.get("content", {})}


def _located(*settings: str) -> list[str]:
    """The patterns of NGINX's locations that have these settings."""
    blocks = re.findall(r"location ~ (\S+) \{(.*?)\n    \}", NGINX, re.DOTALL)
    return [pattern for pattern, block in blocks if all(setting in block for setting in settings)]


def test_streams_have_no_time_limit_in_any_gateway(operations: list[tuple[str, str, dict[str, Any]]]) -> None:
    streams = {
        (method, path)
        for method, path, operation in operations
        if "text/event-stream" in _kinds(operation["responses"].values())
    }
    assert len(streams) >= 4
    mesh = [one for one in yaml.safe_load_all(MESH.read_text()) if one["kind"] == "VirtualService"]
    [in_mesh] = [one["match"][0]["uri"]["regex"] for one in mesh[0]["spec"]["http"] if one["timeout"] == "0s"]
    assert [path for _, path in streams if not re.fullmatch(in_mesh, path)] == []
    # These two count the time in which nothing comes: a POST that is answered by a stream has the usual one.
    [in_nginx] = _located("proxy_read_timeout 1h")
    [in_haproxy] = re.findall(r"acl is_stream path_reg (\S+)", HAPROXY)
    for pattern in (in_nginx, in_haproxy):
        assert [path for method, path in streams if method == "get" and not re.search(pattern, path)] == []


def test_routes_that_take_files_take_large_bodies_behind_a_gateway(
    operations: list[tuple[str, str, dict[str, Any]]],
) -> None:
    takers = {
        path for _, path, operation in operations if "multipart/form-data" in _kinds([operation.get("requestBody", {})])
    }
    assert len(takers) >= 4
    takers |= {"/api/v1/playground"}  # files within JSON
    [in_nginx] = _located("client_max_body_size")
    [in_haproxy] = re.findall(r"acl is_upload path (.+)", HAPROXY)
    assert {path for path in takers if not re.search(in_nginx, path)} == set()
    assert takers == set(in_haproxy.split())
