"""`proctor mcp`: Proctor's tools for agents."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING

import click

from proctor.cli.echo import echo
from proctor.domain.errors import UserError

if TYPE_CHECKING:
    from proctor.client.client import Client

ADDRESS = re.compile(r"Proctor is at (http://\S+)")
END_SECONDS = 20.0
SERVE = "from proctor.worker.parent import die_with; die_with({parent}); from proctor.cli.main import main; main()"
"""Agents end their tools without a word: the server must not stay behind."""


@click.command(short_help="Offer Proctor's tools to agents (MCP).")
@click.option("--server", metavar="URL",
              help="The server that is asked; otherwise PROCTOR_SERVER, or one of this command's own.")  # fmt: skip
@click.option("--http", "is_http", is_flag=True, help="Listen for streamable HTTP instead of using stdio.")
@click.option("--port", type=click.IntRange(1, 65_535), default=8001, show_default=True, metavar="N",
              help="The loopback port of --http.")  # fmt: skip
def mcp(server: str | None, is_http: bool, port: int) -> None:
    """Offer Proctor to agents by the Model Context Protocol: list benchmarks, estimate, start and follow runs, compare.

    Every tool asks a Proctor server with the key in PROCTOR_KEY, so the key's scopes and budgets hold. Without a
    server, one is started on this machine for as long as the agent is connected. Over HTTP, a request's own
    'Authorization: Bearer' key is used.
    """
    if find_spec("mcp") is None:
        raise UserError("proctor mcp needs more than is installed: pip install 'proctor[mcp]'.")
    from proctor.client.client import Client
    from proctor.mcp_server import create_mcp_server
    from proctor.settings import Settings

    settings = Settings.from_environment()
    with _server(server or settings.server) as url:

        def client_of(headers: Mapping[str, str] | None) -> Client:
            return Client(url, _bearer(headers) if headers is not None else settings.server_key)

        tools = create_mcp_server(client_of)
        if is_http:
            echo(f"Proctor's tools are at http://127.0.0.1:{port}/mcp (Ctrl-C ends it)", err=True)
            tools.run("streamable-http", host="127.0.0.1", port=port)
        else:
            tools.run("stdio")


def _bearer(headers: Mapping[str, str]) -> str | None:
    kind, _, key = headers.get("authorization", "").partition(" ")
    return key.strip() if kind.lower() == "bearer" else None


@contextmanager
def _server(url: str | None) -> Iterator[str]:
    """The server's address; one of this command's own where none is named, which ends with it."""
    if url is not None:
        yield url
        return
    command = [sys.executable, "-c", SERVE.format(parent=os.getpid()), "serve", "--port", "0"]
    environment = {name: value for name, value in os.environ.items() if name != "PROCTOR_SERVER"}
    process = subprocess.Popen(  # noqa: S603 - our own command
        command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=environment
    )
    try:
        yield _address(process)
    finally:
        process.terminate()
        try:
            process.wait(END_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _address(process: subprocess.Popen[str]) -> str:
    said = []
    for line in process.stderr or ():
        if found := ADDRESS.search(line):
            threading.Thread(target=shutil.copyfileobj, args=(process.stderr, sys.stderr), daemon=True).start()
            return found[1]
        said.append(line.strip())
    raise UserError(f"No server could be started: {' '.join(said) or 'it said nothing'}")
