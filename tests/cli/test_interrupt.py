"""Ctrl-C once stops cleanly, twice quits at once; nothing recorded is lost, and the run can be resumed."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import orjson
import pytest

from cli.terminals import Terminal
from commands import Cli
from fakes.faults import Faults
from fakes.provider import FakeProvider

pytestmark = pytest.mark.traced
DEADLINE = 60


@pytest.fixture
def slow() -> Iterator[FakeProvider]:
    with FakeProvider(latency_seconds=0.05) as started:
        yield started


def command(provider: FakeProvider, *more: str) -> list[str]:
    model = f"openai/test?base_url={provider.url}/v1"
    return [
        sys.executable, "-m", "proctor", "run", "puzzles", "-m", model, "--limit", "200", "--concurrency", "4", *more,
    ]  # fmt: skip


def wait_for(provider: FakeProvider, answers: int, process: subprocess.Popen[bytes]) -> None:
    limit = time.monotonic() + DEADLINE
    while provider.stats()["answered"] < answers:
        assert process.poll() is None, "the command ended before it was interrupted"
        assert time.monotonic() < limit
        time.sleep(0.01)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_one_interrupt_stops_cleanly_and_the_run_can_be_resumed(
    cli: Cli, slow: FakeProvider, environment: dict[str, str], number: signal.Signals
) -> None:
    with subprocess.Popen(
        command(slow, "--json"), stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment
    ) as process:
        wait_for(slow, 10, process)
        process.send_signal(number)
        out, err = process.communicate(timeout=DEADLINE)
    assert process.returncode == 130
    assert b"Traceback" not in err
    assert b"Ctrl-C again quits at once" in err
    assert b"proctor resume" in err
    document = orjson.loads(out)
    assert document["status"] == "cancelled"
    (item,) = document["evaluations"]
    recorded = item["scored"] + item["invalid"]
    assert recorded == slow.stats()["answered"]
    assert 10 <= recorded < 200
    assert (item["failed"], item["stopped"]) == (0, 200 - recorded)

    slow.latency_seconds = 0
    (whole,) = cli("resume", document["run_id"], "--json").json["evaluations"]
    assert (whole["scored"] + whole["invalid"], whole["stopped"]) == (200, 0)
    assert set(slow.asked.values()) == {1}


def test_a_second_interrupt_quits_at_once_and_loses_nothing_recorded(
    cli: Cli, environment: dict[str, str], home: Path
) -> None:
    # Every tenth prompt stalls for an hour, so that a clean stop cannot end by itself.
    with FakeProvider(Faults(rates={"stall": 0.1})) as provider:
        with subprocess.Popen(
            command(provider), stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment
        ) as process:
            limit = time.monotonic() + DEADLINE
            while provider.met["stall"] < 4:
                assert process.poll() is None
                assert time.monotonic() < limit
                time.sleep(0.01)
            process.send_signal(signal.SIGINT)
            assert process.stderr is not None
            while b"Ctrl-C again" not in process.stderr.readline():
                assert process.poll() is None
            process.send_signal(signal.SIGINT)
            process.wait(timeout=DEADLINE)
            rest = process.stderr.read()
        assert process.returncode == 130
        assert b"Quit. Everything recorded is kept" in rest
        answered = provider.stats()["answered"]
        (row,) = cli("runs", "--json").json
        assert row["is_executing"] is False
        listed, shown = cli("runs").out, cli("show").out
        assert "interrupted" in listed
        assert "0 ms" not in listed + shown.splitlines()[0], "nobody measured how long it took"
        (item,) = cli("show", "--json").json["evaluations"]
        assert item["scored"] + item["invalid"] <= answered
        provider.faults = Faults()
        (whole,) = cli("resume", "latest", "--json").json["evaluations"]
    assert (whole["scored"] + whole["invalid"], whole["failed"], whole["stopped"]) == (200, 0, 0)


@pytest.mark.sqlite
def test_quitting_gives_the_terminal_its_cursor_back(environment: dict[str, str]) -> None:
    with FakeProvider(Faults(script=("stall",))) as provider:
        terminal = Terminal(*command(provider)[3:], environment=environment)
        terminal.read_until(lambda screen: "trials/s" in screen)
        terminal.press_ctrl_c()
        terminal.read_until(lambda screen: "Ctrl-C again" in screen)
        terminal.press_ctrl_c()
        assert terminal.finish() == 130
    assert terminal.raw.rindex(b"\x1b[?25h") > terminal.raw.rindex(b"\x1b[?25l")


def test_another_process_can_cancel_a_run(cli: Cli, slow: FakeProvider, environment: dict[str, str]) -> None:
    with subprocess.Popen(
        command(slow, "--json"), stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment
    ) as process:
        wait_for(slow, 5, process)
        slow.latency_seconds = 0.5  # far more time than a cancel needs
        cancelled = cli("cancel", "latest", "--json")
        out, err = process.communicate(timeout=DEADLINE)
    assert cancelled.code == 0
    assert cancelled.json == {"run_id": orjson.loads(out)["run_id"], "is_stopping": True}
    assert process.returncode == 1
    assert b"was stopped: the run was cancelled" in err
    assert orjson.loads(out)["status"] == "cancelled"
    again = cli("cancel", "latest")
    assert again.code == 1
    assert "has already ended" in again.error


def test_a_time_limit_stops_a_run_that_can_be_resumed(cli: Cli) -> None:
    ended = cli("run", "puzzles", "-m", "demo/strong?delay_ms=200", "--limit", 200, "--concurrency", 2,
                "--max-minutes", 0.01, "--json")  # fmt: skip
    assert ended.code == 1
    assert ended.json["status"] == "cancelled"
    assert "time limit of 0.01 minutes" in ended.err
    assert ended.json["evaluations"][0]["stopped"] > 0
