"""Everything that would leave this machine is refused by name, before anything is asked."""

from __future__ import annotations

import asyncio
import socket
from pathlib import Path

import pytest

from commands import Cli
from fakes.loopback import Exchange, Loopback
from fakes.provider import FakeProvider
from models.asking import ask, make
from proctor.domain.errors import ModelUnavailableError, PlanError, UserError
from proctor.models import offline
from proctor.models.faults import Target
from proctor.models.local_weights import find_weights
from proctor.models.transport import Transport
from proctor.offline import confined, is_confined, is_loopback_host
from proctor.settings import Settings


@pytest.mark.parametrize(
    "model",
    [
        "openai/gpt-5-mini",
        "anthropic/claude-sonnet-5",
        "openrouter/a/b",
        "google/gemini-3-flash",
        "huggingface/x",
        "ollama/x?base_url=http://10.0.0.1:11434/v1",
        "vllm/x?base_url=http://models.internal:8000/v1",
        "http/?url=http://10.0.0.1/ask",
        "grpc/10.0.0.1:50051",
    ],
)
def test_a_model_elsewhere_is_refused_with_one_line(cli: Cli, monkeypatch: pytest.MonkeyPatch, model: str) -> None:
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "OPENROUTER_API_KEY", "GEMINI_API_KEY", "HF_TOKEN"):
        monkeypatch.setenv(name, "sk-x")
    ended = cli("run", "puzzles", "-m", "demo/strong", "-m", model, "--limit", 3, "--offline")
    assert ended.code == 2
    assert "offline, only servers on this machine are" in ended.error


