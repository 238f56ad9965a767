"""A key appears in no output, error, database file or export, whatever a provider echoes."""

from __future__ import annotations

from pathlib import Path

import pytest

from commands import Cli
from fakes.dialect import Ask, Reply
from fakes.faults import Faults
from fakes.loopback import Exchange
from fakes.provider import FakeProvider

pytestmark = pytest.mark.sqlite  # where results are kept makes no difference here

KEY = "sk-planted-0123456789abcdef-KEY"


class EchoingProvider(FakeProvider):
    """Says the key back to whoever sent it, as some gateways do."""

    status = 401

    async def _handle(self, exchange: Exchange) -> None:
        sent = exchange.request.headers.get("authorization", "")
        assert KEY in sent
        message = f"Incorrect API key provided: {KEY}. You sent '{sent}'."
        await exchange.reply_json(self.status, {"error": {"message": message, "code": "invalid_api_key"}})


class Echoing500(EchoingProvider):
    status = 500


def stored(home: Path) -> bytes:
    """Every byte that was kept, the write-ahead log included."""
    return b"".join(path.read_bytes() for path in home.rglob("*") if path.is_file())


@pytest.fixture(autouse=True)
def _planted(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)


def said_by_every_command(cli: Cli, model: str) -> str:
    commands = [
        ("show",), ("show", "--json"), ("samples", "--full"), ("samples", "--json"), ("runs", "--json"),
        ("export",), ("export", "-f", "csv"), ("export", "--all-attempts"), ("models",), ("models", model),
        ("models", model, "--json"), ("doctor",), ("doctor", "--json"),
    ]  # fmt: skip
    ended = [cli(*command) for command in commands]
    return "".join(result.out + result.err for result in ended)


@pytest.mark.parametrize("kind", [EchoingProvider, Echoing500])
def test_a_key_that_the_provider_echoes_is_kept_nowhere(cli: Cli, home: Path, kind: type[EchoingProvider]) -> None:
    with kind() as provider:
        model = f"openai/test?base_url={provider.url}/v1&auth_variable=OPENAI_API_KEY"
        ended = cli("run", "arithmetic", "-m", model, "--limit", 3, "--retries", 1)
        assert ended.code == 1
        assert "[key]" in ended.err
        everything = ended.out + ended.err + said_by_every_command(cli, model)
    assert KEY not in everything
    assert KEY.encode() not in stored(home)
    assert b"arithmetic" in stored(home)


def test_the_key_of_a_run_that_works_is_sent_and_kept_nowhere(cli: Cli, home: Path) -> None:
    with FakeProvider(key=KEY) as provider:
        model = f"openai/test?base_url={provider.url}/v1&auth_variable=OPENAI_API_KEY"
        ended = cli("run", "arithmetic", "-m", model, "--limit", 3)
        assert ended.code == 0, ended.err
        assert provider.stats()["answered"] == 3
        everything = ended.out + ended.err + said_by_every_command(cli, model)
    assert KEY not in everything
    assert KEY.encode() not in stored(home)


def test_a_dry_run_shows_no_key(cli: Cli) -> None:
    ended = cli("run", "arithmetic", "-m", "openai/gpt-5-mini", "--dry-run", "--json")
    assert ended.code == 0
    assert KEY not in ended.out + ended.err


def test_retries_that_outlive_a_fault_keep_no_key(cli: Cli, home: Path) -> None:
    def say_it(ask: Ask) -> Reply:
        return Reply("ANSWER: 4")

    with FakeProvider(Faults(script=("500", "ok")), reply=say_it, key=KEY) as provider:
        ended = cli(
            "run",
            "arithmetic",
            "-m",
            f"openai/test?base_url={provider.url}/v1&auth_variable=OPENAI_API_KEY",
            "--limit",
            2,
        )
    assert ended.code == 0
    assert KEY not in ended.out + ended.err
    assert KEY.encode() not in stored(home)
