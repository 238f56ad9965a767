"""The `program` of a problem whose answer is an HTTP service: real requests over real connections."""

from __future__ import annotations

import http.client
import json as json_module
import socket
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from proctor.programs.checking.link import HarnessLink
from proctor.programs.checking.program import Done, ProgramUnderTest, _done, as_bytes

MAX_BODY = 32 << 20


@dataclass(frozen=True, slots=True)
class ServiceReply:
    status: int
    headers: http.client.HTTPMessage
    """Looked up in upper or lower case alike."""
    body: bytes

    @property
    def text(self) -> str:
        return self.body.decode("utf-8", "replace")

    def json(self) -> Any:
        return json_module.loads(self.body)


class ServiceUnderTest(ProgramUnderTest):
    """Started before the first check and shared by all; one that has ended is started again for the next check."""

    def __init__(self, link: HarnessLink, setup: Mapping[str, Any]) -> None:
        super().__init__(link, setup)
        self._host: str = setup["host"]
        self.port: int = setup["port"]

    def begin_check(self) -> None:
        self._moved(self._link.ask("begin"))

    def restart(self, *, fresh: bool = False) -> None:
        """Stop it, start it again and wait until it is ready; its data is kept unless a fresh one is asked for."""
        self._moved(self._link.ask("restart", fresh=fresh))

    def kill(self) -> None:
        self._link.ask("kill")

    def terminate(self, timeout: float = 5) -> Done | None:
        """TERM, and how it ended; None when it is still running by then."""
        answer = self._link.ask("terminate", seconds=timeout)
        return None if answer is None else _done(answer)

    def logs(self) -> str:
        return str(self._link.ask("logs").decode("utf-8", "replace"))

    def connect(self, timeout: float = 10) -> socket.socket:
        return socket.create_connection((self._host, self.port), timeout)

    def request(
        self,
        method: str,
        path: str,
        *,
        json: Any = None,
        body: str | bytes | None = None,
        headers: Mapping[str, str] | None = None,
        timeout: float = 10,
    ) -> ServiceReply:
        sent = dict(headers or {})
        if json is not None:
            body = json_module.dumps(json).encode()
            if not any(name.lower() == "content-type" for name in sent):
                sent["content-type"] = "application/json"
        connection = http.client.HTTPConnection(self._host, self.port, timeout=timeout)
        try:
            connection.request(method, path, body=None if body is None else as_bytes(body), headers=sent)
            reply = connection.getresponse()
            content = reply.read(MAX_BODY)
            if len(content) == MAX_BODY:
                raise AssertionError(f"the answer to {method} {path} is longer than {MAX_BODY} bytes")
            return ServiceReply(reply.status, reply.headers, content)
        finally:
            connection.close()

    def get(self, path: str, **options: Any) -> ServiceReply:
        return self.request("GET", path, **options)

    def post(self, path: str, **options: Any) -> ServiceReply:
        return self.request("POST", path, **options)

    def put(self, path: str, **options: Any) -> ServiceReply:
        return self.request("PUT", path, **options)

    def patch(self, path: str, **options: Any) -> ServiceReply:
        return self.request("PATCH", path, **options)

    def delete(self, path: str, **options: Any) -> ServiceReply:
        return self.request("DELETE", path, **options)

    def head(self, path: str, **options: Any) -> ServiceReply:
        return self.request("HEAD", path, **options)

    def together(self, requests: Sequence[Sequence[Any]]) -> list[ServiceReply]:
        """All at the same time, one thread each; the replies in the order of the requests."""
        with ThreadPoolExecutor(max(1, len(requests))) as threads:
            pending = [
                threads.submit(self.request, one[0], one[1], **(one[2] if len(one) > 2 else {})) for one in requests
            ]
            return [one.result() for one in pending]

    def _moved(self, answer: Mapping[str, Any]) -> None:
        if answer.get("problem"):
            raise AssertionError(f"the service is not ready: {answer['problem']}")
        self._host, self.port = answer["host"], answer["port"]