def test_a_judge_elsewhere_is_refused_too(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-x")
    Path("open.jsonl").write_text('{"q": "Say hello."}\n')
    Path("open.yaml").write_text(
        "name: open\ndataset: {source: open.jsonl, fields: {input: q}}\nprompt: {user: '{{ input }}'}\n"
        "scorers: [{judge_rubric: {criteria: Is it polite?}}]\n"
    )
    ended = cli("run", "open.yaml", "-m", "demo/strong", "--judge", "openai/gpt-5-mini", "--offline")
    assert ended.code == 2
    assert "openai/gpt-5-mini would be asked at https://api.openai.com" in ended.error


def test_a_plan_and_the_environment_can_ask_for_it_too(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-x")
    Path("plan.yaml").write_text("models: [openai/gpt-5-mini]\nbenchmarks: [puzzles]\noffline: true\n")
    ended = cli("run", "plan.yaml", "--dry-run")
    assert ended.code == 2
    assert ended.error.startswith("Error: plan.yaml:1: models[0]: openai/gpt-5-mini would be asked at")
    monkeypatch.setenv("PROCTOR_OFFLINE", "1")
    assert "offline" in cli("run", "puzzles", "-m", "openai/gpt-5-mini", "--limit", 3).error
    monkeypatch.setenv("PROCTOR_OFFLINE", "0")
    assert cli("run", "puzzles", "-m", "openai/gpt-5-mini", "--limit", 3, "--dry-run").code == 0


def test_a_resumed_run_stays_offline(cli: Cli) -> None:
    with FakeProvider() as provider:
        model = f"openai/x?base_url={provider.url}/v1"
        started = cli("run", "puzzles", "-m", model, "--limit", 3, "--offline", "--json")
        assert started.code == 0, started.err
        assert cli("resume", "latest", "--offline", "--json").code == 0


def test_data_of_the_hub_is_not_fetched(cli: Cli) -> None:
    pytest.importorskip("huggingface_hub")
    ended = cli("run", "gsm8k", "-m", "demo/strong", "--limit", 3, "--offline")
    assert ended.code == 2
    assert "nothing is fetched offline" in ended.error


def test_weights_are_not_fetched(tmp_path: Path) -> None:
    with confined(), pytest.raises(UserError, match="nothing is fetched offline"):
        find_weights("smollm2-135m", tmp_path / "cache", tmp_path)
    assert not any((tmp_path / "cache").iterdir())


def test_a_program_runs_with_no_network_at_all(tmp_path: Path) -> None:
    if not offline.without_network():
        pytest.skip("'unshare --net' cannot be used here")
    (tmp_path / "agent.sh").write_text(
        "#!/bin/sh\nls /sys/class/net | sort | tr '\\n' ' '; cat /proc/net/route | wc -l\n"
    )
    (tmp_path / "agent.sh").chmod(0o755)
    with confined():
        seen = ask(make("command/./agent.sh", {"PATH": "/usr/bin:/bin"}, tmp_path)).text
    # The folder of devices may be the outer one; the routes are the process's own: a heading and nothing else.
    assert seen.split()[-1] in ("0", "1")
    outside = ask(make("command/./agent.sh", {"PATH": "/usr/bin:/bin"}, tmp_path)).text
    with Path("/proc/net/route").open() as routes:
        assert outside.split()[-1] == str(len(routes.readlines()))


def test_a_program_that_cannot_be_cut_off_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    offline.without_network.cache_clear()
    monkeypatch.setenv("PATH", str(tmp_path))
    try:
        with confined(), pytest.raises(PlanError, match="no means to keep it off the network"):
            make("command//bin/cat")
    finally:
        offline.without_network.cache_clear()


def test_the_transport_refuses_what_got_past_the_first_line() -> None:
    """The address is decided by a template here, so that only the request itself shows where it goes."""
    with FakeProvider() as server:
        model = make({"model": "http/x", "url": "http://{{ prompt }}/ask", "method": "GET"})
        with confined(), pytest.raises(ModelUnavailableError, match="is not on this machine, and this run is offline"):
            ask(model, "192.0.2.7:9")
        assert server.stats()["asked"] == 0


def test_a_redirect_to_elsewhere_is_not_followed() -> None:
    async def away(exchange: Exchange) -> None:
        await exchange.reply(302, b"", {"location": "http://192.0.2.7:9/"})

    with Loopback(away) as server, confined(), pytest.raises(ModelUnavailableError, match="redirected"):
        ask(make({"model": "openai/m", "base_url": server.url}))


def test_a_name_is_refused_however_it_looks() -> None:
    async def send(url: str) -> None:
        transport = Transport(Target("m"))
        try:
            await transport.send("GET", url, {}, None, 5)
        finally:
            await transport.close()

    names = (
        "http://localhost.example.com/",
        "http://127.0.0.1.example.com/",
        "http://[::ffff:192.0.2.7]/",
        "http://0/",
    )
    for url in names:
        with confined(), pytest.raises(ModelUnavailableError, match="offline"):
            asyncio.run(send(url))


@pytest.mark.parametrize(
    ("host", "is_here"),
    [("127.0.0.1", True), ("127.9.9.9", True), ("::1", True), ("[::1]", True), ("localhost", True),
     ("0.0.0.0", False), ("10.0.0.1", False), ("example.com", False), ("", False), ("::", False)],
)  # fmt: skip
def test_only_loopback_is_this_machine(host: str, is_here: bool) -> None:
    assert is_loopback_host(host) is is_here


def test_confinement_ends_with_its_block_and_cannot_be_lifted_inside() -> None:
    assert not is_confined()
    with confined():
        with confined(False):
            assert is_confined()
        with pytest.raises(OSError, match="offline"), socket.socket() as unused:
            unused.connect(("192.0.2.7", 9))
        with pytest.raises(OSError, match="not looked up"):
            socket.getaddrinfo("example.com", 80)
    assert not is_confined()


@pytest.mark.parametrize(
    ("value", "is_offline"), [("1", True), ("true", True), ("", False), ("0", False), ("off", False)]
)
def test_the_variable_reads_as_people_write_it(value: str, is_offline: bool) -> None:
    assert Settings.from_environment({"PROCTOR_OFFLINE": value}).is_offline is is_offline
