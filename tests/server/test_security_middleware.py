"""What holds for every request: who may call, by which name, and what browsers are told."""

from __future__ import annotations

from pathlib import Path

import pytest
from fastapi import FastAPI
from fastapi.routing import APIRoute

from commands import Cli
from proctor.server.access import PERMISSIONS, refuse_unguarded
from proctor.server.app import ROUTERS
from proctor.server.headers import is_own_address
from server.serving import Server, serving

ROUTES = [(method, path) for method, path in PERMISSIONS]


@pytest.mark.parametrize(("method", "path"), ROUTES)
def test_a_foreign_host_reaches_no_route(server: Server, method: str, path: str) -> None:
    """A name that was made to mean this machine (DNS rebinding) is not ours."""
    answer = server.ask(method, path.replace("{", "").replace("}", ""), Host="attacker.example")
    assert answer.status == 421
    assert answer.json["type"].endswith("#foreign-host")
    assert answer.headers["content-type"] == "application/problem+json"


@pytest.mark.parametrize(("method", "path"), [one for one in ROUTES if one[0] != "GET"])
def test_a_page_of_another_origin_changes_nothing(server: Server, method: str, path: str) -> None:
    address = path.replace("{", "").replace("}", "")
    assert server.ask(method, address, {}, Origin="https://attacker.example").status == 403
    assert server.ask(method, address, {}, Origin="null").status == 403
    assert server.ask(method, address, {}, Sec_Fetch_Site="cross-site").status == 403


def test_the_table_names_every_route_and_no_other() -> None:
    served = {
        (method, route.path)
        for router in ROUTERS
        for route in router.routes
        if isinstance(route, APIRoute)
        for method in route.methods
    }
    assert served == set(PERMISSIONS)


def test_a_forgotten_route_stops_the_server_from_starting() -> None:
    app = FastAPI(openapi_url=None, docs_url=None, redoc_url=None)

    @app.get("/api/v1/forgotten")
    def forgotten() -> None: ...

    with pytest.raises(RuntimeError, match="/api/v1/forgotten does not ask who calls"):
        refuse_unguarded(app.routes)


def test_browsers_are_told_to_stay_within(server: Server) -> None:
    for path in ("/", "/api/docs", "/api/v1/runs", "/api/v1/nothing"):
        headers = server.ask("GET", path).headers
        assert "script-src 'self';" in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["x-request-id"]
        assert "server" not in headers


def test_an_address_that_others_can_reach_is_refused(cli: Cli) -> None:
    ended = cli("serve", "--host", "0.0.0.0")
    assert ended.code == 2
    assert "in the clear" in ended.error


def test_a_port_that_is_taken_is_one_line(cli: Cli, server: Server) -> None:
    ended = cli("serve", "--port", str(server.place[1]))
    assert ended.code == 2
    assert f"port {server.place[1]}" in ended.error


def test_the_documentation_needs_no_other_host(server: Server) -> None:
    page = server.ask("GET", "/api/docs").body.decode() + server.ask("GET", "/api/docs.js").body.decode()
    assert "https://" not in page
    assert "http://" not in page


def test_further_names_are_known_only_where_the_operator_gave_them(tmp_path: Path) -> None:
    with serving(tmp_path / "home", tmp_path, "--allowed-host", "api-1", "--allowed-host", "192.0.2.7") as named:
        for host, status in (("api-1:8000", 200), ("192.0.2.7", 200), ("localhost", 200), ("api-2:8000", 421)):
            assert named.ask("GET", "/health", Host=host).status == status


@pytest.mark.parametrize(
    ("name", "came_in", "is_own"),
    [
        ("10.1.2.3", "10.1.2.3", True),
        ("[fd00::1]", "fd00:0:0::1", True),
        ("10.1.2.4", "10.1.2.3", False),
        ("attacker.example", "10.1.2.3", False),
        ("attacker.example", "attacker.example", False),
        ("", "", False),
    ],
)
def test_a_load_balancer_asks_by_the_address_it_connects_to(name: str, came_in: str, is_own: bool) -> None:
    assert is_own_address(name, {"type": "http", "server": (came_in, 8000)}) is is_own
    assert not is_own_address(name, {"type": "http", "server": None})
