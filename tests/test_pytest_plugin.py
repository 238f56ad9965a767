"""The pytest plugin, in sessions of a pytest of its own."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from pathlib import Path
from xml.etree import ElementTree

import pytest

ROOT = Path(__file__).parents[1]
SUITE = """
import pytest

WEAK = pytest.mark.proctor("puzzles", models="demo/weak", limit=40, seed=1)


@WEAK
def test_a_bound_that_is_reached(proctor):
    assert proctor.result.accuracy.lower >= 0.2
    assert 0.2 <= proctor.result.accuracy.value <= proctor.result.accuracy.upper
    assert proctor.result.accuracy.n == 40
    proctor.result.accuracy.assert_at_least(0.2)
    proctor.result.accuracy.assert_value_at_least(0.4)


@WEAK
def test_a_bound_that_is_missed(proctor):
    assert proctor.result.accuracy.lower >= 0.8


@WEAK
def test_a_bar_that_is_missed(proctor):
    proctor.result.accuracy.assert_at_least(0.8)


@WEAK
def test_the_value_is_missed(proctor):
    proctor.result.accuracy.assert_value_at_least(0.8)


@WEAK
def test_a_metric_that_there_is_not(proctor):
    proctor.result.acuracy


@WEAK
def test_a_marker_that_nothing_reads():
    pass


def test_several_models(proctor):
    found = proctor("puzzles", models=["demo/strong", "demo/weak"], limit=40, seed=1)
    assert len(found) == 2
    found["demo/strong"].assert_better_than(found["demo/weak"])
    found["demo/strong"].assert_not_worse_than(found["demo/weak"])
    assert proctor("puzzles", models=["demo/strong", "demo/weak"], limit=40, seed=1).run is found.run
    alone = proctor("puzzles", models="demo/strong", limit=40, seed=1)
    assert alone.accuracy.lower == found["demo/strong", "puzzles"].accuracy.lower
    with pytest.raises(AttributeError, match="There are 2 results: name one"):
        found.accuracy


def test_the_weaker_is_not_better(proctor):
    found = proctor("puzzles", models=["demo/strong", "demo/weak"], limit=40, seed=1)
    found["demo/weak"].assert_better_than(found["demo/strong"])


def test_the_weaker_of_two_runs_is_worse(proctor):
    strong = proctor("puzzles", models={"model": "demo/strong", "label": "mine"}, limit=40, seed=1)
    weak = proctor("puzzles", models={"model": "demo/weak", "label": "mine"}, limit=40, seed=1)
    strong["mine"].assert_not_worse_than(weak["mine"])
    weak["mine"].assert_not_worse_than(strong["mine"])


def test_a_model_that_fails_now_and_then(proctor):
    found = proctor("bench.yaml", models="python/broken:sometimes", retries=0)
    assert found["python/broken:sometimes"].failed == 1
    assert found.accuracy.lower > 0.5


def test_a_model_that_always_fails(proctor):
    proctor("bench.yaml", models="python/broken:always", retries=0)


@pytest.mark.proctor("no-such-benchmark", models="demo/weak")
def test_a_mistake_is_an_error_and_no_failure(proctor):
    pass
"""
BROKEN = """
def always(text):
    raise ConnectionError("the line is dead")


def sometimes(text):
    return always(text) if "1 + 1" in text else "\\x1b[31m5"
