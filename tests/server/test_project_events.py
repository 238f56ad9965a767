"""Everything that happens in a project as one stream, and over a WebSocket: complete, in order, bounded, closed."""

from __future__ import annotations

import asyncio
import re
import signal
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson
import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import ClientConnection, connect

from proctor.accounts.keys import create_key
from proctor.accounts.people import add_user, set_disabled
from proctor.accounts.projects import add_project, set_member
from proctor.server.access import V1
from proctor.server.sign_in import CHECK_SECONDS
from proctor.server.stream_limit import STREAMS_A_USER
from proctor.stores.database import Database, open_database
from proctor.stores.events import add_event
from proctor.stores.feed import fed_events, number_events
from proctor.stores.runs import RunStore
from server.conftest import PLAN
from server.serving import Server, serving

PATH = f"{V1}/events"
CLIENTS, EVENTS = 300, 1_200
MAX_BYTES_A_CLIENT = 300_000
PLACE = re.compile(rb"^id: (\d+)\nevent: ", re.MULTILINE)
SOME = {**PLAN, "models": ["demo/strong"], "benchmarks": [{"benchmark": "puzzles", "limit": 2}]}


@dataclass
class Site:
    server: Server
    database: Database
    keys: dict[str, str] = field(default_factory=dict)
    runs: dict[str, str] = field(default_factory=dict)

    def headers(self, project: str) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.keys[project]}"}

    def now(self, project: str) -> list[dict[str, Any]]:
        """What there is by now, from the beginning."""
        answer = self.server.ask("GET", f"{PATH}?after=0&follow=false", **self.headers(project))
        assert answer.status == 200, answer.body
        return parsed(answer.body.decode())

    def happen(self, project: str, count: int, first: int = 0) -> None:
        """So many events in the project's run, as workers would write them."""
        with self.database.connection() as connection:
            for start in range(0, count, 50):
                with connection.transaction():
                    for place in range(start, min(start + 50, count)):
                        add_event(connection, self.runs[project], "progress", {"trials": first + place})


def parsed(text: str) -> list[dict[str, Any]]:
    found = []
    for block in text.split("\n\n"):
        fields = dict(line.split(": ", 1) for line in block.splitlines() if not line.startswith(":"))
        if "event" in fields:
            found.append({"id": int(fields["id"]), "event": fields["event"], "data": orjson.loads(fields["data"])})
    return found


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    folder: Path = tmp_path_factory.mktemp("streams")
    with serving(folder / "home", folder, "--accounts") as server:
        found = Site(server, open_database(f"sqlite:///{folder / 'home' / 'proctor.db'}"))
        for project in ("acme", "other"):
            add_project(found.database, project, by="test")
            key = create_key(found.database, project, ["run:read", "run:write", "results:read"], by="test")
            found.keys[project] = key.text
            answer = server.ask("POST", f"{V1}/runs", SOME, **found.headers(project))
            assert answer.status == 202, answer.body
            found.runs[project] = answer.json["run_id"]
        until = time.monotonic() + 120
        for run_id in found.runs.values():
            while RunStore(found.database).get(run_id).status.value != "completed":
                assert time.monotonic() < until
                time.sleep(0.1)
        yield found
        found.database.dispose()


def test_a_project_sees_all_of_its_runs_in_order_and_nothing_else(site: Site) -> None:
    for project in ("acme", "other"):
        found = site.now(project)
        assert {one["data"]["run_id"] for one in found} == {site.runs[project]}
        assert [one["event"] for one in found][:2] == ["accepted", "prepared"]
        assert found[-1]["event"] == "finished"
        places, numbers = [one["id"] for one in found], [one["data"]["number"] for one in found]
        assert places == sorted(set(places))
        assert numbers == sorted(set(numbers))
        rest = site.server.ask("GET", f"{PATH}?follow=false", Last_Event_ID=str(places[1]), **site.headers(project))
        assert parsed(rest.body.decode()) == found[2:]


def test_proxies_are_told_to_hold_nothing_back(site: Site) -> None:
    answer = site.server.ask("GET", f"{PATH}?follow=false", **site.headers("acme"))
    assert answer.headers["content-type"].startswith("text/event-stream")
    assert answer.headers["x-accel-buffering"] == "no"
    assert answer.headers["cache-control"] == "no-store, no-transform"
    assert answer.body.startswith(b"retry: 1000\n\nid: ")


