"""Asks a server: one request, its answer, and what its refusals mean."""

from __future__ import annotations

import http.client
import os
import ssl
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from typing import Any, TypeVar
from urllib.parse import urlencode, urlsplit

import msgspec
import orjson

from proctor.domain.documents.problem_details import ProblemDetails
from proctor.domain.errors import NotFoundError, RunError, StoreError, UserError

T = TypeVar("T")
Query = Mapping[str, Any]
V1 = "/api/v1"
TIMEOUT_SECONDS = 120.0
PAGE = 500
"""Of what is read page after page."""
PIECE = 256 * 1024


class ServerConnection:
    """Where a server is and which key it is sent; every request opens a connection of its own."""

    def __init__(self, url: str, key: str | None = None, *, timeout_seconds: float = TIMEOUT_SECONDS) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.username:
            raise UserError(f"A server is written http://HOST:PORT or https://HOST, not {url!r}.")
        self.url = url.rstrip("/")
        self._parts, self._key, self._timeout = parts, key, timeout_seconds

    def _ask(
        self, method: str, path: str, query: Query | None = None, body: Any = None, headers: Query | None = None
    ) -> bytes:  # fmt: skip
        connection, answer = self._open(method, f"{V1}{path}", query, body, headers)
        with closing(connection):
            return self._or_store_error(answer.read)

    def _pieces(self, path: str, query: Query) -> Iterator[bytes]:
        connection, answer = self._open("GET", f"{V1}{path}", query)
        with closing(connection):
            while piece := self._or_store_error(lambda: answer.read(PIECE)):
                yield piece

    def _open(
        self, method: str, path: str, query: Query | None = None, body: Any = None, headers: Query | None = None
    ) -> tuple[http.client.HTTPConnection, http.client.HTTPResponse]:
        given = {name: _text(value) for name, value in (query or {}).items() if value not in (None, [], ())}
        address = f"{self._parts.path.rstrip('/')}{path}" + (f"?{urlencode(given, doseq=True)}" if given else "")
        sent = {"Accept": "application/json", **(headers or {})}
        if self._key is not None:
            sent["Authorization"] = f"Bearer {self._key}"
        content = body
        if hasattr(body, "read"):
            start = body.tell()
            sent["Content-Length"] = str(body.seek(0, os.SEEK_END) - body.seek(start))
        elif body is not None and not isinstance(body, bytes):
            sent["Content-Type"], content = "application/json", orjson.dumps(body)
        connection = self._connect()
        try:
            self._or_store_error(lambda: _send(connection, method, address, content, sent))
            answer = self._or_store_error(connection.getresponse)
            _refuse_failure(answer.status, lambda: self._or_store_error(answer.read), self.url)
        except BaseException:
            connection.close()
            raise
        return connection, answer

    def _connect(self) -> http.client.HTTPConnection:
        host, port = str(self._parts.hostname), self._parts.port
        if self._parts.scheme == "http":
            return http.client.HTTPConnection(host, port, timeout=self._timeout)
        return http.client.HTTPSConnection(host, port, timeout=self._timeout, context=ssl.create_default_context())

    def _or_store_error(self, ask: Callable[[], T]) -> T:
        try:
            return ask()
        except (OSError, http.client.HTTPException) as error:
            said = getattr(error, "strerror", None) or str(error) or type(error).__name__
            raise StoreError(f"The server {self.url} does not answer: {said}.") from error

    def _convert(self, body: bytes, kind: type[T]) -> T:
        try:
            return msgspec.json.decode(body, type=kind)
        except msgspec.MsgspecError as error:
            raise StoreError(f"{self.url} did not answer as a Proctor server of this version does: {error}.") from error


def _send(
    connection: http.client.HTTPConnection, method: str, address: str, content: Any, headers: Mapping[str, str]
) -> None:
    try:
        connection.request(method, address, content, headers)
    except (BrokenPipeError, ConnectionResetError):
        if content is None:
            raise
        # A server that has heard enough answers and closes: what it said is there to be read.


def _text(value: Any) -> Any:
    if isinstance(value, bool):
        return str(value).lower()
    return [str(item) for item in value] if isinstance(value, Sequence) and not isinstance(value, str) else str(value)


def _refuse_failure(status: int, read: Callable[[], bytes], url: str) -> None:
    if status >= 300:
        raise _error(status, read(), url)


def _error(status: int, body: bytes, url: str) -> Exception:
    """What the library would have raised."""
    try:
        detail = msgspec.json.decode(body, type=ProblemDetails).detail
    except msgspec.MsgspecError:
        return StoreError(f"{url} answered {status}, and it is not a Proctor server that says so.")
    if status == 404:
        return NotFoundError(detail)
    if status == 409:
        return RunError(detail)
    return StoreError(detail) if status >= 500 else UserError(detail)
