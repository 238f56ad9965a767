"""Counts, times and logs every request by the route that served it; plain ASGI, so that streams are not held back."""

from __future__ import annotations

import itertools
import logging
import time

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from proctor.telemetry.metrics import ServerMetrics

NO_ROUTE = "none"
"""Refused before a route was looked for, or there is none."""
QUIET = frozenset({"/health", "/ready", "/metrics", "/{path:path}"})
"""Asked for again and again; while all is well, few of these requests are logged."""
log = logging.getLogger("proctor.access")
METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})


class MeasuredRequests:
    """Tells the metrics of each answer, when it begins."""

    def __init__(self, app: ASGIApp, metrics: ServerMetrics, sample: int) -> None:
        self._app, self._metrics, self._sample = app, metrics, sample
        self._quiet = itertools.count()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        began, status = time.monotonic(), 0

        async def send_measured(message: Message) -> None:
            nonlocal status
            if message["type"] in ("http.response.start", "websocket.http.response.start"):
                status = message["status"]
            elif message["type"] == "websocket.accept":
                status = 101
            if message["type"] == "http.response.start":
                route = getattr(scope.get("route"), "path", NO_ROUTE)
                method = scope["method"] if scope["method"] in METHODS else "other"
                self._metrics.served(method, route, message["status"], time.monotonic() - began)
            await send(message)

        try:
            await self._app(scope, receive, send_measured)
        finally:
            self._log(scope, status, time.monotonic() - began)

    def _log(self, scope: Scope, status: int, seconds: float) -> None:
        """Who asked for what and what came of it, after the last byte; no body, no query, no header."""
        if not log.isEnabledFor(logging.INFO):
            return
        route = getattr(scope.get("route"), "path", NO_ROUTE)
        state = scope.get("state", {})
        fields = {
            "method": scope.get("method", "WEBSOCKET"), "path": scope["path"], "route": route, "status": status,
            "duration_ms": round(1000 * seconds, 2), "user": state.get("user"), "project": state.get("project"),
            "request_id": state.get("request_id"), "client": (scope.get("client") or ("",))[0],
        }  # fmt: skip
        if route in QUIET and status < 400:
            if next(self._quiet) % self._sample:
                return
            fields["sampled"] = self._sample
        log.info("request", extra=fields)