def test_a_wrong_place_is_a_mistake_and_one_that_was_never_reached_is_the_end(site: Site) -> None:
    for given in ("-1", "x", "1e3", "9" * 39):
        assert site.server.ask("GET", PATH, Last_Event_ID=given, **site.headers("acme")).status == 422
    answer = site.server.ask("GET", f"{PATH}?after=999999&follow=false", **site.headers("acme"))
    assert answer.status == 200
    assert b"999999" not in answer.body


def test_events_of_processes_that_write_at_once_are_numbered_once_each(site: Site) -> None:
    before = len(site.now("acme"))
    number_events(site.database)
    newest = fed_events(site.database, 0, 10**6)[-1].position

    async def write() -> None:
        async with asyncio.TaskGroup() as tasks:
            for project in ("acme", "other"):
                tasks.create_task(asyncio.to_thread(site.happen, project, 40))
            for _ in range(4):
                tasks.create_task(asyncio.to_thread(number_events, site.database))

    asyncio.run(write())
    number_events(site.database)
    places = [event.position for event in fed_events(site.database, newest, 10**6)]
    assert places == list(range(newest + 1, newest + 81))
    assert len(site.now("acme")) == before + 40


class Client:
    """Follows with plain sockets; breaks off where it is told to, and goes on from the last id it was given."""

    def __init__(self, site: Site, key: str, start: int, break_after: int | None) -> None:
        self._site, self._key, self._break_after = site, key, break_after
        self.start = self.last = start
        self.places: list[int] = []
        self.breaks = 0

    async def follow(self, until: int) -> None:
        while self.last < until:
            await self._once(until)

    async def _once(self, until: int) -> None:
        reader, writer = await asyncio.open_connection(*self._site.server.place, limit=2**22)
        lines = (f"GET {PATH} HTTP/1.1", "Host: 127.0.0.1", f"Authorization: Bearer {self._key}",
                 f"Last-Event-ID: {self.last}", "Connection: close")  # fmt: skip
        writer.write("\r\n".join([*lines, "", ""]).encode())
        rest = b""
        try:
            assert b" 200 " in await reader.readuntil(b"\r\n")
            while self.last < until and (piece := await reader.read(65_536)):
                # Chunks' lengths stand on lines of their own, and no event has a carriage return.
                whole, _, rest = (rest + piece).rpartition(b"\n\n")
                found = [int(place) for place in PLACE.findall(whole.replace(b"\r\n", b"\n"))]
                self.places += found
                self.last = max([self.last, *found])
                if self._break_after is not None and len(self.places) > self._break_after:
                    self._break_after, self.breaks = None, self.breaks + 1
                    return
        finally:
            writer.close()


def memory(pid: int) -> int:
    return next(int(line.split()[1]) * 1024 for line in Path(f"/proc/{pid}/status").read_text().splitlines()
                if line.startswith("VmRSS"))  # fmt: skip


def test_hundreds_of_clients_lose_nothing_and_cost_little_memory(site: Site) -> None:
    count = CLIENTS // STREAMS_A_USER
    keys = [create_key(site.database, "acme", ["run:read"], by="test").text for _ in range(count)]
    start = site.now("acme")[-1]["id"]
    clients = [Client(site, keys[place % count], start, None if place % 3 else 50 + place) for place in range(CLIENTS)]
    before = memory(site.server.process.pid)

    async def follow() -> int:
        stuck = [await asyncio.open_connection(*site.server.place) for _ in range(5)]
        for _, writer in stuck:  # they ask, and never read
            key = f"Authorization: Bearer {site.keys['acme']}"
            writer.write(f"GET {PATH}?after=0 HTTP/1.1\r\nHost: 127.0.0.1\r\n{key}\r\n\r\n".encode())
        site_now = asyncio.to_thread(site.happen, "acme", EVENTS)
        other = asyncio.to_thread(site.happen, "other", 100)
        async with asyncio.TaskGroup() as tasks:
            following = [tasks.create_task(client.follow(start + 1)) for client in clients]
            tasks.create_task(site_now)
            tasks.create_task(other)
            for task in following:
                await task
        number_events(site.database)
        newest = (await asyncio.to_thread(site.now, "acme"))[-1]["id"]
        async with asyncio.TaskGroup() as tasks:
            for client in clients:
                tasks.create_task(client.follow(newest))
        peak = memory(site.server.process.pid)
        for _, writer in stuck:
            writer.close()
        return peak

    peak = asyncio.run(follow())
    expected = [one["id"] for one in site.now("acme") if one["id"] > start]
    assert len(expected) == EVENTS
    for client in clients:
        assert client.places == expected
    assert sum(client.breaks for client in clients) == CLIENTS // 3
    assert peak - before < CLIENTS * MAX_BYTES_A_CLIENT


