"""Runs are found again by the tags of their plans."""

from __future__ import annotations

from pathlib import Path

import pytest

import proctor
from commands import Cli


def test_runs_are_found_by_all_of_the_tags_that_are_asked_for(cli: Cli) -> None:
    common = ("run", "puzzles", "-m", "demo/weak", "--limit", "2")
    both = cli(*common, "--tag", "nightly", "--tag", "main", "--tag", "nightly", "--json").json
    one = cli(*common, "--tag", "nightly", "--json").json
    none = cli(*common, "--json").json
    assert (both["tags"], one["tags"], "tags" in none) == (["nightly", "main"], ["nightly"], False)

    def found(*tags: str) -> list[str]:
        asked = [part for tag in tags for part in ("--tag", tag)]
        return [run["run_id"] for run in cli("runs", *asked, "--json").json]

    assert found() == [none["run_id"], one["run_id"], both["run_id"]]
    assert found("nightly") == [one["run_id"], both["run_id"]]
    assert found("nightly", "main") == [both["run_id"]]
    assert found("night") == []
    assert cli("runs", "--tag", "main", "--json").json[0]["tags"] == ["main", "nightly"]
    assert "#main #nightly" in cli("runs", "--tag", "main").out
    assert cli("show", both["run_id"], "--json").json["tags"] == ["nightly", "main"]
    assert cli("delete", both["run_id"], "--yes").code == 0
    assert found("main") == []


@pytest.mark.sqlite
def test_a_plan_file_and_a_program_say_them_too_and_what_is_none_is_refused(cli: Cli, tmp_path: Path) -> None:
    plan = tmp_path / "plan.yaml"
    plan.write_text("tags: release-7\nmodels: demo/weak\nbenchmarks: {benchmark: puzzles, limit: 1}\n")
    assert cli("run", plan, "--json").json["tags"] == ["release-7"]
    assert cli("run", plan, "--tag", "mine", "--json").json["tags"] == ["mine"]
    proctor.evaluate("puzzles", models="demo/weak", limit=1, tags=["from/python"])
    assert cli("runs", "--tag", "from/python", "--json").json[0]["tags"] == ["from/python"]
    for wrong in ("two words", "", "x" * 51, "-x", "a,b", "sk-proj-abcdefghijklmnop"):
        ended = cli("run", "puzzles", "-m", "demo/weak", "--tag", wrong)
        assert ended.code == 2, wrong
        assert "abcdefghijkl" not in ended.error
    plan.write_text("tags: {a: b}\nmodels: demo/weak\nbenchmarks: puzzles\n")
    assert "tags are a list" in cli("run", plan).error
