"""Somebody who listens to webhooks: keeps what he is told, and answers what he is set to."""

from __future__ import annotations

import ssl
import time
from collections.abc import Callable
from typing import Any

from fakes.loopback import Exchange, Loopback, Request
from server.serving import SECRET


class Receiver:
    """Keeps what it is told, and answers what it is set to."""

    def __init__(self, context: ssl.SSLContext | None = None) -> None:
        self.heard: list[Request] = []
        self.answer: Callable[[Exchange], Any] = lambda exchange: exchange.reply(200, b"thanks")
        self.server = Loopback(self._handle, context=context)

    async def _handle(self, exchange: Exchange) -> None:
        self.heard.append(exchange.request)
        await self.answer(exchange)

    @property
    def url(self) -> str:
        return f"{self.server.url}/told?team=evals"

    @property
    def environment(self) -> dict[str, str]:
        """Of a server whose operator lists this receiver."""
        return {"PROCTOR_WEBHOOK_HOSTS": f"127.0.0.1:{self.server.port}", "PROCTOR_SECRET": SECRET}

    def wait(self, count: int) -> list[Request]:
        until = time.monotonic() + 60
        while len(self.heard) < count:
            assert time.monotonic() < until, f"{len(self.heard)} of {count} messages came"
            time.sleep(0.05)
        return self.heard
