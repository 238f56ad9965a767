"""Proctor's tools for agents, asked by the official client: over stdio on this machine, and over HTTP with keys."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from commands import ended
from server.conftest import PLAN
from server.serving import PROGRAM, serving

pytestmark = pytest.mark.sqlite


def told(result: Any) -> Any:
    """What a tool answered."""
    assert not result.is_error, result.content
    return result.structured_content


async def use_every_tool(client: Any) -> None:
    names = {tool.name for tool in (await client.list_tools()).tools}
    assert names == {
        "list_benchmarks", "show_benchmark", "list_providers", "show_model", "estimate_run", "start_run", "get_run",
        "list_runs", "list_results", "cancel_run", "compare_runs", "get_leaderboard",
    }  # fmt: skip
    found = told(await client.call_tool("list_benchmarks", {"language": "ko"}))
    assert found["items"]
    assert {item["tags"]["language"] for item in found["items"]} == {"ko"}
    assert told(await client.call_tool("show_benchmark", {"name": "puzzles"}))["name"] == "puzzles"
    assert "openai" in {one["provider"] for one in told(await client.call_tool("list_providers"))["items"]}
    assert told(await client.call_tool("show_model", {"name": "demo/strong"}))["model"] == "demo/strong"
    assert told(await client.call_tool("estimate_run", {"plan": PLAN}))["trials"] == 24
    run_id = told(await client.call_tool("start_run", {"plan": PLAN, "idempotency_key": "once"}))["run_id"]
    again = told(await client.call_tool("start_run", {"plan": PLAN, "idempotency_key": "once"}))
    assert again["run_id"] == run_id
    run: dict[str, Any] = {"status": "queued"}
    while run["status"] not in ("completed", "failed", "cancelled"):
        run = told(await client.call_tool("get_run", {"run_id": run_id, "wait_seconds": 60}))
    assert (run["status"], run["progress"]) == ("completed", 1.0)
    assert [one["run_id"] for one in told(await client.call_tool("list_runs"))["items"]] == [run_id]
    wrong = told(await client.call_tool("list_results", {"run_id": run_id, "only_wrong": True, "limit": 50}))
    metrics = [one["metrics"]["accuracy"] for one in run["evaluations"]]
    assert len(wrong["samples"]) == sum(round((1 - one["value"]) * one["n"]) for one in metrics) > 0
    verdict = told(await client.call_tool("compare_runs", {"runs": [run_id]}))
    assert verdict["comparisons"]
    board = told(await client.call_tool("get_leaderboard", {"benchmark": "puzzles"}))
    assert [table["benchmark"] for table in board["tables"]] == ["puzzles"]


async def hear_of_mistakes(client: Any) -> None:
    for tool, arguments, said in (
        ("get_run", {"run_id": "zzzzzzzzzzzz"}, "No run"),
        ("show_benchmark", {"name": "puzles"}, "puzles"),
        ("start_run", {"plan": {"models": ["demo/strong"], "benchmarks": ["puzzles"], "epoch": 2}}, "epoch"),
    ):
        result = await client.call_tool(tool, arguments)
        assert result.is_error
        assert said in result.content[0].text
        assert "Traceback" not in result.content[0].text


def test_an_agent_uses_every_tool_over_stdio_and_nothing_is_left_behind(tmp_path: Path) -> None:
    from mcp import Client, StdioServerParameters

    environment = {**os.environ, "PROCTOR_HOME": str(tmp_path / "home")}
    command = StdioServerParameters(
        command=sys.executable, args=["-c", PROGRAM, "mcp"], env=environment, cwd=str(tmp_path)
    )

    async def scenario() -> None:
        async with Client(command) as client:
            await use_every_tool(client)
            await hear_of_mistakes(client)
            assert len(processes_of(tmp_path / "home")) > 1

    asyncio.run(scenario())
    wait_for(lambda: not processes_of(tmp_path / "home"))


def test_an_agent_that_is_killed_leaves_no_server_behind(tmp_path: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, "mcp"],
        cwd=tmp_path,
        env={**os.environ, "PROCTOR_HOME": str(tmp_path / "home")},
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        wait_for(lambda: len(processes_of(tmp_path / "home")) > 2)  # the server and its worker, too
    finally:
        process.kill()
        process.wait()
        assert process.stdin is not None
        process.stdin.close()
    wait_for(lambda: not processes_of(tmp_path / "home"))


def test_over_http_each_agent_may_do_what_its_own_key_may(tmp_path: Path) -> None:
    from mcp import Client
    from mcp.client.streamable_http import create_mcp_http_client, streamable_http_client

    home = tmp_path / "home"
    keys = {}
    for name, scopes in (
        ("reader", ["run:read", "results:read", "benchmark:read"]),
        ("writer", ["run:write", "run:read"]),
    ):
        given = [part for scope in scopes for part in ("--scope", scope)]
        code, out, err = ended(home, tmp_path, "keys", "create", "--project", "local", *given, "--json")
        assert code == 0, err
        keys[name] = json.loads(out)["key"]

    async def call(key: str | None, tool: str, arguments: dict[str, Any]) -> Any:
        headers = {} if key is None else {"Authorization": f"Bearer {key}"}
        async with (
            create_mcp_http_client(headers=headers) as http,
            Client(streamable_http_client(address, http_client=http)) as client,
        ):
            return await client.call_tool(tool, arguments)

    with serving(home, tmp_path, "--accounts") as server, listening(tmp_path, server.address) as address:
        nobody = asyncio.run(call(None, "list_runs", {}))
        assert nobody.is_error
        assert "Sign in" in nobody.content[0].text
        refused = asyncio.run(call(keys["reader"], "start_run", {"plan": PLAN}))
        assert refused.is_error
        assert "run:write" in refused.content[0].text
        run_id = told(asyncio.run(call(keys["writer"], "start_run", {"plan": PLAN})))["run_id"]
        assert told(asyncio.run(call(keys["reader"], "get_run", {"run_id": run_id})))["run_id"] == run_id


@contextmanager
def listening(folder: Path, server: str) -> Iterator[str]:
    """`proctor mcp --http` before this server; gives the address for agents."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, "mcp", "--http", "--port", str(port), "--server", server],
        cwd=folder,
        env={**os.environ, "PROCTOR_HOME": str(folder / "other")},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        wait_for(lambda: is_answering(port))
        yield f"http://127.0.0.1:{port}/mcp"
    finally:
        process.terminate()
        process.wait(60)


def is_answering(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def wait_for(find: Any, seconds: float = 120) -> Any:
    until = time.monotonic() + seconds
    while not (found := find()):
        assert time.monotonic() < until, "it did not come true"
        time.sleep(0.1)
    return found


def processes_of(home: Path) -> list[int]:
    """The processes that keep their results there."""
    mark = f"PROCTOR_HOME={home}".encode()
    found = []
    for folder in Path("/proc").iterdir():
        with suppress(OSError):
            if folder.name.isdecimal() and mark in (folder / "environ").read_bytes().split(b"\0"):
                found.append(int(folder.name))
    return found
