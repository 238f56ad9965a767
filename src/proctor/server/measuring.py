"""Counts and times every request by the route that served it; plain ASGI, so that streams are not held back."""

from __future__ import annotations

import time

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from proctor.telemetry.metrics import ServerMetrics

NO_ROUTE = "none"
"""Refused before a route was looked for, or there is none."""
METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})


class MeasuredRequests:
    """Tells the metrics of each answer, when it begins."""

    def __init__(self, app: ASGIApp, metrics: ServerMetrics) -> None:
        self._app, self._metrics = app, metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began = time.monotonic()

        async def send_measured(message: Message) -> None:
            if message["type"] == "http.response.start":
                route = getattr(scope.get("route"), "path", NO_ROUTE)
                method = scope["method"] if scope["method"] in METHODS else "other"
                self._metrics.served(method, route, message["status"], time.monotonic() - began)
            await send(message)

        await self._app(scope, receive, send_measured)
