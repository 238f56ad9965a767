"""A small HTTP server for JSON: routes, replies and errors."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, unquote, urlsplit


class HttpError(Exception):
    """An error that is answered with a status and a JSON object."""

    def __init__(self, status: int, error: str, **members: Any) -> None:
        """Say what is wrong; further members are added to the answer."""
        super().__init__(error)
        self.status = status
        self.body = {"error": error, **members}
        self.headers: dict[str, str] = {}


@dataclass(frozen=True, slots=True)
class Request:
    """What a client asked."""

    method: str
    names: Mapping[str, str]
    query: Mapping[str, str]
    headers: Mapping[str, str]
    """By name, each word capitalised."""
    body: bytes

    def json(self) -> dict[str, Any]:
        """Give the body as an object; raises HttpError if it is none."""
        try:
            value = json.loads(self.body)
        except ValueError:
            raise HttpError(400, "the body is not JSON") from None
        if not isinstance(value, dict):
            raise HttpError(400, "the body is not a JSON object")
        return value


@dataclass(frozen=True, slots=True)
class Reply:
    """What is answered; a body of None is no body."""

    status: int = 200
    body: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)


class Route(NamedTuple):
    """A path, as a pattern with named groups, and its methods."""

    pattern: re.Pattern[str]
    methods: Mapping[str, Callable[[Request], Reply]]


def answer(routes: Sequence[Route], request: Request, path: str) -> Reply:
    """Find the route of a request and follow it."""
    for pattern, methods in routes:
        match = pattern.fullmatch(path)
        if match is None:
            continue
        method = "GET" if request.method == "HEAD" else request.method
        if method not in methods:
            allowed = ", ".join(sorted(methods))
            error = HttpError(405, f"the methods here are {allowed}")
            error.headers["Allow"] = allowed
            raise error
        names = {name: unquote(text) for name, text in match.groupdict().items()}
        return methods[method](replace(request, names=names))
    raise HttpError(404, "there is no such path")


class Handler(BaseHTTPRequestHandler):
    """Reads requests from one connection and answers them in order."""

    server: Server
    protocol_version = "HTTP/1.1"
    # Headers and body leave in one packet: a small one behind another would wait.
    wbufsize = -1
    disable_nagle_algorithm = True

    def log_message(self, *_: Any) -> None:
        """Keep quiet."""

    def serve(self) -> None:
        """Answer one request."""
        parts = urlsplit(self.path)
        query = dict(parse_qsl(parts.query, keep_blank_values=True))
        length = int(self.headers.get("Content-Length") or 0)
        body = self.rfile.read(length)
        headers = {name.title(): value for name, value in self.headers.items()}
        request = Request(self.command, {}, query, headers, body)
        try:
            reply = answer(self.server.routes, request, parts.path)
        except HttpError as error:
            reply = Reply(error.status, error.body, error.headers)
        self._send(reply)

    do_GET = do_HEAD = do_POST = do_PUT = do_PATCH = do_DELETE = serve

    def _send(self, reply: Reply) -> None:
        body = b"" if reply.body is None else json.dumps(reply.body).encode()
        self.send_response(reply.status)
        for name, value in reply.headers.items():
            self.send_header(name, value)
        if reply.body is not None:
            self.send_header("Content-Type", "application/json")
        if reply.status not in (204, 304):
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)


class Server(ThreadingHTTPServer):
    """Serves routes on a port of this machine, a thread for each connection."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, port: int, routes: Sequence[Route]) -> None:
        """Listen; requests are answered once serve_forever is called."""
        super().__init__(("127.0.0.1", port), Handler)
        self.routes = routes
