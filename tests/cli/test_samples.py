"""What `samples` shows of a prompt."""

from __future__ import annotations

from pathlib import Path

import orjson
import pytest

from commands import Cli

BENCHMARK = """
name: sums
dataset: {{source: sums.jsonl, examples: {{}}}}
shots: 2
prompt: {{system: Only the number., user: "{user}"{more}}}
scorers: [exact]
"""


@pytest.fixture
def folder(home: Path) -> Path:
    rows = [{"id": f"s{n}", "input": f"What is {n} + 1?", "target": str(n + 1)} for n in range(9)]
    Path("sums.jsonl").write_bytes(b"\n".join(map(orjson.dumps, rows)))
    return home


def ran(cli: Cli, user: str = "{{ input }}", more: str = "") -> None:
    Path("sums.yaml").write_text(BENCHMARK.format(user=user, more=more))
    assert cli("run", "sums.yaml", "-m", "demo/strong", "--limit", 1).code == 0


def test_worked_examples_are_one_line(folder: Path, cli: Cli) -> None:
    ran(cli)
    shown, full = cli("samples").out, cli("samples", "--full").out
    assert "prompt: 2 worked examples (--full shows them)" in shown
    assert shown.count("What is ") == 1
    assert "system: Only the number." in shown
    assert full.count("What is ") == 3
    assert "worked examples" not in full


def test_a_prompt_without_examples_is_shown_whole(folder: Path, cli: Cli) -> None:
    ran(cli)
    assert cli("run", "sums.yaml", "-m", "demo/strong", "--limit", 1, "--shots", 0).code == 0
    assert "worked example" not in cli("samples").out


def test_the_question_at_the_end_of_a_long_prompt_is_shown(folder: Path, cli: Cli) -> None:
    ran(cli, user=f"{'Mind the rules. ' * 200}{{{{ input }}}}")
    assert cli("run", "sums.yaml", "-m", "demo/strong", "--limit", 1, "--shots", 0).code == 0
    shown = cli("samples").out
    assert "more characters, --full shows them" in shown
    assert "What is " in shown


def test_a_sample_or_category_that_no_trial_has_is_a_mistake(folder: Path, cli: Cli) -> None:
    ran(cli)
    recorded = cli("samples", "--json").json[0]["sample_id"]
    for name in ("--sample", "--category"):
        ended = cli("samples", name, "nope")
        assert (ended.code, ended.out) == (2, "")
        assert f"has no trial with the {name.removeprefix('--')} 'nope'" in ended.error
    left_out = cli("samples", "--sample", recorded, "--outcome", "failed")
    assert left_out.code == 0
    assert "No trial of run" in left_out.out
