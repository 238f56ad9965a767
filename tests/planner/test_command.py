"""`proctor plan`: printed, written, changed, edited and run."""

from __future__ import annotations

from pathlib import Path

import pytest

from commands import Cli
from proctor.domain.errors import PlanError
from proctor.planning.plan_file import plan_from, plan_in
from proctor.yaml_document import load_yaml

QUERY = "demo/strong and demo/weak on 20 puzzles, seed 4, fail under 1 %"


def test_what_is_written_is_read_back_as_the_same_plan_and_runs(cli: Cli) -> None:
    draft = cli("plan", QUERY, "--json").json
    assert cli("plan", QUERY, "-o", "plan.yaml").code == 0
    assert plan_in(load_yaml(Path("plan.yaml"), error=PlanError)) == plan_from(draft["plan"])
    assert cli("plan", QUERY).out == Path("plan.yaml").read_text()
    assert draft["fail_under"] == {"accuracy": 0.01}
    ended = cli("plan", QUERY, "--run", "--yes")
    assert ended.code == 0
    assert "demo/weak    puzzles" in ended.out
    assert cli("plan", QUERY.replace("1 %", "100 %"), "--run", "--yes").code == 1


def test_nothing_is_run_where_no_data_fits_or_nobody_was_asked(cli: Cli) -> None:
    ended = cli("plan", "Korean maths with demo/strong", "--run", "--yes")
    assert ended.code == 2
    assert "Nothing is run: no benchmark here is about mathematics in Korean" in ended.err
    assert "There is no terminal to ask at" in cli("plan", QUERY, "--run").err
    assert cli("plan", "Korean maths with demo/strong, 2 questions", "-o", "wanted.yaml").code == 0
    again = cli("run", "wanted.yaml")
    assert again.code == 2, "what is missing is not lost in the file"
    assert again.err.endswith(ended.err[ended.err.index("Nothing is run") :])
    absent = cli("plan", "gpqa and sorting, 4 questions, with demo/strong", "--run", "--yes")
    assert absent.code == 2
    assert "Nothing is run: there is no benchmark 'gpqa' here" in absent.err
    assert cli("runs", "--json").json == []
    for other, is_left in (("gsm8k", False), ("on gsm8k instead of mgsm", False), ("3 questions", True)):
        assert ("gaps" in cli("plan", "--from", "wanted.yaml", other, "--json").json["plan"]) == is_left, other
    assert "--yes needs --run" in cli("plan", QUERY, "--yes").error
    assert "does not go with --run" in cli("plan", QUERY, "--run", "--json").err


def test_an_edited_plan_passes_what_every_plan_passes(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EDITOR", "sed -i s/demo.weak/demo\\\\/average/")
    assert cli("plan", QUERY, "--edit", "-o", "plan.yaml").code == 0
    assert "- demo/average" in Path("plan.yaml").read_text()
    monkeypatch.setenv("EDITOR", "sed -i s/seed:/sede:/")
    assert "Did you mean 'seed'" in cli("plan", QUERY, "--edit").error
