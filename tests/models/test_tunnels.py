"""Through proxies of every kind: what they learn, and what is said when they refuse."""

from __future__ import annotations

import asyncio
import gc
import socket
import time
from collections.abc import Callable, Coroutine, Iterator
from ssl import SSLContext
from typing import Any

import pytest
import uvloop

from fakes.authority import NAME, Authority
from fakes.loopback import Exchange, Loopback
from fakes.provider import FakeProvider
from fakes.proxy import Proxy
from models.asking import KEY, make, prompt
from proctor.domain.errors import ModelError, ModelUnavailableError, ProviderFaultError

Run = Callable[[Coroutine[Any, Any, Any]], Any]
LOGIN = ("us@er", "pa:ss/word")
WRITTEN = "us%40er:pa%3Ass%2Fword@"


@pytest.fixture(params=[asyncio.run, uvloop.run], ids=["asyncio", "uvloop"])
def run(request: pytest.FixtureRequest) -> Run:
    return request.param  # type: ignore[no-any-return]


@pytest.fixture
def elsewhere(authority: Authority, certificate: SSLContext, monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeProvider]:
    """A provider over TLS at a name that only a proxy can find."""
    monkeypatch.setenv("SSL_CERT_FILE", str(authority.file))
    for name in ("https_proxy", "all_proxy", "no_proxy", "http_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    with FakeProvider(key=KEY, context=certificate, name=NAME) as provider:
        yield provider


def asked(run: Run, provider: FakeProvider, times: int = 2) -> str | ModelError:
    async def go() -> str | ModelError:
        model = make(f"openai/m?base_url={provider.url}/v1&stream=true", {"OPENAI_API_KEY": KEY})
        try:
            for _ in range(times):
                text = (await model.respond(prompt("3 + 4"), {}, timeout_seconds=20)).text
        except ModelError as error:
            return error
        finally:
            await model.close()
        return text

    return run(go())  # type: ignore[no-any-return]


@pytest.mark.parametrize("login", [None, LOGIN], ids=["open", "with a password"])
@pytest.mark.parametrize("kind", ["http", "https", "socks5", "socks5h"])
def test_an_answer_comes_through_any_kind_of_proxy(
    run: Run,
    elsewhere: FakeProvider,
    certificate: SSLContext,
    monkeypatch: pytest.MonkeyPatch,
    kind: str,
    login: tuple[str, str] | None,
) -> None:
    context = certificate if kind == "https" else None
    with Proxy(is_socks=kind.startswith("socks"), login=login, context=context) as proxy:
        monkeypatch.setenv("HTTPS_PROXY", f"{kind}://{WRITTEN if login else ''}{proxy.address}")
        assert asked(run, elsewhere) == "ANSWER: 7"
    assert len(proxy.heard) == 1  # The second question went through the same tunnel.
    assert proxy.passed > 0


def test_a_proxy_learns_where_to_connect_and_nothing_of_the_request(
    run: Run, elsewhere: FakeProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Proxy() as proxy:
        monkeypatch.setenv("HTTPS_PROXY", proxy.address)
        assert asked(run, elsewhere) == "ANSWER: 7"
    [head] = proxy.heard
    first, *fields = head.decode().removesuffix("\r\n\r\n").split("\r\n")
    destination = f"{NAME}:{elsewhere.port}"
    assert first == f"CONNECT {destination} HTTP/1.1"
    assert sorted(line.partition(":")[0] for line in fields) == ["host", "user-agent"]
    assert f"host: {destination}" in fields
    sent = elsewhere.requests[-1].headers
    assert sent["authorization"] == f"Bearer {KEY}"
    assert "proxy-authorization" not in sent


@pytest.mark.parametrize("is_socks", [False, True], ids=["connect", "socks"])
@pytest.mark.parametrize("written", ["", "us%40er:wrong@"], ids=["none", "wrong"])
def test_a_proxy_that_wants_a_password_says_so_and_no_password_is_shown(
    run: Run, elsewhere: FakeProvider, monkeypatch: pytest.MonkeyPatch, is_socks: bool, written: str
) -> None:
    with Proxy(is_socks=is_socks, login=LOGIN) as proxy:
        monkeypatch.setenv("ALL_PROXY", f"{'socks5' if is_socks else 'http'}://{written}{proxy.address}")
        error = asked(run, elsewhere)
    assert isinstance(error, ModelUnavailableError)
    text = str(error)
    assert text.startswith(f"openai/m: the proxy refused to connect to https://{NAME}:{elsewhere.port} (")
    assert "user name and" in text
    assert "wrong" not in text
    assert "\n" not in text
    assert elsewhere.requests == []


@pytest.mark.parametrize(
    ("is_socks", "status", "kind", "words"),
    [
        (False, 403, ModelUnavailableError, "HTTP 403"),
        (False, 502, ProviderFaultError, "HTTP 502"),
        (False, 429, ProviderFaultError, "HTTP 429"),
        (True, 2, ModelUnavailableError, "its rules do not allow it"),
        (True, 4, ProviderFaultError, "the host cannot be reached"),
        (True, 99, ProviderFaultError, "it failed"),
    ],
)
def test_a_refusal_says_why_and_only_some_may_be_tried_again(
    run: Run,
    elsewhere: FakeProvider,
    monkeypatch: pytest.MonkeyPatch,
    is_socks: bool,
    status: int,
    kind: type[ModelError],
    words: str,
) -> None:
    with Proxy(is_socks=is_socks, status=status) as proxy:
        monkeypatch.setenv("HTTPS_PROXY", f"{'socks5' if is_socks else 'http'}://{proxy.address}")
        error = asked(run, elsewhere)
    assert type(error) is kind
    assert f"the proxy refused to connect to https://{NAME}:{elsewhere.port} ({words})" in str(error)


@pytest.mark.parametrize("is_socks", [False, True], ids=["connect", "socks"])
def test_a_proxy_that_speaks_for_the_server_is_not_listened_to(
    run: Run, elsewhere: FakeProvider, monkeypatch: pytest.MonkeyPatch, is_socks: bool
) -> None:
    with Proxy(is_socks=is_socks, greeting=b"HTTP/1.1 200 OK\r\n\r\n") as proxy:
        monkeypatch.setenv("HTTPS_PROXY", f"{'socks5' if is_socks else 'http'}://{proxy.address}")
        error = asked(run, elsewhere)
    assert isinstance(error, ProviderFaultError)
    assert "it spoke before the server did" in str(error)


class Rude(Loopback):
    """Speaks something else, whatever is said."""

    async def _converse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(1)
        writer.write(b"SSH-2.0-x\r\n\r\n")
        await writer.drain()


async def relay_nothing(exchange: Exchange) -> None:
    """Never called."""


@pytest.mark.parametrize("kind", ["http", "https", "socks5"])
def test_what_is_no_proxy_is_named(
    run: Run, elsewhere: FakeProvider, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    with Rude(relay_nothing) as server:
        address = f"{kind}://127.0.0.1:{server.port}"
        monkeypatch.setenv("HTTPS_PROXY", address)
        error = asked(run, elsewhere)
    assert isinstance(error, ProviderFaultError)
    assert f"no connection to https://{NAME}:{elsewhere.port} (the proxy {address}: " in str(error)
    monkeypatch.setenv("HTTPS_PROXY", address)
    refused = asked(run, elsewhere)
    assert f"(the proxy {address}: Connection refused)" in str(refused)


def test_a_proxy_whose_certificate_is_not_trusted_is_told_nothing(
    run: Run, elsewhere: FakeProvider, authority: Authority, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Proxy(context=authority.serving(is_self_signed=True)) as proxy:
        monkeypatch.setenv("HTTPS_PROXY", f"https://{WRITTEN}{proxy.address}")
        error = asked(run, elsewhere)
    assert isinstance(error, ModelUnavailableError)
    assert f"openai/m: the proxy https://{proxy.address} cannot be trusted (self-signed certificate)" in str(error)
    assert proxy.heard == []


def test_a_proxy_that_cannot_be_used_is_named_by_its_variable(
    run: Run, elsewhere: FakeProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "gopher://user:word@p")
    error = asked(run, elsewhere)
    assert isinstance(error, ModelUnavailableError)
    assert str(error).startswith("openai/m: the proxy in HTTPS_PROXY cannot be used, it must be scheme://host:port")
    assert "word" not in str(error)


def test_plain_http_is_relayed_with_the_proxys_password_beside_it(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[tuple[str, dict[str, str]]] = []

    async def relay(exchange: Exchange) -> None:
        seen.append((exchange.request.path, exchange.request.headers))
        if "proxy-authorization" not in exchange.request.headers:
            await exchange.reply(407, b"<h1>Who are you?</h1>")
            return
        await exchange.start_stream()
        await exchange.send_chunk(
            b'data: {"choices": [{"delta": {"content": "relayed"}, "finish_reason": "stop"}]}\n\n'
        )
        await exchange.send_chunk(b"data: [DONE]\n\n")
        await exchange.end_stream()

    with FakeProvider(name=NAME) as provider, Loopback(relay) as server:
        monkeypatch.setenv("http_proxy", f"http://{WRITTEN}127.0.0.1:{server.port}")
        assert asked(run, provider) == "relayed"
        monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{server.port}")
        error = asked(run, provider)
    destination = f"{NAME}:{provider.port}"
    assert seen[0][1]["host"] == destination
    assert seen[0][1]["proxy-authorization"] == "Basic dXNAZXI6cGE6c3Mvd29yZA=="
    assert isinstance(error, ModelUnavailableError)
    assert f"the proxy refused to connect to http://{destination} (HTTP 407: it asks for a user name" in str(error)
    assert provider.requests == []


@pytest.mark.parametrize(
    ("host", "heard"),
    [(NAME, NAME.encode()), ("10.9.8.7", bytes((10, 9, 8, 7))), ("[fd00::1]", b"\xfd" + bytes(14) + b"\x01")],
)
def test_names_and_addresses_of_both_kinds_are_left_to_a_socks_proxy(
    run: Run, monkeypatch: pytest.MonkeyPatch, host: str, heard: bytes
) -> None:
    with FakeProvider(name=host) as provider, Proxy(is_socks=True) as proxy:
        monkeypatch.setenv("http_proxy", f"socks5h://{proxy.address}")
        assert asked(run, provider) == "ANSWER: 7"
    assert proxy.heard == [heard]


def test_a_password_that_does_not_fit_is_not_cut_short(
    run: Run, elsewhere: FakeProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Proxy(is_socks=True, login=LOGIN) as proxy:
        monkeypatch.setenv("HTTPS_PROXY", f"socks5://user:{'x' * 256}@{proxy.address}")
        error = asked(run, elsewhere)
    assert isinstance(error, ModelUnavailableError)
    assert "no room for names and passwords of more than 255 bytes" in str(error)


class BadSocks(Loopback):
    """Begins well, and then answers with an address of a kind that does not exist, or hangs up."""

    def __init__(self, reply: bytes) -> None:
        super().__init__(relay_nothing)
        self._reply = reply

    async def _converse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readexactly(3)
        writer.write(b"\x05\x00")
        await reader.read(100)
        writer.write(self._reply)
        await writer.drain()


@pytest.mark.parametrize(
    ("reply", "words"), [(b"\x05\x00\x00\x09\x00", "does not speak SOCKS 5"), (b"", "closed the connection")]
)
def test_a_socks_proxy_that_breaks_off_is_named(
    run: Run, elsewhere: FakeProvider, monkeypatch: pytest.MonkeyPatch, reply: bytes, words: str
) -> None:
    with BadSocks(reply) as server:
        monkeypatch.setenv("HTTPS_PROXY", f"socks5://127.0.0.1:{server.port}")
        error = asked(run, elsewhere)
    assert isinstance(error, ProviderFaultError)
    assert f"(the proxy socks5://127.0.0.1:{server.port}: it {words})" in str(error)


def test_a_stand_in_that_is_closed_leaves_no_connection_behind(certificate: SSLContext) -> None:
    # Warnings are errors here: a connection that is still about TLS would be one when it is collected.
    with (
        Loopback(relay_nothing, context=certificate) as server,
        socket.create_connection(("127.0.0.1", server.port)),
    ):
        while len(asyncio.all_tasks(server._loop)) < 2:
            time.sleep(0.001)
        server.close()
    del server
    gc.collect()


def test_a_stand_in_that_is_closed_while_a_connection_arrives_leaves_nothing_behind(certificate: SSLContext) -> None:
    for _ in range(20):
        with Loopback(relay_nothing, context=certificate) as server:
            arriving = socket.create_connection(("127.0.0.1", server.port))
        arriving.close()
        del server
        gc.collect()
