"""The example package, installed as anybody would and used through the command line."""

from __future__ import annotations

import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from plugins.example import entries
from proctor.plugins import KINDS

ROWS = "[a]\nquestion = Say A.\nanswer = SAY A.\n[b]\nquestion = Say B.\nanswer = b\n"
FILE = """
name: spoken
dataset: {source: words.ini, fields: {input: question, target: answer}}
scorers: [starts_with]
metrics: [flawless]
"""


class User:
    """Types commands in a folder, with the example package installed."""

    def __init__(self, folder: Path, site: Path) -> None:
        self.folder = folder
        self.environment = {**os.environ, "PYTHONPATH": str(site), "PROCTOR_HOME": str(folder / "home")}

    def types(self, *arguments: str, code: int = 0) -> str:
        command = [sys.executable, "-m", "proctor", *arguments]
        done = subprocess.run(
            command, check=False, cwd=self.folder, env=self.environment, capture_output=True, text=True,
            stdin=subprocess.DEVNULL,
        )  # fmt: skip
        assert done.returncode == code, done.stderr
        assert "Warning" not in done.stderr
        return done.stdout or done.stderr


@pytest.fixture
def user(tmp_path: Path, site: Path) -> User:
    return User(tmp_path, site)


def test_the_example_has_a_plugin_of_every_kind_and_the_doctor_finds_all_well(user: User) -> None:
    added = entries()
    assert {kind for kind, names in added.items() if names} == set(KINDS)
    found = {item["name"]: item for item in json.loads(user.types("doctor", "--json"))}
    for kind, names in added.items():
        for name in names:
            assert found[f"plugin {kind}.{name}"]["state"] == "ok", found
            assert found[f"plugin {kind}.{name}"]["detail"] == "proctor-example 0.1.0"


def test_provider_benchmark_scorer_metric_report_export_and_theme_work_together(user: User) -> None:
    listed = {item["name"]: item for item in json.loads(user.types("benchmarks", "--json"))}
    assert listed["opposites"]["description"] == "Words and their opposites."
    assert "Valid: all 6 samples" in user.types("benchmarks", "check", "opposites")
    run = json.loads(user.types("run", "opposites", "-m", "parrot/loud", "--report", "out.txt", "--json"))
    [evaluation] = run["evaluations"]
    assert (evaluation["scored"], evaluation["metrics"]["flawless"]["value"]) == (6, 0)
    assert evaluation["cost_usd"] == 0, "the provider says that it is free"
    assert "parrot/loud" in (user.folder / "out.txt").read_text(encoding="utf-8")
    lines = user.types("export", "-f", "tsv").splitlines()
    assert lines[0] == "sample_id\tmodel\toutcome\tscores"
    assert min(lines) == "early\tparrot/loud\tscored\tstarts_with=0.0"
    user.types("report", "--theme", "sepia", "-o", "sepia.html")
    assert "--paper: #f8f1e3;" in (user.folder / "sepia.html").read_text(encoding="utf-8")
    assert "Error: A theme is for formats with colours" in user.types("report", "-f", "md", "--theme", "sepia", code=2)


def test_a_benchmark_file_names_plugins_as_it_names_what_is_built_in(user: User) -> None:
    (user.folder / "words.ini").write_text(ROWS, encoding="utf-8")
    (user.folder / "spoken.yaml").write_text(FILE, encoding="utf-8")
    run = json.loads(user.types("run", "spoken.yaml", "-m", "parrot/loud", "--epochs", "2", "--json"))
    metrics = run["evaluations"][0]["metrics"]
    assert metrics["flawless"]["value"] == 0.5
    assert "majority@2" not in metrics, "its scorer says that its answers cannot be counted as votes"
    assert "consistency_of_words" in metrics


def test_a_command_is_listed_and_typed_like_any_other(user: User) -> None:
    assert re.search(r"licences +Count the benchmarks of each licence\.", user.types("--help"))
    assert "Apache-2.0" in user.types("licences")
    assert "Did you mean 'licences'?" in user.types("licenses", code=2)


def test_help_and_completion_know_the_names_that_were_added(user: User) -> None:
    assert "[jsonl|csv|parquet|junit|inspect|tsv]" in user.types("export", "--help")
    assert "[html|md|json|txt]" in user.types("report", "--help")
    user.environment |= {"_PROCTOR_COMPLETE": "bash_complete"}
    for line, offered in {
        "proctor lic": "licences",
        "proctor run opp": "opposites",
        "proctor run x -m par": "parrot/",
        "proctor report -f t": "txt",
        "proctor report --theme se": "sepia",
    }.items():
        user.environment |= {"COMP_WORDS": line, "COMP_CWORD": str(line.count(" "))}
        assert offered in user.types(), line


def test_a_sandbox_of_the_package_is_used_by_its_name(user: User) -> None:
    (user.folder / "program.py").write_text("print(6 * 7)\n", encoding="utf-8")
    if shutil.which("bwrap") is None:
        pytest.skip("bubblewrap is not installed")
    document = json.loads(user.types("sandbox", "run", "--backend", "hasty", "--json", "program.py"))
    assert (document["stdout"], document["sandbox"]["backend"]) == ("42\n", "hasty")


def test_without_the_package_what_was_kept_is_still_shown_and_no_list_ends(user: User, tmp_path: Path) -> None:
    (tmp_path / "words.ini").write_text(ROWS, encoding="utf-8")
    (tmp_path / "spoken.yaml").write_text(FILE, encoding="utf-8")
    user.types("run", "spoken.yaml", "-m", "parrot/loud", "-m", "parrot/quiet")
    user.environment.pop("PYTHONPATH")
    user.types("run", "puzzles", "-m", "demo/strong", "--limit", "3")
    assert {table["metric"] for table in json.loads(user.types("leaderboard", "--json"))["tables"]} == {
        "accuracy",
        "flawless",
    }
    with sqlite3.connect(tmp_path / "home" / "proctor.db") as connection:
        connection.execute("UPDATE evaluations SET summary = NULL, summary_revision = NULL WHERE benchmark = 'spoken'")
    document = json.loads(user.types("leaderboard", "--json"))
    assert [table["metric"] for table in document["tables"]] == ["accuracy"]
    assert document["left_out"] == {"not_completed": 0, "without_metric": 2}
    assert "2 evaluations whose metric is not installed left out." in user.types("leaderboard")
