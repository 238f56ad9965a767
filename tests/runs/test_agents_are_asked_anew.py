"""Code that people edit is asked anew each time: nobody can see what it uses."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from commands import Cli
from fakes.loopback import Exchange, Loopback
from runs.arithmetic import write_benchmark

FUNCTION = "from words import WORD\ndef answer(text: str) -> str:\n    return WORD\n"
PROGRAM = "#!/bin/sh\ncat >/dev/null\ncat {folder}/word.txt\n"


def evaluate(cli: Cli, model: str) -> Any:
    ended = cli("run", "sums.yaml", "-m", model, "--json")
    assert ended.code == 0, ended.err
    return ended.json["evaluations"][0]


def answers(cli: Cli) -> set[str]:
    rows = cli("export", "latest", "-f", "jsonl").out.splitlines()
    return {json.loads(row)["response"].strip() for row in rows}


@pytest.mark.parametrize("setting", ["", "?cache=true"])
def test_a_program_whose_files_changed_gives_new_answers_unless_the_cache_is_wanted(
    cli: Cli, tmp_path: Path, setting: str
) -> None:
    write_benchmark(Path(), 2)
    Path("agent.sh").write_text(PROGRAM.format(folder=Path.cwd()))
    Path("agent.sh").chmod(0o755)
    seen = []
    for word in ("7", "8"):
        Path("word.txt").write_text(word)
        found = evaluate(cli, f"command/./agent.sh{setting}")
        seen.append((found["cached"], answers(cli)))
    assert seen == [(0, {"7"}), (2, {"7"}) if setting else (0, {"8"})]


def test_a_function_is_asked_anew_and_from_the_cache_only_where_that_is_said(cli: Cli) -> None:
    write_benchmark(Path(), 2)
    Path("words.py").write_text("WORD = '7'\n")
    Path("asked_anew.py").write_text(FUNCTION)
    assert [evaluate(cli, "python/asked_anew:answer")["cached"] for _ in range(2)] == [0, 0]
    assert [evaluate(cli, "python/asked_anew:answer?cache=true")["cached"] for _ in range(2)] == [0, 2]


def test_an_agent_behind_an_address_is_asked_anew(cli: Cli) -> None:
    write_benchmark(Path(), 2)
    asked = 0

    async def handler(exchange: Exchange) -> None:
        nonlocal asked
        asked += 1
        await exchange.reply_json(200, {"answer": "7"})

    with Loopback(handler) as server:
        for _ in range(2):
            assert evaluate(cli, f"http/?url={server.url}/ask")["cached"] == 0
    assert asked == 4


def test_a_run_says_loudly_that_its_answers_are_old_ones(cli: Cli) -> None:
    write_benchmark(Path(), 2)
    Path("words.py").write_text("WORD = '7'\n")
    Path("asked_anew.py").write_text(FUNCTION)
    for said in (False, True):
        out = cli("run", "sums.yaml", "-m", "python/asked_anew:answer?cache=true").out
        for shown in (out, cli("show").out, cli("report", "latest", "-f", "md").out.replace("\\", "")):
            assert ("2 of 2 answers came from the cache (off with --no-cache)." in shown) is said
            assert ("2 trials run in" in shown) is not said
