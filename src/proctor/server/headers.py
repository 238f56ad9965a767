"""What holds for every request before a route sees it: a known host, no foreign page, headers that confine browsers.

Plain ASGI: a middleware that buffers would hold back streams of events.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterable
from ipaddress import ip_address
from urllib.parse import quote, urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import RedirectResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from proctor.domain.log_context import log_context
from proctor.server.problems import ProblemError, problem_response
from proctor.server.request_limit import RATE_LIMIT

CHANGES = frozenset({"POST", "PUT", "PATCH", "DELETE"})
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; "
    "font-src 'self' data:; connect-src 'self'; manifest-src 'self'; worker-src 'self' blob:; frame-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'"
)
SECURITY = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "X-Frame-Options": "DENY",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}
STATIC = ("script-src", "style-src", "font-src", "img-src")
"""What may come from where the dashboard's files are."""
PROBES = frozenset({"/health", "/ready"})
KEPT = "/%:@!$&'()*+,;=~-._"
REQUEST_ID = re.compile(r"[\w.-]{1,64}")
LOOPBACK = frozenset({"localhost", "127.0.0.1", "[::1]"})


def policy(static_url: str | None) -> str:
    """What a page may load; hashed files of the dashboard may be elsewhere, and nothing else."""
    if static_url is None:
        return POLICY
    parts = urlsplit(static_url)
    origin, found = f"{parts.scheme}://{parts.netloc}", POLICY
    for name in STATIC:
        found = found.replace(f"{name} 'self'", f"{name} 'self' {origin}")
    return found


def hosts_of(host: str, origin: str | None, named: Iterable[str] = ()) -> frozenset[str]:
    """The names under which a server that listens on `host` may be called."""
    own = {host} if host not in ("0.0.0.0", "::") else set()  # noqa: S104 - compared
    public = {urlsplit(origin).hostname or ""} if origin else set()
    return LOOPBACK | {f"[{name}]" if ":" in name else name for name in map(str.lower, {*own, *public, *named})}


def is_encrypted(scope: Scope, origin: str | None) -> bool:
    """Whether people reach the server by TLS: its own, or that of a proxy whose address `origin` is."""
    return scope.get("scheme") in ("https", "wss") or (origin or "").lower().startswith("https://")


class SecurityMiddleware:
    """Refuses foreign hosts (421) and changes by pages of other origins (403); names each request; adds headers."""

    def __init__(
        self, app: ASGIApp, hosts: frozenset[str], origin: str | None = None, static_url: str | None = None
    ) -> None:
        self._app, self._hosts, self._origin = app, hosts, origin
        self._security = {**SECURITY, "Content-Security-Policy": policy(static_url)}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        given = headers.get("x-request-id", "")
        request_id = given if REQUEST_ID.fullmatch(given) else secrets.token_hex(8)
        scope.setdefault("state", {})["request_id"] = request_id
        with log_context(request_id=request_id):
            await self._call_checked(scope, receive, send, headers, request_id)

    async def _call_checked(
        self, scope: Scope, receive: Receive, send: Send, headers: Headers, request_id: str
    ) -> None:

        async def send_with_headers(message: Message) -> None:
            if message["type"] in ("http.response.start", "websocket.http.response.start"):
                answer = MutableHeaders(scope=message)
                for name, value in self._security.items():
                    answer.setdefault(name, value)
                if is_encrypted(scope, self._origin):
                    answer.setdefault("Strict-Transport-Security", "max-age=31536000; includeSubDomains")
                answer["X-Request-Id"] = request_id
                if (rate := scope["state"].get(RATE_LIMIT)) is not None:
                    for name, value in rate.headers().items():
                        answer.setdefault(name, value)
                if "cache-control" not in answer:
                    answer["Cache-Control"] = "no-store"
            await send(message)

        refusal = self._refusal(scope, headers)
        secure = None if refusal is not None else self._secure_address(scope, headers)
        if secure is not None:
            await RedirectResponse(secure, 308)(scope, receive, send_with_headers)
        elif refusal is None:
            await self._app(scope, receive, send_with_headers)
        elif scope["type"] == "websocket":
            await receive()
            await send({"type": "websocket.close", "code": 1008, "reason": refusal.detail[:120]})
        else:
            await problem_response(Request(scope), refusal)(scope, receive, send_with_headers)

    def _refusal(self, scope: Scope, headers: Headers) -> ProblemError | None:
        host = headers.get("host", "").lower()
        name = _without_port(host)
        if (name not in self._hosts and not is_own_address(name, scope)) or headers.getlist("host")[1:]:
            # A name of an attacker's that was made to mean this machine (DNS rebinding) ends here.
            return ProblemError(421, "foreign-host", "This server is not called by that name.")
        origin = headers.get("origin")
        is_change = scope["type"] == "websocket" or scope["method"] in CHANGES
        if origin is not None and is_change and not self._is_own(origin, host):
            return ProblemError(403, "foreign-origin", "A page of another origin may change nothing here.")
        site = headers.get("sec-fetch-site", "none")
        if origin is None and is_change and site not in ("same-origin", "none"):
            return ProblemError(403, "foreign-origin", "A page of another origin may change nothing here.")
        # A picture or a script of another site: it could not be read there, and the work for it would be done here.
        is_embedded = site == "cross-site" and headers.get("sec-fetch-mode") != "navigate"
        if is_embedded and scope["path"].startswith("/api/"):
            return ProblemError(403, "foreign-origin", "A page of another site may ask nothing here.")
        return None

    def _secure_address(self, scope: Scope, headers: Headers) -> str | None:
        """Where a page is that was asked for in the clear, as the proxy says; none where it says nothing of that.

        Guessing would send those in circles whose proxy does not say it. What probes ask is answered either way.
        """
        is_clear = headers.get("x-forwarded-proto", "").rpartition(",")[2].strip().lower() == "http"
        if self._origin is None or not self._origin.lower().startswith("https://") or not is_clear:
            return None
        if scope["type"] != "http" or scope["path"] in PROBES:
            return None
        query = scope["query_string"].decode("latin-1")
        path = quote(scope["path"].encode("utf-8", "surrogateescape"), safe=KEPT)
        return f"{self._origin.rstrip('/')}{path}{'?' if query else ''}{query}"

    def _is_own(self, origin: str, host: str) -> bool:
        if self._origin is not None and origin.lower() == self._origin.lower().rstrip("/"):
            return True
        try:
            return urlsplit(origin).netloc.lower() == host
        except ValueError:
            return False


def is_own_address(name: str, scope: Scope) -> bool:
    """Whether it is the address, as a number, that this connection came in at: load balancers ask for health that way.

    DNS rebinding cannot lead here: an attacker's page has a name of his own.
    """
    try:
        return ip_address(name.strip("[]")) == ip_address((scope.get("server") or ("",))[0])
    except ValueError:
        return False


def _without_port(host: str) -> str:
    return host.rpartition("]")[0] + "]" if host.startswith("[") else host.partition(":")[0]
