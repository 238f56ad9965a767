"""`proctor cache`: what is kept to save time and money, and what goes when it is removed."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

import pytest

import proctor
from commands import Cli
from fakes.provider import FakeProvider
from proctor.domain.listed_models import ListedModel, ModelSource, StoredModelList
from proctor.settings import Settings
from proctor.stores.model_lists import LocatedModelLists

DAY = 86_400


def held(cli: Cli, *flags: str) -> dict[str, tuple[int, int]]:
    document: Any = cli("cache", "clear", "--dry-run", "--json", *flags).json
    return {item["name"]: (item["count"], item["bytes"]) for item in document["caches"]}


@pytest.fixture
def filled(cli: Cli, home: Path, asked_model: str) -> Path:
    """A judge's replies, a run's answers, a list of 40 days ago and weights of today."""
    Path("open.jsonl").write_text('{"input": "Say hello."}\n{"input": "Say bye."}\n')
    Path("open.yaml").write_text(
        'name: open\ndataset: {source: open.jsonl}\nscorers: [{judge_rubric: {criteria: "Is it polite?"}}]\n'
    )
    proctor.evaluate("open.yaml", models=asked_model, judge=f"{asked_model}&temperature=0", retries=0)
    proctor.evaluate("puzzles", models=asked_model, limit=4)
    lists = LocatedModelLists(Settings.from_environment().database_url)
    aged = time.time() - 40 * DAY
    lists.keep(ModelSource("openai", "http://a", "1"), StoredModelList((ListedModel("x"),), aged))
    files = (("models/tiny-0.gguf", 2048, 0), ("packages/a.zip", 512, 0))
    for name, size, days in files:
        path = home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"x" * size)
        os.utime(path, (time.time() - days * DAY, time.time() - days * DAY - 1))
    return home


def test_sizes_are_shown_and_a_dry_run_removes_nothing(cli: Cli, filled: Path) -> None:
    found = held(cli)
    assert found["answers of runs"][0] == 6
    assert found["model lists"] == (1, 103)
    assert found["weights"] == (1, 2048)
    assert found["packages"] == (1, 512)
    shown = cli("cache", "clear", "--dry-run")
    assert "2 KiB" in shown.out
    assert shown.out.endswith("Nothing was removed.\n")
    assert held(cli) == found


def test_pruning_takes_only_what_is_older(cli: Cli, filled: Path) -> None:
    assert cli("cache", "prune", "--yes").code == 0
    assert held(cli)["model lists"] == (0, 0)
    assert held(cli)["weights"] == (1, 2048)
    assert held(cli)["answers of runs"][0] == 6
    assert held(cli, "--older-than", "1d")["weights"] == (0, 0)


def test_after_clearing_everything_is_asked_again_and_runs_are_whole(
    cli: Cli, filled: Path, provider: FakeProvider, asked_model: str
) -> None:
    before = [cli("show", row["run_id"], "--json").json for row in cli("runs", "--json").json]
    asked = provider.stats()["asked"]
    proctor.evaluate("puzzles", models=asked_model, limit=4)
    assert provider.stats()["asked"] == asked
    assert cli("cache", "clear", "--yes").code == 0
    assert set(held(cli).values()) == {(0, 0)}
    assert not list(filled.glob("models/*.gguf"))
    proctor.evaluate("puzzles", models=asked_model, limit=4)
    assert provider.stats()["asked"] == asked + 4
    assert [cli("show", document["run_id"], "--json").json for document in before] == before


def test_it_is_asked_before_anything_goes(cli: Cli, filled: Path) -> None:
    ended = cli("cache", "clear")
    assert ended.code == 2
    assert "add --yes" in ended.error
    assert held(cli)["weights"] == (1, 2048)


def test_an_empty_cache_needs_no_question(cli: Cli) -> None:
    ended = cli("cache", "clear")
    assert ended.code == 0
    assert ended.out.endswith("Nothing was removed.\n")


@pytest.mark.parametrize("text", ["soon", "3", "3y", "-1d", "1.5h"])
def test_an_age_that_is_none_is_refused(cli: Cli, text: str) -> None:
    ended = cli("cache", "prune", f"--older-than={text}")
    assert ended.code == 2
    assert "is no age: write 90m, 12h, 30d or 2w" in ended.error
