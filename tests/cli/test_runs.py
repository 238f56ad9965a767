"""`proctor runs`: filters, pages, and how far live runs are."""

from __future__ import annotations

import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

import proctor
from commands import Cli
from fakes.dialect import Ask, Reply
from fakes.provider import FakeProvider
from stores.parts import connected


@pytest.fixture
def three(cli: Cli) -> list[str]:
    """Ids, oldest first."""
    return [
        proctor.evaluate("puzzles", models="demo/strong", limit=2, name="Nightly A").id,
        proctor.evaluate("dates", models=["demo/weak", "demo/strong"], limit=2, name="nightly b").id,
        proctor.evaluate("puzzles", models="demo/weak", limit=2, name="100% mine").id,
    ]


def listed(cli: Cli, *flags: object) -> list[str]:
    return [row["run_id"] for row in cli("runs", "--json", *flags).json]


def test_runs_are_filtered(cli: Cli, three: list[str]) -> None:
    for flags, places in (
        ((), [2, 1, 0]),
        (("--model", "demo/strong"), [1, 0]),
        (("--model", "demo/strong", "--model", "demo/weak"), [1]),
        (("--benchmark", "puzzles"), [2, 0]),
        (("--benchmark", "puzzles", "--model", "demo/weak"), [2]),
        (("--name", "NIGHTLY"), [1, 0]),
        (("--name", "0%"), [2]),
        (("--name", "_"), []),
        (("--status", "completed"), [2, 1, 0]),
        (("--status", "failed"), []),
    ):
        assert listed(cli, *flags) == [three[place] for place in places], flags


def test_runs_are_filtered_by_the_day_they_started(cli: Cli, three: list[str], home: Path) -> None:
    now = datetime.now().astimezone()
    with connected(home) as connection:
        for run_id, days in zip(three, (10, 5, 0), strict=True):
            text = (now - timedelta(days=days)).astimezone(UTC).isoformat(timespec="microseconds")
            connection.execute("UPDATE runs SET created_at = ? WHERE id = ?", [text, run_id])

    def day(days: int) -> str:
        return f"{now - timedelta(days=days):%Y-%m-%d}"

    assert listed(cli, "--since", day(5)) == [three[2], three[1]]
    assert listed(cli, "--until", day(5)) == [three[0]]
    assert listed(cli, "--since", day(7), "--until", day(2)) == [three[1]]


def test_pages_are_continued_from_the_last_run_seen(cli: Cli, three: list[str]) -> None:
    first = cli("runs", "-n", 2)
    assert f"There are more: add --before {three[1]}, or -n N." in first.err
    proctor.evaluate("puzzles", models="demo/strong", limit=1)  # a page that follows is not moved by a newer run
    assert listed(cli, "-n", 2, "--before", three[1]) == [three[0]]
    assert "There are more" not in cli("runs", "-n", 2, "--before", three[1]).err
    assert listed(cli, "-n", 1, "--before", three[2], "--benchmark", "puzzles") == [three[0]]


def test_a_filter_that_is_misspelt_is_said(cli: Cli, three: list[str]) -> None:
    for flags, words in (
        (("--model", "demo/stong"), "No model 'demo/stong' has been evaluated. Did you mean 'demo/strong'?"),
        (("--benchmark", "puzles"), "No benchmark 'puzles' has been evaluated. Did you mean 'puzzles'?"),
        (("--since", "yesterday"), "'yesterday' is not a date: write 2026-11-17"),
        (("--before", "nope"), "No run 'nope'"),
        (("--status", "done"), "'done' is not one of"),
    ):
        ended = cli("runs", *flags)
        assert ended.code == 2
        assert words in ended.error


def test_nothing_that_fits_is_said_in_words(cli: Cli, three: list[str]) -> None:
    assert cli("runs", "--name", "nobody").out == "No run matches these filters.\n"


def test_a_run_without_a_process_is_found_as_interrupted(cli: Cli, three: list[str], home: Path) -> None:
    proctor.prepare("puzzles", models="demo/strong", limit=2)
    with connected(home) as connection:
        connection.execute("UPDATE runs SET status = 'running' WHERE id = ?", [three[1]])
    assert listed(cli, "--status", "running") == []
    interrupted = cli("runs", "--status", "interrupted", "--json").json
    assert [row["shown_status"] for row in interrupted] == ["interrupted"] * 2
    assert interrupted[1]["run_id"] == three[1]
    assert listed(cli, "--status", "interrupted", "-n", 1, "--before", interrupted[0]["run_id"]) == [three[1]]


def test_a_live_run_shows_how_far_it_is(cli: Cli, three: list[str]) -> None:
    permits = threading.Semaphore(3)

    def reply(ask: Ask) -> Reply:
        permits.acquire()
        return Reply(ask.text)

    with FakeProvider(reply=reply) as provider:
        model = f"openai/x?base_url={provider.url}/v1"
        run = proctor.prepare("puzzles", models=model, limit=8, concurrency=1)
        thread = threading.Thread(target=run.execute)
        thread.start()
        try:
            while (row := cli("runs", "--status", "running", "--json").json[:1]) == [] or row[0]["done"] < 3:
                assert thread.is_alive()
            assert (row[0]["run_id"], row[0]["done"], row[0]["trials"]) == (run.id, 3, 8)
            assert row[0]["is_executing"]
            [shown] = [line for line in cli("runs").out.splitlines() if line.startswith(run.id)]
            assert "3 of 8" in shown
            assert " ms " not in shown  # it is not known how long it will have taken
        finally:
            permits.release(100)
            thread.join()
    assert cli("runs", "-n", 1, "--json").json[0]["done"] is None
