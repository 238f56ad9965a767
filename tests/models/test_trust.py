"""Over TLS nobody is believed without proof, and nothing is sent before it."""

from __future__ import annotations

import asyncio
import socket
import ssl
import struct
from collections.abc import Callable, Coroutine, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import uvloop
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fakes.authority import NAME, Authority
from fakes.loopback import Exchange, Loopback
from proctor.domain.errors import ModelError, ModelUnavailableError, ProviderFaultError
from proctor.models import trust
from proctor.models.faults import Target
from proctor.models.transport import Transport

Run = Callable[[Coroutine[Any, Any, Any]], Any]
KEY = "sk-planted-0123456789abcdef"


@pytest.fixture(params=[asyncio.run, uvloop.run], ids=["asyncio", "uvloop"])
def run(request: pytest.FixtureRequest) -> Run:
    return request.param  # type: ignore[no-any-return]


@pytest.fixture(autouse=True)
def _trusting(authority: Authority, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(authority.file))


class Counting(Loopback):
    """Answers 'yes' and remembers what it heard."""

    def __init__(self, context: ssl.SSLContext | None, name: str = "localhost") -> None:
        self.heard: list[str] = []
        super().__init__(self._answer, context=context, name=name)

    async def _answer(self, exchange: Exchange) -> None:
        self.heard.append(exchange.request.headers["authorization"])
        await exchange.reply(200, b"yes")


def asked(run: Run, url: str) -> bytes | ModelError:
    async def go() -> bytes | ModelError:
        transport = Transport(Target("openai/m", "OPENAI_API_KEY", (KEY,)))
        try:
            reply = await transport.post(f"{url}/v1", {"authorization": f"Bearer {KEY}"}, b"{}", 20)
            return bytes(reply.body)
        except ModelError as error:
            return error
        finally:
            await transport.close()

    return run(go())  # type: ignore[no-any-return]


def test_a_server_that_proves_who_it_is_is_asked(run: Run, certificate: ssl.SSLContext) -> None:
    for name in ("localhost", "127.0.0.1"):
        with Counting(certificate, name) as server:
            assert asked(run, server.url) == b"yes"
        assert server.heard == [f"Bearer {KEY}"]


@pytest.mark.parametrize(
    ("fault", "words", "advice"),
    [
        ({"days": -1}, "certificate has expired", "this machine's clock"),
        ({"names": f"DNS:{NAME}"}, "Hostname mismatch, certificate is not valid for 'localhost'", "Check base_url"),
        ({"is_self_signed": True}, "self-signed certificate", "SSL_CERT_FILE"),
    ],
    ids=["expired", "wrong host", "self-signed"],
)
def test_a_server_that_does_not_is_told_nothing(
    run: Run, authority: Authority, fault: dict[str, Any], words: str, advice: str
) -> None:
    with Counting(authority.serving(**fault)) as server:
        error = asked(run, server.url)
    assert isinstance(error, ModelUnavailableError)
    assert str(error).startswith(f"openai/m: {server.url} cannot be trusted ({words}). ")
    assert advice in str(error)
    assert "\n" not in str(error)
    assert server.heard == []


def test_an_authority_that_nobody_named_is_not_trusted(
    run: Run, certificate: ssl.SSLContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SSL_CERT_FILE")
    monkeypatch.delenv("SSL_CERT_DIR", raising=False)
    with Counting(certificate) as server:
        error = asked(run, server.url)
    assert isinstance(error, ModelUnavailableError)
    assert "cannot be trusted (unable to get local issuer certificate)" in str(error)
    assert "name the authority's file in SSL_CERT_FILE" in str(error)
    assert server.heard == []


def test_a_file_of_certificates_that_cannot_be_read_is_named(
    run: Run, certificate: ssl.SSLContext, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "empty.pem").write_text("nothing")
    for name in ("missing.pem", "empty.pem"):
        monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / name))
        with Counting(certificate) as server:
            error = asked(run, server.url)
        assert isinstance(error, ModelUnavailableError)
        assert f"SSL_CERT_FILE names {tmp_path / name}, which holds no readable certificates" in str(error)
        assert server.heard == []


def test_a_server_that_hangs_up_before_anything_is_agreed_upon_is_a_fault(run: Run) -> None:
    class Hanging(Counting):
        async def _converse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.read(10_000)

    with Hanging(None) as server:
        error = asked(run, server.url.replace("http:", "https:"))
    assert isinstance(error, ProviderFaultError)
    assert str(error).endswith("(it hung up)")


