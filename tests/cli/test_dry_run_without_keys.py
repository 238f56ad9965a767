"""Looking ahead asks nobody, so it needs no key; what a run would need, or not use, is said."""

from __future__ import annotations

from pathlib import Path

import pytest

from commands import Cli

pytestmark = pytest.mark.sqlite  # where results are kept makes no difference here

RUN = ("run", "puzzles", "--limit", 3)
JUDGED = 'name: open\ndataset: {source: open.jsonl}\nscorers: [{judge_rubric: {criteria: "Is it polite?"}}]\n'


@pytest.mark.parametrize(
    ("model", "variable"),
    [
        ("openai/gpt-5-mini", "OPENAI_API_KEY"),
        ("anthropic/claude-sonnet-5", "ANTHROPIC_API_KEY"),
        ("openai/gpt-5-mini?auth_variable=MY_KEY", "MY_KEY"),
    ],
)
def test_a_dry_run_needs_no_key_and_says_which_the_run_needs(cli: Cli, model: str, variable: str) -> None:
    shown = cli(*RUN, "-m", model, "--dry-run")
    assert shown.code == 0, shown.err
    assert f"The run itself needs a key: set {variable}." in " ".join(shown.out.split())
    assert cli(*RUN, "-m", model, "--dry-run", "--json").json["missing_keys"] == [variable]


def test_the_keys_of_several_models_and_a_judge_are_named_together(cli: Cli) -> None:
    Path("open.jsonl").write_text('{"input": "Say hello."}\n')
    Path("open.yaml").write_text(JUDGED)
    command = ("run", "open.yaml", "-m", "openai/gpt-5-mini", "--judge", "anthropic/claude-sonnet-5", "--dry-run")
    ended = cli(*command, "--json")
    assert ended.json["missing_keys"] == ["OPENAI_API_KEY", "ANTHROPIC_API_KEY"]


def test_a_key_that_is_set_is_not_missed(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-0123456789")
    assert cli(*RUN, "-m", "openai/gpt-5-mini", "--dry-run", "--json").json["missing_keys"] == []


@pytest.mark.parametrize("more", [(), ("--dry-run", "--pilot", 1)])
def test_asking_still_needs_the_key(cli: Cli, more: tuple[object, ...]) -> None:
    ended = cli(*RUN, "-m", "openai/gpt-5-mini", *more)
    assert ended.code == 2
    assert "OPENAI_API_KEY" in ended.error


@pytest.mark.parametrize("more", [(), ("--dry-run",)])
def test_a_judge_that_nothing_asks_is_said(cli: Cli, more: tuple[str, ...]) -> None:
    ended = cli(*RUN, "-m", "demo/strong", "--judge", "demo/weak", *more)
    assert ended.code == 0
    assert "Note: The judge demo/weak is not asked: no scorer here is one that judges (puzzle).\n" in ended.err
    assert "Note:" not in cli(*RUN, "-m", "demo/strong", *more).err


def test_a_judge_that_is_asked_is_not_remarked_on(cli: Cli) -> None:
    Path("open.jsonl").write_text('{"input": "Say hello."}\n')
    Path("open.yaml").write_text(JUDGED)
    assert "Note:" not in cli("run", "open.yaml", "-m", "demo/strong", "--judge", "demo/weak", "--dry-run").err