"""


def run_pytest(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """A session that knows no plugin but ours, whether the package was installed since the plugin came or not."""
    environment = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTEST_ADDOPTS": "", "PROCTOR_HOME": "unused"}
    command = [sys.executable, "-m", "pytest", "-p", "proctor.pytest_plugin", "-p", "no:cacheprovider", *arguments]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


class Session:
    """What a session printed, and how each test ended."""

    def __init__(self, folder: Path) -> None:
        (folder / "pytest.ini").write_text("[pytest]\nproctor_home = kept\naddopts = --strict-markers\n")
        (folder / "test_models.py").write_text(SUITE)
        (folder / "broken.py").write_text(BROKEN)
        (folder / "bench.yaml").write_text("name: sums\ndataset: {source: rows.jsonl}\nscorers: [numeric]\n")
        (folder / "rows.jsonl").write_text('{"input": "1 + 1?", "target": "2"}\n{"input": "2 + 2?", "target": "4"}\n')
        ended = run_pytest(folder, "--junitxml=junit.xml")
        self.out, self.code = ended.stdout, ended.returncode
        assert (folder / "junit.xml").is_file(), ended.stderr
        cases = ElementTree.parse(folder / "junit.xml").iter("testcase")
        self.said = {case.get("name"): self._end_of(case) for case in cases}
        self.folder = folder

    def _end_of(self, case: ElementTree.Element) -> tuple[str, str]:
        for kind in ("failure", "error"):
            if (found := case.find(kind)) is not None:
                return kind, f"{found.get('message')}\n{found.text}"
        return "passed", ""


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Session:
    return Session(tmp_path_factory.mktemp("suite"))


def test_what_is_reached_passes_and_everything_else_does_not(session: Session) -> None:
    ends = {name: kind for name, (kind, _) in session.said.items()}
    assert session.code == 1
    assert ends == {
        "test_a_bound_that_is_reached": "passed",
        "test_a_bound_that_is_missed": "failure",
        "test_a_bar_that_is_missed": "failure",
        "test_the_value_is_missed": "failure",
        "test_a_metric_that_there_is_not": "failure",
        "test_a_marker_that_nothing_reads": "error",
        "test_several_models": "passed",
        "test_the_weaker_is_not_better": "failure",
        "test_the_weaker_of_two_runs_is_worse": "failure",
        "test_a_model_that_fails_now_and_then": "failure",
        "test_a_model_that_always_fails": "failure",
        "test_a_mistake_is_an_error_and_no_failure": "error",
    }, session.out


@pytest.mark.parametrize("name", ["bound_that_is_missed", "bar_that_is_missed"])
def test_a_failure_says_n_the_interval_and_what_was_wrong(session: Session, name: str) -> None:
    _, said = session.said[f"test_a_{name}"]
    assert "accuracy of demo/weak on puzzles: 0.550 [" in said
    assert "n=40" in said
    assert "wrong samples:" in said
    assert said.count(" expected '") >= 3
    assert "all of them: proctor samples 1" in said
    assert "truncated" not in said


def test_failures_that_are_no_low_score_say_what_they_are(session: Session) -> None:
    said = {name: text for name, (_, text) in session.said.items()}
    assert "its value is below 0.8" in said["test_the_value_is_missed"]
    assert "Did you mean 'accuracy'?" in said["test_a_metric_that_there_is_not"]
    assert "does not take the fixture proctor" in said["test_a_marker_that_nothing_reads"]
    assert "demo/strong is better by" in said["test_the_weaker_is_not_better"]
    assert "is better by" in said["test_the_weaker_of_two_runs_is_worse"]
    assert "samples only the other got right:" in said["test_the_weaker_of_two_runs_is_worse"]
    assert "no-such-benchmark" in said["test_a_mistake_is_an_error_and_no_failure"]


def test_trials_that_failed_are_no_wrong_answers(session: Session) -> None:
    _, said = session.said["test_a_model_that_fails_now_and_then"]
    assert "accuracy of python/broken:sometimes on sums: 0.000 [" in said
    assert "n=1" in said
    assert "1 trial failed, in no score" in said
    assert "expected '4'" in said
    assert "expected '2'" not in said
    _, said = session.said["test_a_model_that_always_fails"]
    assert "every trial failed" in said
    assert "\x1b" not in session.out


def test_the_session_ends_with_a_line_for_each_evaluation(session: Session) -> None:
    _, _, summary = session.out.partition("evaluations ---")
    assert summary.count("demo/weak on puzzles: accuracy 0.550 [") >= 1
    assert summary.count("run 1") >= 3
    assert (session.folder / "kept" / "proctor.db").is_file()


def test_a_suite_that_does_not_use_it_loads_nothing_of_it(tmp_path: Path) -> None:
    (tmp_path / "test_plain.py").write_text(
        "import sys\n"
        "def test_nothing_is_loaded():\n"
        "    ours = {name for name in sys.modules if name.split('.')[0] == 'proctor'}\n"
        "    assert ours == {'proctor', 'proctor.version', 'proctor.pytest_plugin'}\n"
        "    assert not {'sqlalchemy', 'rich', 'msgspec', 'pydantic'} & set(sys.modules)\n"
        "def test_an_assertion_fails_as_ever():\n"
        "    assert 1.5 >= 2.5\n"
    )
    ended = run_pytest(tmp_path)
    assert ended.returncode == 1, ended.stdout
    assert "1 failed, 1 passed" in ended.stdout, ended.stdout
    assert "assert 1.5 >= 2.5" in ended.stdout
    assert "evaluations" not in ended.stdout


def test_pytest_finds_it_by_its_entry_point() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert project["entry-points"]["pytest11"] == {"proctor": "proctor.pytest_plugin"}