def test_a_server_that_does_not_speak_tls_is_told_so(run: Run) -> None:
    class Plain(Counting):
        async def _converse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.read(100)
            writer.write(b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n")
            await writer.drain()

    with Plain(None) as server:
        error = asked(run, server.url.replace("http:", "https:"))
    assert isinstance(error, ProviderFaultError)
    assert "it does not speak TLS: is it an http:// address?" in str(error)


def test_the_protocol_that_is_spoken_is_the_one_agreed_upon(run: Run, authority: Authority) -> None:
    context = authority.serving()
    context.set_alpn_protocols(["h2", "http/1.1"])
    seen: list[str | None] = []

    async def handler(exchange: Exchange) -> None:
        seen.append(exchange.writer.get_extra_info("ssl_object").selected_alpn_protocol())
        await exchange.reply(200, b"yes")

    with Loopback(handler, context=context, name="localhost") as server:
        assert asked(run, server.url) == b"yes"
    assert seen == ["http/1.1"]


@pytest.mark.parametrize("how", ["announced", "cut", "reset"])
def test_an_answer_of_no_stated_length_ends_where_the_server_says_so(
    run: Run, certificate: ssl.SSLContext, how: str
) -> None:
    async def handler(exchange: Exchange) -> None:
        exchange.writer.write(b"HTTP/1.1 200 OK\r\n\r\nthe answer is 4")
        await exchange.writer.drain()
        if how != "announced":
            raw = exchange.writer.get_extra_info("socket")
            if how == "reset":
                raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            exchange.drop()  # What TLS would say at the end is not said: anybody on the way could do that.
        exchange.is_closed = True

    with Loopback(handler, context=certificate, name="localhost") as server:
        found = asked(run, server.url)
    if how == "announced":
        assert found == b"the answer is 4"
    else:
        assert isinstance(found, ProviderFaultError)
        assert "broke" in str(found)


def test_a_redirect_takes_the_key_nowhere(run: Run, certificate: ssl.SSLContext) -> None:
    with Counting(certificate) as other:

        async def handler(exchange: Exchange) -> None:
            await exchange.reply(302, b"", {"location": f"{other.url}/v1"})

        with Loopback(handler, context=certificate, name="localhost") as server:
            error = asked(run, server.url)
        assert isinstance(error, ModelUnavailableError)
        assert "Redirects are not followed" in str(error)
        assert other.heard == []


class Cutting(Loopback):
    """Sends what it is told to, each piece as a record of its own, and notes how many connections were made."""

    def __init__(self, context: ssl.SSLContext) -> None:
        self.pieces: list[bytes] = []
        self.peers: set[object] = set()
        super().__init__(self._answer, context=context, name="localhost")

    async def _answer(self, exchange: Exchange) -> None:
        self.peers.add(exchange.writer.get_extra_info("peername"))
        for number, piece in enumerate(self.pieces):
            exchange.writer.write(piece)
            if number % 3 == 0:
                await exchange.writer.drain()
                await asyncio.sleep(0)


@pytest.fixture(scope="module")
def cutting(certificate: ssl.SSLContext) -> Iterator[Cutting]:
    with Cutting(certificate) as server:
        yield server


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.binary(max_size=60), max_size=6), st.lists(st.integers(0, 500), max_size=12))
def test_pieces_cut_anywhere_into_records_are_handed_over_exactly(
    run: Run, cutting: Cutting, pieces: list[bytes], cuts: list[int]
) -> None:
    head = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n"
    raw = head + b"".join(b"%x\r\n%b\r\n" % (len(piece), piece) for piece in pieces if piece) + b"0\r\n\r\n"
    places = sorted({0, len(raw), *(cut for cut in cuts if cut < len(raw))})
    cutting.pieces = [raw[start:end] for start, end in pairwise(places)]
    cutting.peers.clear()

    async def go() -> None:
        transport = Transport(Target("m"))
        try:
            for _ in range(2):
                taken: list[bytes] = []
                await transport.stream(f"{cutting.url}/x", {}, b"{}", 20, lambda piece, to=taken: to.append(piece))  # type: ignore[misc]
                assert b"".join(taken) == b"".join(pieces)
        finally:
            await transport.close()

    run(go())
    assert len(cutting.peers) == 1


def test_what_could_not_be_agreed_upon_is_said_in_plain_words() -> None:
    error = ssl.SSLError(1, "[SSL: NO_SHARED_CIPHER] no shared cipher (_ssl.c:1)")
    error.reason = "NO_SHARED_CIPHER"
    assert trust.tls_words(error) == "no secure connection could be agreed upon: no shared cipher"


def test_a_server_that_wants_a_certificate_of_ours_says_so(run: Run, authority: Authority) -> None:
    context = authority.serving()
    context.verify_mode = ssl.CERT_REQUIRED
    context.load_verify_locations(authority.file)
    with Counting(context) as server:
        error = asked(run, server.url)
    assert isinstance(error, ProviderFaultError)
    assert "\n" not in str(error)
    assert "_ssl.c" not in str(error)
    assert server.heard == []


def test_every_connection_is_made_with_proof_of_name_and_age() -> None:
    context = trust.trusted()
    assert context.verify_mode is ssl.CERT_REQUIRED
    assert context.check_hostname
    assert context.minimum_version is ssl.TLSVersion.TLSv1_2
    assert trust.trusted() is context


def test_elsewhere_the_systems_own_authorities_are_asked() -> None:
    truststore = pytest.importorskip("truststore")
    context = trust._context("", "", "darwin")
    assert isinstance(context, truststore.SSLContext)
    assert context.verify_mode is ssl.CERT_REQUIRED
    assert context.check_hostname


def test_an_interpreter_that_looks_in_the_wrong_place_finds_the_systems_authorities(
    authority: Authority, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SSL_CERT_FILE")
    monkeypatch.delenv("SSL_CERT_DIR", raising=False)
    nowhere = ssl.DefaultVerifyPaths(*[""] * 6)
    monkeypatch.setattr(ssl, "get_default_verify_paths", lambda: nowhere)
    monkeypatch.setattr(trust, "BUNDLES", ("/nowhere/at/all.pem", str(authority.file)))
    trust._context.cache_clear()
    try:
        subjects = [found["subject"] for found in trust.trusted().get_ca_certs()]
    finally:
        trust._context.cache_clear()
    assert ((("commonName", "authority"),),) in subjects
