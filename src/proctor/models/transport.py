"""HTTP for adapters: one connection pool, and every fault as one of our own errors."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import urlsplit

from proctor.domain.errors import ModelError, ModelUnavailableError, ProviderFaultError
from proctor.domain.offline import is_confined, is_loopback_host
from proctor.models.direct import (
    BrokenConnectionError,
    DirectClient,
    NoConnectionError,
    Place,
    UnsendableError,
    has_proxy,
    place_of,
)
from proctor.models.faults import Target, fault_of
from proctor.models.http1 import TooLargeError
from proctor.models.shutdown import settle_at_exit
from proctor.version import __version__

if TYPE_CHECKING:
    from pyreqwest.client import Client
    from pyreqwest.request import RequestBuilder
    from pyreqwest.response import Response

LARGEST_ANSWER = 64 * 1024 * 1024
CONNECT_SECONDS = 30.0
LINGER_SECONDS = 0.25
USER_AGENT = f"proctor/{__version__}"
CERTIFICATE_WORDS = ("certificate", "UnknownIssuer")


@dataclass(frozen=True, slots=True)
class Reply:
    """A successful answer; the names of its headers are in lower case or not, as you like."""

    status: int
    headers: Mapping[str, str]
    body: memoryview


class Transport:
    """Sends requests for one model; errors name the model and never hold a secret.

    The pool is opened by the first request, inside the running loop. Proxies are taken from HTTP_PROXY, HTTPS_PROXY,
    ALL_PROXY and NO_PROXY, but not for a server on this machine; certificates from SSL_CERT_FILE. Redirects are not
    followed: they would carry the key on. Plain HTTP that needs no proxy goes out directly, all else through pyreqwest.
    """

    def __init__(self, target: Target, *, largest_answer: int = LARGEST_ANSWER) -> None:
        self.target = target
        self._largest = largest_answer
        self._client: Client | None = None
        self._direct: DirectClient | None = None
        self._way: tuple[str, Place | None] = ("", None)
        """The address asked last, and where it leads when it can be asked directly."""
        self._is_closed = False

    async def close(self) -> None:
        self._is_closed = True
        client, self._client = self._client, None
        direct, self._direct = self._direct, None
        if client is not None:
            await client.close()
        if direct is not None:
            await direct.close()

    async def post(self, url: str, headers: Mapping[str, str], body: bytes, timeout_seconds: float) -> Reply:
        """POST and read the whole answer."""
        return await self.send("POST", url, headers, body, timeout_seconds)

    async def send(
        self, method: str, url: str, headers: Mapping[str, str], body: bytes | None, timeout_seconds: float
    ) -> Reply:
        """Ask and read the whole answer."""
        if self._way[0] != url:
            self._way = (url, self._directly(url))
        if self._way[1] is not None:
            return await self._send_directly(method, url, self._way[1], headers, body, timeout_seconds)
        from pyreqwest.exceptions import PyreqwestError

        try:
            async with self._request(method, url, headers, body, timeout_seconds).build_streamed() as response:
                content = await self._read(response)
                if response.status >= 300:
                    raise fault_of(self.target, response.status, _headers(response), bytes(content))
                return Reply(response.status, _headers(response), content)
        except (PyreqwestError, TimeoutError) as error:
            raise self._fault(error, url, timeout_seconds) from None

    async def _send_directly(
        self,
        method: str,
        url: str,
        place: Place,
        headers: Mapping[str, str],
        body: bytes | None,
        timeout_seconds: float,
    ) -> Reply:
        self._refuse_when_offline(url)
        if self._direct is None:
            self._refuse_when_closed()
            self._direct = DirectClient(USER_AGENT, CONNECT_SECONDS)
        try:
            answer = await self._direct.send(
                method, place, headers, body, timeout_seconds=timeout_seconds, largest=self._largest
            )
        except TooLargeError:
            raise self._too_large() from None
        except (NoConnectionError, BrokenConnectionError, UnsendableError, TimeoutError) as error:
            raise self._direct_fault(error, url, timeout_seconds) from None
        if answer.status >= 300:
            raise fault_of(self.target, answer.status, answer.headers, answer.body)
        return Reply(answer.status, answer.headers, memoryview(answer.body))

    @staticmethod
    def _directly(url: str) -> Place | None:
        place = place_of(url)
        return None if place is None or (not is_loopback(url) and has_proxy()) else place

    async def stream(
        self,
        url: str,
        headers: Mapping[str, str],
        body: bytes,
        timeout_seconds: float,
        take: Callable[[bytes], bool],
    ) -> Mapping[str, str]:
        """POST and hand over each chunk as it arrives, until `take` says that it has everything; gives the headers."""
        from pyreqwest.exceptions import PyreqwestError

        try:
            builder = self._request("POST", url, headers, body, timeout_seconds).streamed_read_buffer_limit(0)
            async with builder.build_streamed() as response:
                if response.status >= 300:
                    raise fault_of(self.target, response.status, _headers(response), bytes(await self._read(response)))
                reader, size = response.body_reader, 0
                while (chunk := await reader.read_chunk()) is not None:
                    size += len(chunk)
                    if size > self._largest:
                        raise self._too_large()
                    if take(bytes(chunk)):
                        await _drain(response)
                        break
                return _headers(response)
        except (PyreqwestError, TimeoutError) as error:
            raise self._fault(error, url, timeout_seconds) from None

    async def lines(self, url: str, headers: Mapping[str, str], timeout_seconds: float) -> AsyncGenerator[bytes]:
        """GET, and give each line as it arrives; the whole may be of any size, one line may not."""
        from pyreqwest.exceptions import PyreqwestError

        try:
            builder = self._request("GET", url, headers, None, timeout_seconds)
            async with builder.build_streamed() as response:
                if response.status >= 300:
                    raise fault_of(self.target, response.status, _headers(response), bytes(await self._read(response)))
                reader, begun, size = response.body_reader, list[bytes](), 0
                while (chunk := await reader.read_chunk()) is not None:
                    first, *others = bytes(chunk).split(b"\n")
                    begun.append(first)
                    size += len(first)
                    if size > self._largest:
                        raise self._too_large()
                    if others:
                        for line in filter(bytes.strip, (b"".join(begun), *others[:-1])):
                            yield line
                        begun, size = [others[-1]], len(others[-1])
                if (last := b"".join(begun)).strip():
                    yield last
        except (PyreqwestError, TimeoutError) as error:
            raise self._fault(error, url, timeout_seconds) from None

    def _request(
        self, method: str, url: str, headers: Mapping[str, str], body: bytes | None, timeout_seconds: float
    ) -> RequestBuilder:
        self._refuse_when_offline(url)
        if self._client is None:
            self._client = self._open(url)
        builder = self._client.request(method, url).headers(headers).timeout(timedelta(seconds=timeout_seconds))
        return builder if body is None else builder.body_bytes(body)

    def _refuse_when_offline(self, url: str) -> None:
        if is_confined() and not is_loopback_host(urlsplit(url).hostname or ""):
            where = f"{self.target.model}: {_place(url)} is not on this machine"
            raise ModelUnavailableError(f"{where}, and this run is offline: nothing was sent.")

    def _refuse_when_closed(self) -> None:
        if self._is_closed:
            raise ModelUnavailableError(f"{self.target.model} was asked after it was closed.")

    def _open(self, url: str) -> Client:
        from pyreqwest.client import ClientBuilder

        self._refuse_when_closed()
        settle_at_exit()
        builder = ClientBuilder().user_agent(USER_AGENT).follow_redirects(False).referer(False)
        if is_loopback(url):
            builder = builder.no_proxy()
        return builder.connect_timeout(timedelta(seconds=CONNECT_SECONDS)).build()

    async def _read(self, response: Response) -> memoryview:
        """The whole body, unless it is larger than anything we accept."""
        length = response.get_header("content-length")
        if length is not None and length.isdigit():
            if int(length) > self._largest:
                raise self._too_large()
            return memoryview(cast("Any", await response.bytes()))
        parts, size = [], 0
        reader = response.body_reader
        while (chunk := await reader.read_chunk()) is not None:
            size += len(chunk)
            if size > self._largest:
                raise self._too_large()
            parts.append(bytes(chunk))
        return memoryview(b"".join(parts))

    def _too_large(self) -> ModelError:
        return ProviderFaultError(f"{self.target.model} sent more than {self._largest // 2**20} MB: given up.")

    def _fault(self, error: Exception, url: str, timeout_seconds: float) -> ModelError:
        """A network fault in our words: the library's own may quote the request."""
        from pyreqwest.exceptions import BuilderError, ConnectError

        if isinstance(error, TimeoutError):
            return self._too_late(url, timeout_seconds)
        model, where = self.target.model, _place(url)
        cause = self.target.clean(_innermost(error))
        if any(word in cause for word in CERTIFICATE_WORDS):
            advice = "If its certificate is your own, name the authority's file in SSL_CERT_FILE."
            return ModelUnavailableError(f"{model}: {where} cannot be trusted ({cause}). {advice}")
        if isinstance(error, BuilderError):
            return self._unsendable(url, cause)
        return self._lost(url, cause, was_connected=not isinstance(error, ConnectError))

    def _direct_fault(self, error: Exception, url: str, timeout_seconds: float) -> ModelError:
        if isinstance(error, TimeoutError):
            return self._too_late(url, timeout_seconds)
        if isinstance(error, UnsendableError):
            return self._unsendable(url, str(error))
        return self._lost(url, str(error), was_connected=not isinstance(error, NoConnectionError))

    def _too_late(self, url: str, timeout_seconds: float) -> ModelError:
        return ProviderFaultError(
            f"{self.target.model}: no complete answer from {_place(url)} within {timeout_seconds:g} s"
        )

    def _unsendable(self, url: str, cause: str) -> ModelError:
        return ModelUnavailableError(
            f"{self.target.model}: no request can be made to {_place(url)} ({cause}). Check base_url."
        )

    def _lost(self, url: str, cause: str, *, was_connected: bool) -> ModelError:
        if was_connected:
            return ProviderFaultError(f"{self.target.model}: the connection to {_place(url)} broke ({cause})")
        return ProviderFaultError(f"{self.target.model}: no connection to {_place(url)} ({cause})")


def is_loopback(url: str) -> bool:
    """Whether an address is on this machine."""
    host = urlsplit(url).hostname or ""
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


async def _drain(response: Response) -> None:
    """Let a finished stream end, so that its connection can be used again; a server that lingers is not waited for."""
    try:
        async with asyncio.timeout(LINGER_SECONDS):
            while await response.body_reader.read_chunk() is not None:
                pass
    except TimeoutError:
        return


def _headers(response: Response) -> Mapping[str, str]:
    return cast("Mapping[str, str]", response.headers)


def _place(url: str) -> str:
    """Scheme, host and port: never a query, which may hold a secret."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"


def _innermost(error: Exception) -> str:
    details = getattr(error, "details", None) or {}
    causes = [str(cause.get("message", "")) for cause in details.get("causes") or ()]
    return causes[-1] if causes else type(error).__name__
