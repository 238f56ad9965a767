"""HTTP for adapters: one connection pool, and every fault as one of our own errors."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncGenerator, Callable, Coroutine, Mapping
from typing import Any, TypeVar
from urllib.parse import urlsplit

from proctor.domain.errors import ModelError, ModelUnavailableError, ProviderFaultError, UnusableAnswerError
from proctor.models.client import HttpClient
from proctor.models.connections import BrokenConnectionError, NoConnectionError
from proctor.models.destinations import UnsendableError, is_loopback, place_of
from proctor.models.dialing import Route
from proctor.models.faults import Target, fault_of
from proctor.models.http1 import AnswerParser, BodyTooLargeError
from proctor.models.proxies import UnusableProxyError, proxy_for
from proctor.models.streams import StreamedAnswer, StreamedLines
from proctor.models.trust import UntrustedError
from proctor.models.tunnels import ProxyRefusedError, refusal
from proctor.offline import is_confined, is_loopback_host
from proctor.version import __version__

MAX_ANSWER_BYTES = 64 * 1024 * 1024
CONNECT_SECONDS = 30.0
USER_AGENT = f"proctor/{__version__}"
NETWORK_FAULTS = (
    BrokenConnectionError,
    NoConnectionError,
    ProxyRefusedError,
    TimeoutError,
    BodyTooLargeError,
    UnsendableError,
    UntrustedError,
)

P = TypeVar("P", bound=AnswerParser)


class Transport:
    """Sends requests for one model; errors name the model and never hold a secret.

    The pool is opened by the first request, inside the running loop. Proxies are taken from HTTP_PROXY, HTTPS_PROXY,
    ALL_PROXY and NO_PROXY, but not for a server on this machine; certificates from the system and SSL_CERT_FILE.
    Redirects are not followed: they would carry the key on.
    """

    def __init__(self, target: Target, *, largest_answer: int = MAX_ANSWER_BYTES) -> None:
        self.target = target
        self._largest = largest_answer
        self._client: HttpClient | None = None
        self._last: tuple[str, Route | None] = ("", None)
        """The address asked last, and the way there."""
        self._is_closed = False

    async def close(self) -> None:
        self._is_closed = True
        client, self._client = self._client, None
        if client is not None:
            await client.close()

    def post(
        self, url: str, headers: Mapping[str, str], body: bytes, timeout_seconds: float
    ) -> Coroutine[Any, Any, AnswerParser]:
        """POST and read the whole answer."""
        return self.send("POST", url, headers, body, timeout_seconds)

    def send(
        self, method: str, url: str, headers: Mapping[str, str], body: bytes | None, timeout_seconds: float
    ) -> Coroutine[Any, Any, AnswerParser]:
        """Ask and read the whole answer, which is a successful one."""
        return self._exchange(method, url, headers, body, AnswerParser(self._largest), timeout_seconds)

    async def stream(
        self,
        url: str,
        headers: Mapping[str, str],
        body: bytes,
        timeout_seconds: float,
        take: Callable[[bytes], bool],
    ) -> StreamedAnswer:
        """POST and hand over each chunk as it arrives, until `take` says that it has everything."""
        return await self._stream("POST", url, headers, body, StreamedAnswer(self._largest, take), timeout_seconds)

    async def lines(self, url: str, headers: Mapping[str, str], timeout_seconds: float) -> AsyncGenerator[bytes]:
        """GET, and give each line as it arrives; the whole may be of any size, one line may not."""
        answer = StreamedLines(self._largest, self._too_large)
        asking = asyncio.create_task(self._stream("GET", url, headers, None, answer, timeout_seconds))
        asking.add_done_callback(lambda done: answer.finish(is_whole=not done.cancelled() and not done.exception()))
        try:
            async for line in answer.lines():
                yield line
            await asking
        finally:
            asking.cancel()
            await asyncio.wait([asking])

    async def _stream(
        self,
        method: str,
        url: str,
        headers: Mapping[str, str],
        body: bytes | None,
        answer: StreamedAnswer,
        timeout_seconds: float,
    ) -> StreamedAnswer:
        # Compressed by someone on the way, pieces would come when it has enough of them.
        headers = {"accept-encoding": "identity", **headers}
        await self._exchange(method, url, headers, body, answer, timeout_seconds)
        if answer.fault is not None:
            raise answer.fault
        return answer

    async def _exchange(
        self,
        method: str,
        url: str,
        headers: Mapping[str, str],
        body: bytes | None,
        answer: P,
        timeout_seconds: float,
    ) -> P:
        route, client = self._route(url), self._opened()
        try:
            await client.exchange(method, route, headers, body, answer, timeout_seconds)
        except NETWORK_FAULTS as error:
            raise self._fault(error, url, timeout_seconds) from None
        if answer.status >= 300:
            raise self._refusal(answer, route)
        return answer

    def _route(self, url: str) -> Route:
        """The way to an address; raises when it may not be asked, or cannot be."""
        if is_confined():
            self._refuse_beyond_here(url)
        if self._last[0] == url and self._last[1] is not None:
            return self._last[1]
        try:
            destination = place_of(url)
            route = Route(destination, None if is_loopback(url) else proxy_for(destination, os.environ))
        except UnsendableError as error:
            raise self._fault(error, url, 0) from None
        except UnusableProxyError as error:
            raise ModelUnavailableError(f"{self.target.model}: {error}.") from None
        self._last = (url, route)
        return route

    def _opened(self) -> HttpClient:
        if self._client is None:
            if self._is_closed:
                raise ModelUnavailableError(f"{self.target.model} was asked after it was closed.")
            self._client = HttpClient(USER_AGENT, CONNECT_SECONDS)
        return self._client

    def _refuse_beyond_here(self, url: str) -> None:
        if not is_loopback_host(urlsplit(url).hostname or ""):
            where = f"{self.target.model}: {_place(url)} is not on this machine"
            raise ModelUnavailableError(f"{where}, and this run is offline: nothing was sent.")

    def _refusal(self, answer: AnswerParser, route: Route) -> ModelError:
        if answer.status == 407 and route.is_relayed:
            return self._refused_by_proxy(refusal(407), str(route))
        return fault_of(self.target, answer.status, answer.headers, answer.body)

    def _too_large(self, kind: type[ModelError] = ProviderFaultError) -> ModelError:
        return kind(f"{self.target.model} sent more than {self._largest // 2**20} MB: given up.")

    def _fault(self, error: Exception, url: str, timeout_seconds: float) -> ModelError:
        """A network fault in our words."""
        model, where = self.target.model, _place(url)
        match error:
            case BodyTooLargeError():
                # What a server refuses with is its own; what it answers with is the model's.
                return self._too_large(UnusableAnswerError if error.status < 300 else ProviderFaultError)
            case TimeoutError():
                return ProviderFaultError(f"{model}: no complete answer from {where} within {timeout_seconds:g} s")
            case UnsendableError():
                return ModelUnavailableError(f"{model}: no request can be made to {where} ({error}). Check base_url.")
            case UntrustedError():
                return ModelUnavailableError(f"{model}: {error}")
            case ProxyRefusedError():
                return self._refused_by_proxy(error, where)
            case NoConnectionError():
                return ProviderFaultError(f"{model}: no connection to {where} ({error})")
            case _:
                return ProviderFaultError(f"{model}: the connection to {where} broke ({error})")

    def _refused_by_proxy(self, error: ProxyRefusedError, where: str) -> ModelError:
        kind = ModelUnavailableError if error.is_lasting else ProviderFaultError
        return kind(f"{self.target.model}: the proxy refused to connect to {where} ({error}).")


def _place(url: str) -> str:
    """Scheme, host and port: never a query, which may hold a secret."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return "its address"
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"
