"""Keys go to their provider, and elsewhere only where the user named the address: what servers are really sent."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import proctor
from commands import Cli
from fakes.loopback import Exchange, Loopback
from proctor.domain.errors import PlanError, UserError
from proctor.models.key_hosts import KEY_HOSTS, host_of, is_named, is_own

KEY = "sk-planted-0123456789abcdef"
ELSEWHERE = "models.example.test"
AWAY = f"http://{ELSEWHERE}/v1"
ANSWER = {"choices": [{"message": {"role": "assistant", "content": "7"}, "finish_reason": "stop"}], "answer": "7"}


class Watch:
    """A server that answers every chat and notes what it was sent; as a proxy, it stands for every other host."""

    def __init__(self) -> None:
        self.server = Loopback(self._answer)
        self.sent: list[dict[str, str]] = []
        self.is_down = False

    async def _answer(self, exchange: Exchange) -> None:
        self.sent.append(exchange.request.headers)
        await exchange.reply_json(500 if self.is_down else 200, ANSWER)

    @property
    def keys(self) -> set[str]:
        names = ("authorization", "x-api-key", "x-goog-api-key", "x-secret")
        return {headers[name].removeprefix("Bearer ") for headers in self.sent for name in names if name in headers}


@pytest.fixture
def watch(home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Watch]:
    made = Watch()
    with made.server:
        monkeypatch.setenv("http_proxy", made.server.url)
        monkeypatch.delenv("no_proxy", raising=False)
        monkeypatch.delenv("NO_PROXY", raising=False)
        for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY", "OPENROUTER_API_KEY", "HF_TOKEN", "OWN"):
            monkeypatch.setenv(name, KEY)
        yield made


def plan(*models: Any, **more: Any) -> str:
    written = {"models": list(models), "benchmarks": [{"benchmark": "arithmetic", "limit": 1}], "cache": False, **more}
    Path("plan.yaml").write_text(json.dumps(written))
    return "plan.yaml"


FROM_FILES = [
    {"model": "openai/m", "base_url": AWAY},
    {"model": "openai/m", "base_url": AWAY, "auth_variable": "OWN"},
    {"model": "openai/m", "auth_variable": "OWN"},
    {"model": "openai/m", "base_url": "http://api.openai.com/v1"},
    {"model": "anthropic/m", "base_url": AWAY},
    {"model": "google/m", "base_url": AWAY},
    {"model": "openrouter/m", "base_url": AWAY},
    {"model": "huggingface/m", "base_url": AWAY},
    {"model": "vllm/m", "base_url": AWAY, "auth_variable": "OWN"},
    {"model": "completions/m", "base_url": AWAY, "auth_variable": "OWN"},
    {"model": "grpc/agent.example.test:443", "auth_variable": "OWN"},
    {"model": "http/", "url": AWAY, "headers": {"X-Secret": "${OWN}"}},
    {"model": "http/", "url": "http://127.0.0.1{{ '.example.test' }}/v1", "headers": {"X-Secret": "${OWN}"}},
]


@pytest.mark.parametrize("model", FROM_FILES, ids=json.dumps)
def test_a_file_sends_no_key_elsewhere(cli: Cli, watch: Watch, model: dict[str, Any]) -> None:
    for given in (plan(model), plan("demo/strong", judge=model)):
        ended = cli("run", given)
        assert (ended.code, ended.out) == (2, "")
        assert "because a file says so and not you" in ended.error
        assert f"{KEY_HOSTS}=" in ended.error
        assert KEY not in ended.error
        with pytest.raises(UserError, match="because a file says so"):
            proctor.evaluate(given)
    assert watch.sent == []


def test_the_refusal_offers_only_what_there_is(cli: Cli, watch: Watch) -> None:
    agent = {"model": "http/", "url": AWAY, "headers": {"X-Secret": "${OWN}"}}
    told = cli("run", plan("demo/strong", judge=agent)).error
    assert "or name the model on the command line (-m, or --judge for a judge)." in told
    assert "auth_variable" not in told, "http has no such setting"
    assert "'auth_variable=' (empty) sends no key." in cli("run", plan({"model": "openai/m", "base_url": AWAY})).error
    assert watch.sent == []


def test_a_file_cannot_allow_it_either(cli: Cli, watch: Watch) -> None:
    ended = cli("run", plan({"model": "openai/m", "base_url": AWAY}, key_hosts=[ELSEWHERE]))
    assert ended.code == 2
    assert "plan.yaml:1: a file cannot say where keys may go" in ended.error
    with pytest.raises(PlanError, match="a file cannot say"):
        proctor.evaluate("plan.yaml")
    unknown = cli("run", plan("demo/strong", key_host=[ELSEWHERE]))
    assert "there is no field 'key_host'" in unknown.error
    assert "key_hosts" not in unknown.error, "nor is it offered"


def test_the_user_can_allow_it(cli: Cli, watch: Watch, monkeypatch: pytest.MonkeyPatch) -> None:
    given = plan({"model": "openai/m", "base_url": AWAY})
    monkeypatch.setenv(KEY_HOSTS, f"other.example.test, {ELSEWHERE}")
    assert cli("run", given).code == 0
    assert watch.keys == {KEY}


def test_what_is_named_on_the_command_line_gets_its_key_and_so_does_the_resumed_run(cli: Cli, watch: Watch) -> None:
    watch.is_down = True
    model = f"openai/m?base_url={AWAY}"
    assert cli("run", "arithmetic", "--limit", 1, "--no-cache", "--retries", 0, "-m", model).code == 1
    assert watch.keys == {KEY}
    watch.sent.clear()
    watch.is_down = False
    resumed = cli("resume", "latest")
    assert resumed.code == 0, resumed.err
    assert watch.keys == {KEY}


def test_what_a_program_names_gets_its_key(watch: Watch) -> None:
    proctor.evaluate("arithmetic", models=f"openai/m?base_url={AWAY}", limit=1, cache=False)
    assert watch.keys == {KEY}


def test_an_address_in_the_environment_is_the_users_own(
    cli: Cli, watch: Watch, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", AWAY)
    assert cli("run", plan("openai/m")).code == 0
    assert watch.keys == {KEY}


def test_an_empty_variable_sends_no_key(cli: Cli, watch: Watch) -> None:
    assert cli("run", plan({"model": "openai/m", "base_url": AWAY, "auth_variable": ""})).code == 0
    assert len(watch.sent) == 1
    assert watch.keys == set()


def test_a_server_on_this_machine_gets_only_a_key_that_is_named_for_it(cli: Cli, watch: Watch) -> None:
    here = f"openai/m?base_url={watch.server.url}/v1"
    assert cli("run", "arithmetic", "--limit", 1, "--no-cache", "-m", here).code == 0
    assert cli("run", plan(here)).code == 0
    assert len(watch.sent) == 2
    assert watch.keys == set()
    assert cli("run", plan(f"{here}&auth_variable=OWN")).code == 0
    assert watch.keys == {KEY}


def test_a_redirect_takes_no_key_along(cli: Cli, watch: Watch) -> None:
    async def away(exchange: Exchange) -> None:
        await exchange.reply(302, b"", {"location": f"{AWAY}/chat/completions"})

    with Loopback(away) as redirecting:
        model = f"openai/m?base_url={redirecting.url}/v1&auth_variable=OWN"
        ended = cli("run", "arithmetic", "--limit", 1, "--no-cache", "-m", model)
    assert ended.code == 1
    assert "Redirects are not followed" in ended.err
    assert watch.sent == []


@pytest.mark.parametrize(
    ("url", "own"),
    [
        ("https://api.openai.com/v1", True),
        ("https://eu.api.openai.com/v1", True),
        ("https://api.openai.com:8443/v1", True),
        ("http://api.openai.com/v1", False),
        ("https://api.openai.com.example.test/v1", False),
        ("https://evil-api.openai.com.test/v1", False),
        ("https://fakeapi.openai.com/v1", False),
        ("https://example.test\\.api.openai.com/v1", False),
        ("https://api.openai.com./v1", False),
    ],
)
def test_only_a_providers_own_hosts_are_its_own(url: str, own: bool) -> None:
    assert is_own(url, "https://api.openai.com/v1") is own


@pytest.mark.parametrize(
    ("listed", "url", "named"),
    [
        ("a.test", "https://a.test:8443/v1", True),
        ("a.test:8443", "https://a.test:8443/v1", True),
        ("a.test:8443", "https://a.test:9/v1", False),
        ("a.test", "https://b.a.test/v1", False),
        ("A.test", "https://a.TEST/v1", True),
        ("[::2]", "http://[::2]:80/v1", True),
        ("", "https://a.test/", False),
        (",", "not an address", False),
    ],
)
def test_hosts_are_listed_with_a_port_or_without(listed: str, url: str, named: bool) -> None:
    assert is_named(url, {KEY_HOSTS: listed}) is named
    assert host_of("https://user@[bad") == ""
