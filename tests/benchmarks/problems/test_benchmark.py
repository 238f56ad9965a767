"""Problems as samples."""

from __future__ import annotations

from pathlib import Path

import pytest

from proctor.benchmarks.problems.benchmark import requirements
from proctor.benchmarks.problems.finding import all_problems, problem_folders
from proctor.benchmarks.problems.folder import read_problem
from proctor.benchmarks.problems.prompt import agent_prompt, problem_prompt
from proctor.benchmarks.problems.scaffold import scaffold
from proctor.benchmarks.registry import load_benchmark
from proctor.domain.benchmark import Benchmark
from proctor.domain.errors import BenchmarkError, NotFoundError
from proctor.domain.plan import BenchmarkSpec
from proctor.planning.selection import select


@pytest.fixture
def shelf(tmp_path: Path) -> Path:
    scaffold(tmp_path / "mine" / "add-up")
    return tmp_path


def load(shelf: Path, text: str = "requirements?problems=mine") -> Benchmark:
    return load_benchmark(BenchmarkSpec.model_validate(text), seed=0, folder=shelf)


def test_a_problem_becomes_a_sample(shelf: Path) -> None:
    benchmark = load(shelf)
    (sample,) = benchmark.samples
    assert (sample.id, sample.category) == ("add-up", "command-line")
    assert sample.tags == {"difficulty": "basic", "area": "command-line", "kind": "command", "language": "any"}
    assert sample.metadata["digest"] == read_problem(shelf / "mine/add-up").digest
    assert str(shelf) not in str(sample)
    assert [spec.name for spec in benchmark.scorers] == ["program", "program_mark"]
    assert benchmark.needs_sandbox
    assert dict(benchmark.options) == {}


def test_problems_are_chosen_by_their_difficulty_or_area(shelf: Path) -> None:
    samples = load(shelf).samples
    assert len(list(select(samples, {"difficulty": ["basic"]}, None, 0))) == 1
    assert len(list(select(samples, {"category": ["command-line"]}, None, 0))) == 1
    with pytest.raises(BenchmarkError, match="No sample has difficulty 'expert'"):
        select(samples, {"difficulty": ["expert"]}, None, 0)


def test_repair_rounds_are_part_of_what_is_asked(shelf: Path) -> None:
    assert dict(load(shelf, "requirements?problems=mine&repair=2").options) == {"repair": 2}
    with pytest.raises(BenchmarkError, match="must be 0 to 10 rounds"):
        load(shelf, "requirements?problems=mine&repair=99")


def test_a_changed_hidden_test_is_another_sample(shelf: Path) -> None:
    before = load(shelf).samples.fingerprint()
    path = shelf / "mine/add-up/tests/hidden/unit/test_options.py"
    path.write_text(path.read_text() + "\n")
    assert load(shelf).samples.fingerprint() != before


def test_where_packages_come_from_is_told_to_both_scorers(shelf: Path) -> None:
    (shelf / "wheels").mkdir()
    made = load(shelf, "requirements?problems=mine&wheelhouse=wheels&index=http://127.0.0.1:9/simple")
    expected = {"wheelhouse": str(shelf / "wheels"), "index_url": "http://127.0.0.1:9/simple"}
    assert [dict(scorer.options) for scorer in made.scorers] == [expected, expected]
    with pytest.raises(BenchmarkError, match="wheelhouse"):
        load(shelf, "requirements?problems=mine&wheelhouse=absent")


def test_a_folder_without_problems_is_refused(shelf: Path) -> None:
    (shelf / "empty").mkdir()
    with pytest.raises(BenchmarkError, match="There are no problems in empty"):
        requirements(folder=shelf, problems="empty")
    with pytest.raises(NotFoundError):
        requirements(folder=shelf, problems="absent")


def test_the_prompt_tells_everything_but_the_hidden(shelf: Path) -> None:
    problem = read_problem(shelf / "mine/add-up")
    text = problem_prompt(problem)
    for requirement in problem.requirements:
        assert requirement.text in text
    assert "`python3 main.py` or `node main.js`" in text
    assert "def test_adds_two_numbers" in text
    assert "```python main.py" in text
    for hidden in ("prints_the_largest", "adds_any_numbers", "read_numbers", "drops-signs"):
        assert hidden not in text
    assert "tests of your own" not in text
    assert "tests of your own" in problem_prompt(problem, asks_for_tests=True)


def test_no_built_in_prompt_shows_what_is_hidden() -> None:
    for problem in all_problems():
        text = problem_prompt(problem)
        named = [name for name, kind in problem.checks.items() if kind != "visible" and f"test_{name}(" in text]
        assert named == [], problem.id


def test_an_agent_is_told_to_write_files(shelf: Path) -> None:
    text = problem_prompt(read_problem(shelf / "mine/add-up"))
    told = agent_prompt(text)
    assert "current folder" in told
    assert "fenced block" not in told
    assert told.startswith(text[:500])
    assert agent_prompt("something else") == "something else"


@pytest.mark.parametrize("name", problem_folders())
def test_every_built_in_problem_is_read_and_has_no_lint_errors(name: str) -> None:
    from proctor.benchmarks.problems.lint import lint_problem

    problem = read_problem(problem_folders()[name])
    lint = lint_problem(problem)
    assert [finding for finding in lint.findings if finding.severity == "error"] == []
    assert lint.untested == ()
    assert len(problem.mutants) >= 4
    assert 8 <= len(problem.requirements) <= 20
