"""HTTP as adapters see it: proxies, certificates, and what never leaves the process."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from ssl import SSLContext

import pytest

from fakes.authority import Authority
from fakes.loopback import Exchange, Loopback
from fakes.provider import FakeProvider
from models.asking import KEY, make, spec
from proctor.domain.errors import ModelUnavailableError, PlanError
from proctor.domain.message import Message, Prompt
from proctor.models.faults import Target
from proctor.models.registry import create_model
from proctor.models.transport import Transport, is_loopback

ASK = """
import asyncio, os, sys
from pathlib import Path
from proctor.domain.errors import ModelError
from proctor.domain.message import Message, Prompt
from proctor.domain.plan import ModelSpec
from proctor.models.registry import create_model

async def main():
    model = create_model(ModelSpec.model_validate(sys.argv[1]), environment=os.environ, folder=Path())
    try:
        response = await model.respond(Prompt((Message("user", "3 + 4"),)), {}, timeout_seconds=20)
        print(response.text)
    except ModelError as error:
        print(type(error).__name__, error)
    finally:
        await model.close()

asyncio.run(main())
"""


def ask_elsewhere(model: str, **environment: str) -> str:
    """Ask in a process of its own: proxies and certificates are read from its environment."""
    names = ("http_proxy", "https_proxy", "all_proxy", "no_proxy", "ssl_cert_file", "ssl_cert_dir")
    clean = {name: value for name, value in os.environ.items() if name.lower() not in names}
    done = subprocess.run(
        [sys.executable, "-c", ASK, model],
        env={**clean, **environment},
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    return done.stdout.strip()


@pytest.fixture
def proxy() -> Iterator[tuple[str, list[str]]]:
    seen: list[str] = []

    async def relay(exchange: Exchange) -> None:
        seen.append(exchange.request.headers["host"] + exchange.request.path)
        await exchange.reply_json(200, {"choices": [{"message": {"content": "through the proxy"}}]})

    with Loopback(relay) as server:
        yield server.url, seen


def test_a_proxy_of_the_environment_is_used(proxy: tuple[str, list[str]]) -> None:
    url, seen = proxy
    assert ask_elsewhere("openai/m?base_url=http://models.invalid/v1", HTTP_PROXY=url) == "through the proxy"
    assert seen == ["models.invalid/v1/chat/completions"]


def test_an_exception_from_the_proxy_is_honoured(proxy: tuple[str, list[str]]) -> None:
    url, seen = proxy
    said = ask_elsewhere("openai/m?base_url=http://models.invalid/v1", HTTP_PROXY=url, NO_PROXY="models.invalid")
    assert said.startswith("ProviderFaultError openai/m: no connection to http://models.invalid")
    assert seen == []


def test_a_server_on_this_machine_is_asked_past_any_proxy(proxy: tuple[str, list[str]]) -> None:
    url, seen = proxy
    with FakeProvider() as provider:
        assert ask_elsewhere(f"openai/m?base_url={provider.url}/v1", HTTP_PROXY=url, ALL_PROXY=url) == "ANSWER: 7"
    assert seen == []


def test_a_certificate_of_ones_own_is_trusted_through_its_file_and_only_so(
    authority: Authority, certificate: SSLContext
) -> None:
    async def answer(exchange: Exchange) -> None:
        await exchange.reply_json(200, {"choices": [{"message": {"content": "over TLS"}}]})

    with Loopback(answer, context=certificate, name="localhost") as server:
        model = f"openai/m?base_url={server.url}/v1"
        assert ask_elsewhere(model, SSL_CERT_FILE=str(authority.file)) == "over TLS"
        said = ask_elsewhere(model)
    assert said.startswith("ModelUnavailableError")
    assert "SSL_CERT_FILE" in said


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("http://127.0.0.1:8/v1", True),
        ("http://localhost/v1", True),
        ("http://[::1]:9/", True),
        ("grpc://127.9.9.9:1", True),
        ("http://10.0.0.1", False),
        ("http://localhost.example.com", False),
        ("http://127.0.0.1.example.com", False),
        ("nonsense", False),
    ],
)
def test_loopback_is_told_from_everything_else(url: str, expected: bool) -> None:
    assert is_loopback(url) is expected


def test_offline_only_this_machine_is_asked() -> None:
    for model in ("openai/m?base_url=http://127.0.0.1:1/v1", "ollama/m", "demo/strong", "grpc/127.0.0.1:5"):
        create_model(spec(model), environment={}, folder=Path(), is_offline=True)
    for model in ("openai/m", "anthropic/m", "google/m", "grpc/10.1.2.3:5", "http/?url=http://example.com/ask"):
        environment = {"OPENAI_API_KEY": KEY, "ANTHROPIC_API_KEY": KEY, "GEMINI_API_KEY": KEY}
        with pytest.raises(PlanError, match="offline"):
            create_model(spec(model), environment=environment, folder=Path(), is_offline=True)


def test_a_key_with_a_line_break_is_refused_without_being_shown() -> None:
    with pytest.raises(Exception, match="OPENAI_API_KEY holds characters no key has") as caught:
        make("openai/m", {"OPENAI_API_KEY": "sk-secret\x07value"})
    assert "sk-secret" not in str(caught.value)
    assert make("openai/m", {"OPENAI_API_KEY": f" {KEY}\n"}).identity.name == "m"


def test_closing_twice_or_unused_is_harmless() -> None:
    async def go() -> None:
        model = make("openai/m", {"OPENAI_API_KEY": KEY})
        await model.close()
        await model.close()
        with pytest.raises(ModelUnavailableError, match="after it was closed"):
            await model.respond(Prompt((Message("user", "x"),)), {}, timeout_seconds=1)

    asyncio.run(go())


@pytest.mark.parametrize("url", ["http://[half/v1", "ftp://host/v1", "http://user:hunter2@host/v1", "http://host/\x07"])
def test_an_address_that_cannot_be_asked_is_refused_in_one_line(url: str) -> None:
    async def go() -> None:
        await Transport(Target("openai/m")).post(url, {}, b"{}", 5)

    with pytest.raises(
        ModelUnavailableError, match=r"^openai/m: no request can be made to .* Check base_url\.$"
    ) as caught:
        asyncio.run(go())
    assert "hunter2" not in str(caught.value)


def test_a_transport_that_was_closed_is_not_opened_again() -> None:
    async def go() -> None:
        transport = Transport(Target("openai/m"))
        await transport.close()
        await transport.post("http://127.0.0.1:1/", {}, b"{}", 5)

    with pytest.raises(ModelUnavailableError, match="was asked after it was closed"):
        asyncio.run(go())