def test_an_eleventh_stream_of_a_user_is_refused_until_one_is_closed(site: Site) -> None:
    headers = {"Authorization": f"Bearer {create_key(site.database, 'acme', ['run:read'], by='test').text}"}
    opened = [site.server.open("GET", PATH, headers=headers) for _ in range(STREAMS_A_USER)]
    try:
        assert {answer.status for _, answer in opened} == {200}
        refused = site.server.ask("GET", PATH, **headers)
        assert refused.status == 429
        assert refused.json["type"].endswith("#too-many")
        assert int(refused.headers["retry-after"]) > 0
        assert site.server.ask("GET", f"{V1}/runs/{site.runs['acme']}/events", **headers).status == 429
        with pytest.raises(InvalidStatus) as answer:
            connect(address(site), additional_headers=headers).close()
        assert answer.value.response.status_code == 429
        assert site.server.ask("GET", f"{PATH}?follow=false", **site.headers("acme")).status == 200
    finally:
        for connection, answer in opened:
            answer.close()
            connection.close()
    until = time.monotonic() + 60
    while site.server.ask("GET", f"{PATH}?follow=false", **headers).status != 200:
        assert time.monotonic() < until
        time.sleep(0.1)


def address(site: Site, query: str = "") -> str:
    return site.server.address.replace("http", "ws", 1) + PATH + query


def test_a_websocket_gives_the_same_events(site: Site) -> None:
    expected = site.now("acme")
    with connect(address(site, "?after=0"), additional_headers=site.headers("acme")) as socket:
        assert orjson.loads(socket.recv()) == {"id": 0}
        assert [orjson.loads(socket.recv(timeout=60)) for _ in expected] == expected
        site.happen("acme", 3, first=777)
        new = [orjson.loads(socket.recv(timeout=60)) for _ in range(3)]
    assert [one["data"]["trials"] for one in new] == [777, 778, 779]
    assert site.now("acme")[-3:] == new


def test_a_websocket_is_refused_as_a_request_is(site: Site) -> None:
    for headers, origin, status in (({}, None, 401), (site.headers("acme"), "https://attacker.example", 403)):
        with pytest.raises(InvalidStatus) as answer:
            connect(address(site), additional_headers=headers, origin=origin).close()  # type: ignore[arg-type]
        assert answer.value.response.status_code == status


def drain(socket: ClientConnection) -> None:
    while True:
        socket.recv(timeout=60)


def test_the_streams_of_a_disabled_user_end_within_five_seconds(site: Site) -> None:
    user = add_user(site.database, "leaver", is_admin=False, by="test").user
    set_member(site.database, "acme", "leaver", "viewer", by="test")
    key = create_key(site.database, "acme", ["run:read"], by="test", user_id=user.id)
    headers = {"Authorization": f"Bearer {key.text}"}
    connection, answer = site.server.open("GET", PATH, headers=headers)
    with closing(connection), connect(address(site), additional_headers=headers) as socket:
        socket.recv()
        began = time.monotonic()
        set_disabled(site.database, "leaver", is_disabled=True, by="test")
        answer.read()
        with pytest.raises(ConnectionClosed) as closed:
            drain(socket)
        took = time.monotonic() - began
    assert closed.value.rcvd is not None
    assert closed.value.rcvd.code == 1008
    assert CHECK_SECONDS < 5
    assert took < 30  # what is left of five seconds is the server's, on a busy machine


def test_a_server_that_ends_lets_its_streams_be_opened_again(tmp_path: Path) -> None:
    with serving(tmp_path / "home", tmp_path) as server:
        connection, answer = server.open("GET", PATH)
        with closing(connection), connect(server.address.replace("http", "ws", 1) + PATH) as socket:
            assert answer.readline() == b"retry: 1000\n"
            assert "id" in orjson.loads(socket.recv())
            server.process.send_signal(signal.SIGTERM)
            answer.read()
            with pytest.raises(ConnectionClosed) as closed:
                socket.recv(timeout=60)
        assert closed.value.rcvd is not None
        assert closed.value.rcvd.code == 1012
        assert server.process.wait(60) == 0
