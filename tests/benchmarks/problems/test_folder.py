"""Problem folders."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from proctor.benchmarks.problems.finding import all_problems, find_problem, problem_folders
from proctor.benchmarks.problems.folder import read_problem
from proctor.benchmarks.problems.lint import lint_problem
from proctor.benchmarks.problems.scaffold import scaffold, scaffold_files
from proctor.benchmarks.problems.schema import ProblemFile, json_schema
from proctor.domain.errors import BenchmarkError, NotFoundError, UserError
from proctor.domain.problem import CheckKind, InterfaceKind, Level, Threshold


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    scaffold(tmp_path / "add-up")
    return tmp_path / "add-up"


def change(folder: Path, **values: Any) -> None:
    """Rewrite fields of problem.yaml; None removes one."""
    path = folder / "problem.yaml"
    document = {**yaml.safe_load(path.read_text()), **values}
    path.write_text(yaml.safe_dump({key: value for key, value in document.items() if value is not None}))


def document(folder: Path) -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.safe_load((folder / "problem.yaml").read_text())
    return loaded


def refused(folder: Path) -> str:
    with pytest.raises(BenchmarkError) as caught:
        read_problem(folder)
    return str(caught.value)


def test_a_folder_becomes_a_problem(folder: Path) -> None:
    problem = read_problem(folder)
    assert (problem.id, problem.difficulty, problem.area) == ("add-up", "basic", "command-line")
    assert problem.interface.kind is InterfaceKind.COMMAND
    assert problem.interface.languages == ("python", "javascript")
    assert [requirement.level for requirement in problem.requirements] == [Level.MUST] * 3 + [Level.SHOULD]
    assert problem.thresholds == (Threshold("work_seconds", 5.0, "gold", is_upper=True),)
    assert problem.limits == {"memory_bytes": 256 << 20, "processes": 16, "seconds": 20.0}
    assert problem.load == {"work": "tests/load/work.py"}
    assert sum(problem.weights.values()) == pytest.approx(1)
    assert problem.checks["adds_two_numbers"] is CheckKind.VISIBLE
    assert problem.checks["adds_any_numbers"] is CheckKind.PROPERTY
    assert list(problem.visible) == ["test_examples.py"]
    assert set(problem.solution) == {"main.py", "README.md", "tests/test_main.py"}


def test_a_mutant_is_the_gold_solution_with_its_own_files_over_it(folder: Path) -> None:
    problem = read_problem(folder)
    mutant = next(one for one in problem.mutants if one.name == "drops-signs")
    assert mutant.breaks == ("R1",)
    assert mutant.files["README.md"] == problem.solution["README.md"]
    assert b"abs(number)" in mutant.files["main.py"]


def test_the_digest_follows_every_file_and_nothing_else(folder: Path) -> None:
    before = read_problem(folder).digest
    (folder / "__pycache__").mkdir()
    (folder / "__pycache__" / "x.pyc").write_bytes(b"x")
    assert read_problem(folder).digest == before
    for path in ("tests/hidden/unit/test_options.py", "solution/README.md", "mutants/drops-signs/main.py"):
        target = folder / path
        target.write_text(target.read_text() + "\n")
        after = read_problem(folder).digest
        assert after != before
        before = after


def test_a_mistake_names_file_line_field_and_what_was_meant(folder: Path) -> None:
    path = folder / "problem.yaml"
    path.write_text(path.read_text().replace("difficulty: basic", "dificulty: basic"))
    said = refused(folder)
    assert said.startswith(
        "add-up/problem.yaml:4: dificulty: there is no field 'dificulty'. Did you mean 'difficulty'?"
    )
    assert "pass" in said
    assert "pass_rule" not in said


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"difficulty": "easy"}, "'easy' is not one of basic, intermediate, advanced, expert"),
        ({"area": "comand-line"}, "Did you mean 'command-line'?"),
        ({"weights": {"functional": 0.5, "tests": 0.4}}, "the weights sum to 0.9; they must sum to 1"),
        ({"weights": {"speed": 1}}, "there is no field 'speed'"),
        ({"version": 1.1}, "put it in quotes"),
        ({"thresholds": [{"measure": "work_seconds", "at_most": "3"}]}, "'3' is not a number with a unit"),
        ({"dependencies": ["no name !!"]}, "dependencies[0]: 'no name !!' is not the name of a package"),
        ({"dependencies": ["attrs", "a @ http://elsewhere/a.whl"]}, "dependencies[1]: 'a @ http"),
        ({"thresholds": [{"measure": "work_seconds", "at_most": "3 MiB"}]}, "'3 MiB' is not a time"),
        ({"thresholds": [{"measure": "work_seconds", "at_most": 5}]}, "5 has no unit: write it as in '200 ms'"),
        ({"limits": {"memory": 64.5}}, "64.5 has no unit"),
        ({"thresholds": [{"measure": "work_seconds", "at_most": "1.2 gold"}]}, "too near to gold"),
        ({"thresholds": [{"measure": "work_seconds"}]}, "give either 'at_least' or 'at_most'"),
        ({"thresholds": [{"measure": "work_seconds", "at_least": "1 s"}]}, "takes 'at_most', not 'at_least'"),
        ({"thresholds": [{"measure": "p95_latency", "at_most": "1 s"}]}, "can only be measured with a 'load' profile"),
        ({"load": {"requests": [{"path": "/"}]}}, "'load' is for services"),
        ({"interface": {"kind": "library"}}, "a library needs it"),
        ({"interface": {"kind": "command", "ready": {"path": "/"}}}, "'ready' is for services"),
        ({"interface": {"kind": "command", "languages": ["rust"]}}, "'rust' is not one of python, javascript"),
        ({"limits": {"memory": "much"}}, "'much' is not a number with a unit"),
        ({"id": "other"}, "the id 'other' is not the name of its folder, 'add-up'"),
        ({"mutants": [{"name": "drops-signs", "breaks": ["R9"]}]}, "breaks 'R9', which is no requirement"),
        ({"mutants": [{"name": "no-such", "breaks": ["R1"]}]}, "is there, but not listed here"),
    ],
)
def test_what_cannot_hold_is_refused_with_the_reason(folder: Path, values: dict[str, Any], said: str) -> None:
    change(folder, **values)
    message = refused(folder)
    assert said in message
    assert message.startswith("add-up/problem.yaml:")


def test_a_check_that_is_no_test_function_is_refused_with_the_nearest(folder: Path) -> None:
    path = folder / "problem.yaml"
    path.write_text(path.read_text().replace("[refuses_words]", "[refuse_words]"))
    said = refused(folder)
    assert "add-up/problem.yaml:18: requirements[1].checks[0]: there is no test function test_refuse_words" in said
    assert "Did you mean 'refuses_words'?" in said


def test_a_mutant_that_breaks_what_is_no_requirement_is_refused_where_it_says_so(folder: Path) -> None:
    path = folder / "problem.yaml"
    lines = path.read_text().splitlines(keepends=True)
    place = next(number for number, line in enumerate(lines) if "breaks: [R2]" in line)
    lines[place] = lines[place].replace("[R2]", "[R22]")
    path.write_text("".join(lines))
    said = refused(folder)
    assert f"add-up/problem.yaml:{place + 1}: mutants[" in said
    assert said.endswith("breaks 'R22', which is no requirement. Did you mean 'R2'?")


def test_checks_are_found_without_running_anything(folder: Path) -> None:
    path = folder / "tests/hidden/unit/test_options.py"
    path.write_text("raise SystemExit('this file was run')\n" + path.read_text())
    assert "prints_the_largest" in read_problem(folder).checks


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("def test_refuses_words(program): pass\n", "there is already a test_refuses_words"),
        ("class TestIt:\n    pass\n", "checks are plain functions, not classes"),
        ("async def test_a(program): pass\n", "not async ones"),
        ("def test_(:\n", "test_more.py:1: this is not Python"),
    ],
)
def test_test_files_that_cannot_count_are_refused(folder: Path, text: str, said: str) -> None:
    (folder / "tests/hidden/unit/test_more.py").write_text(text)
    assert said in refused(folder)


def test_two_requirements_of_one_id_are_refused(folder: Path) -> None:
    requirements = document(folder)["requirements"]
    change(folder, requirements=[*requirements, requirements[0]])
    assert "the requirement 'R1' is there twice" in refused(folder)


def test_a_mutant_that_changes_nothing_is_refused(folder: Path) -> None:
    (folder / "mutants/drops-signs/main.py").write_bytes((folder / "solution/main.py").read_bytes())
    assert "mutants/drops-signs is the gold solution, unchanged" in refused(folder)


def test_a_solution_without_its_entry_file_is_refused(folder: Path) -> None:
    (folder / "solution/main.py").rename(folder / "solution/start.py")
    assert "the gold solution has no main.py or main.js" in refused(folder)


def test_links_in_a_problem_are_refused(folder: Path) -> None:
    (folder / "solution/secret").symlink_to("/etc/passwd")
    assert "this is a link" in refused(folder)


def test_work_seconds_needs_the_work(folder: Path) -> None:
    (folder / "tests/load/work.py").unlink()
    assert "work_seconds is measured with tests/load/work.py, which is not there" in refused(folder)


def test_a_service_is_read_with_its_load(folder: Path) -> None:
    change(
        folder,
        interface={"kind": "service", "languages": ["python"], "ready": {"path": "/health", "within": "1500 ms"}},
        load={"duration": "500 ms", "requests": [{"path": "/a", "weight": 3, "headers": {"x": 1}}]},
        thresholds=[{"measure": "p95_latency", "at_most": "0.2 s"}, {"measure": "throughput", "at_least": "0.5 gold"}],
    )
    problem = read_problem(folder)
    assert (problem.interface.ready_path, problem.interface.ready_seconds) == ("/health", 1.5)
    assert problem.load == {
        "connections": 8,
        "seconds": 0.5,
        "requests": [{"method": "GET", "path": "/a", "weight": 3, "headers": {"x": "1"}}],
        "setup": [],
    }
    assert problem.thresholds[0] == Threshold("p95_latency", 200.0, "ms", is_upper=True)
    assert problem.thresholds[1] == Threshold("throughput", 0.5, "gold", is_upper=False)


def test_a_load_that_expects_nothing_is_warned_of(folder: Path) -> None:
    requests: list[dict[str, Any]] = [{"path": "/a"}, {"path": "/b", "expect": {"status": 200, "members": {"x": None}}}]
    change(folder, interface={"kind": "service"}, load={"requests": requests}, thresholds=[])
    (found,) = (finding for finding in lint_problem(read_problem(folder)).findings if finding.rule == "expect")
    assert found.message == "nothing is expected of /a: whatever is answered below 400 counts"
    assert (read_problem(folder).load or {})["requests"][1]["expect"]["members"] == {"x": None}


def test_the_scaffold_has_no_errors(folder: Path) -> None:
    lint = lint_problem(read_problem(folder))
    assert lint.is_clean
    assert lint.untested == ()
    assert [finding.rule for finding in lint.findings] == ["size"]
    assert lint.patterns == {
        "R1": "event-driven",
        "R2": "unwanted behaviour",
        "R3": "optional feature",
        "R4": "unwanted behaviour",
    }


def test_a_sentence_outside_the_patterns_is_an_error_with_its_line(folder: Path) -> None:
    path = folder / "problem.yaml"
    path.write_text(path.read_text().replace("text: If standard input is empty, then", "text: On empty input,"))
    lint = lint_problem(read_problem(folder))
    assert not lint.is_clean
    (finding,) = [finding for finding in lint.findings if finding.severity == "error"]
    assert (finding.where, finding.rule, finding.requirement) == ("add-up/problem.yaml:25", "ears", "R4")


def test_untested_requirements_and_unnamed_checks_are_reported(folder: Path) -> None:
    requirements = document(folder)["requirements"]
    requirements[3]["checks"] = []
    change(folder, requirements=requirements)
    lint = lint_problem(read_problem(folder))
    assert lint.is_clean
    assert lint.untested == ("R4",)
    assert {finding.rule for finding in lint.findings} == {"untested", "unnamed check", "size"}


def test_a_check_that_does_not_take_the_program_is_an_error(folder: Path) -> None:
    (folder / "tests/hidden/unit/test_more.py").write_text("def test_nothing():\n    pass\n")
    assert not lint_problem(read_problem(folder)).is_clean


def test_the_published_schema_accepts_what_is_read_and_refuses_what_is_not(folder: Path) -> None:
    validator = jsonschema_rs.validator_for(json_schema())
    values = document(folder)
    assert validator.is_valid(values)
    for wrong in ({"difficulty": "easy"}, {"extra": 1}, {"limits": {"memory": "much"}}, {"requirements": []}):
        assert not validator.is_valid({**values, **wrong})
    assert "pass" in json_schema()["properties"]


@settings(max_examples=60)
@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=12),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
        max_leaves=8,
    ),
    st.sampled_from(sorted(name if name != "pass_rule" else "pass" for name in ProblemFile.model_fields)),
)
def test_any_value_in_any_field_is_read_or_refused_in_one_line(
    tmp_path_factory: pytest.TempPathFactory, value: Any, field: str
) -> None:
    folder = tmp_path_factory.mktemp("fuzz") / "add-up"
    scaffold(folder)
    change(folder, **{field: value})
    try:
        said = f"add-up/problem.yaml: {read_problem(folder).id}"
    except BenchmarkError as refusal:
        said = str(refusal)
    assert said.startswith("add-up/problem.yaml:")
    assert "\n" not in said


def test_problems_are_found_by_id_and_by_folder(folder: Path) -> None:
    scaffold(folder.parent / "count-down")
    change(folder.parent / "count-down", difficulty="expert")
    assert list(problem_folders(folder.parent)) == ["add-up", "count-down"]
    assert [problem.id for problem in all_problems(folder.parent)] == ["add-up", "count-down"]
    assert find_problem("count-down", folder.parent).difficulty == "expert"
    assert find_problem(str(folder)).id == "add-up"
    assert list(problem_folders(folder)) == ["add-up"]


def test_an_unknown_problem_gets_a_suggestion(folder: Path) -> None:
    with pytest.raises(NotFoundError, match=r"No problem 'ad-up'\. Did you mean 'add-up'\? Run 'proctor problems'\."):
        find_problem("ad-up", folder.parent)
    with pytest.raises(NotFoundError, match=r"There is no problem.yaml in"):
        find_problem(str(folder.parent), folder.parent)


def test_a_scaffold_needs_a_usable_name_and_an_empty_place(folder: Path) -> None:
    with pytest.raises(UserError, match="cannot be a problem's id"):
        scaffold(folder.parent / "My Problem")
    with pytest.raises(UserError, match="is not empty"):
        scaffold(folder)


def test_every_mutation_of_the_scaffold_takes_hold() -> None:
    files = scaffold_files("x")
    mutants = [text for path, text in files.items() if path.startswith("mutants/")]
    assert len({*mutants, files["solution/main.py"]}) == 5
