"""Keys of the one who serves himself go where he said so: not where a file, an agent or a foreign page names a host."""

from __future__ import annotations

import asyncio
import json
import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from fakes.loopback import Exchange, Loopback
from server.serving import PROGRAM, Server, serving

pytestmark = pytest.mark.sqlite
KEY = "sk-planted-0123456789abcdef"
HOST = "models.example.test"
AWAY = f"http://{HOST}/v1"
PLAN: dict[str, Any] = {
    "models": [{"model": "openai/m", "base_url": AWAY}],
    "benchmarks": [{"benchmark": "arithmetic", "limit": 1}],
    "cache": False,
}
ANSWER = {"choices": [{"message": {"role": "assistant", "content": "7"}, "finish_reason": "stop"}]}
REFUSED = "because a file says so and not you"


class Elsewhere:
    """As a proxy it stands for every other host; what keys it was sent is noted."""

    def __init__(self) -> None:
        self.server, self.sent = Loopback(self._answer), list[str]()

    async def _answer(self, exchange: Exchange) -> None:
        self.sent.append(exchange.request.headers.get("authorization", ""))
        await exchange.reply_json(200, ANSWER)


@pytest.fixture
def elsewhere() -> Iterator[Elsewhere]:
    made = Elsewhere()
    with made.server:
        yield made


@pytest.fixture
def environment(elsewhere: Elsewhere) -> dict[str, str]:
    return {"OPENAI_API_KEY": KEY, "http_proxy": elsewhere.server.url, "no_proxy": "", "NO_PROXY": ""}


@pytest.fixture
def server(tmp_path: Path, environment: dict[str, str]) -> Iterator[Server]:
    with serving(tmp_path / "home", tmp_path, **environment) as found:
        yield found


def test_a_plan_file_that_is_handed_to_a_server_sends_no_key_elsewhere(server: Server, elsewhere: Elsewhere) -> None:
    (server.folder / "plan.yaml").write_text(json.dumps(PLAN))
    for more in ((), ("--dry-run",)):
        code, _, err = server.cli("run", "plan.yaml", "--on", server.address, *more)
        assert code == 2, err
        assert REFUSED in err
    assert elsewhere.sent == []
    named = (f"openai/m?base_url={AWAY}", "--limit", "1", "--no-cache", "--on", server.address)
    code, _, err = server.cli("run", "arithmetic", "-m", *named)
    assert code == 0, err
    assert elsewhere.sent == [f"Bearer {KEY}"]


def test_who_writes_the_whole_plan_names_its_hosts(server: Server, elsewhere: Elsewhere) -> None:
    server.run(PLAN)
    assert elsewhere.sent == [f"Bearer {KEY}"]


def test_an_agent_sends_no_key_elsewhere(tmp_path: Path, environment: dict[str, str], elsewhere: Elsewhere) -> None:
    from mcp import Client, StdioServerParameters

    given = StdioServerParameters(
        command=sys.executable,
        args=["-c", PROGRAM, "mcp"],
        env={**environment, "PROCTOR_HOME": str(tmp_path / "home")},
        cwd=str(tmp_path),
    )

    async def ask() -> list[str]:
        async with Client(given) as client:
            asked = [await client.call_tool(name, {"plan": PLAN}) for name in ("estimate_run", "start_run")]
            return [one.content[0].text for one in asked if one.is_error]

    said = asyncio.run(ask())
    assert [REFUSED in text for text in said] == [True, True]
    assert elsewhere.sent == []


@contextmanager
def listening() -> Iterator[tuple[int, list[bytes]]]:
    """A port, and what whoever connects to it says first."""
    heard: list[bytes] = []
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def listen() -> None:
            while True:
                try:
                    connection, _ = listener.accept()
                except OSError:
                    return
                with connection:
                    connection.settimeout(10)
                    heard.append(connection.recv(4096))

        thread = threading.Thread(target=listen)
        thread.start()
        yield listener.getsockname()[1], heard
        listener.shutdown(socket.SHUT_RDWR)
        thread.join()


def test_reading_about_a_model_connects_to_nobody(server: Server) -> None:
    """Any page can make a browser read this address, and an agent would be sent the key that it names."""
    with listening() as (port, heard):
        name = f"grpc/127.0.0.1:{port}%3Fauth_variable=OPENAI_API_KEY"
        found = server.get(f"/api/v1/models/{name}")
        embedded = server.ask("GET", f"/api/v1/models/{name}", **{"Sec-Fetch-Site": "cross-site"})
    assert found["has_key"] is True
    assert (embedded.status, embedded.json["type"].rpartition("#")[2]) == (403, "foreign-origin")
    assert (found.get("agent"), heard) == (None, [])
