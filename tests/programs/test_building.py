"""Packages a program brings along, and the tests it brings along: allowed, fetched, installed, run, labelled."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from msgspec.structs import replace

from proctor.domain.errors import ScorerError
from proctor.domain.problem import Problem
from proctor.domain.sandbox import Ending, SandboxResult
from proctor.domain.workspace import Runner
from proctor.programs.building import Builder
from proctor.programs.options import MarkOptions
from proctor.programs.own_tests import OwnTests, own_test_files, run_own_tests
from proctor.programs.packages.package_set import BuildError
from proctor.programs.packages.requirements import read_requirements
from proctor.programs.validating import entry
from programs.programs import QUICK, marked, phase, text

SOURCE = """
import sys
from counting import words
if len(sys.argv) == 1:
    print(words(sys.stdin.read()))
"""


def wheel(folder: Path, name: str, *, needs: str = "") -> None:
    """A wheel as an index would give it."""
    folder.mkdir(exist_ok=True)
    about = f"{name}-1.0.dist-info"
    files = {
        f"{name}.py": "def words(text):\n    return len(text.split())\n",
        f"{about}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n{needs}",
        f"{about}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{about}/RECORD": "",
        f"{name}-1.0.data/purelib/{name}_data.py": "DATA = 1\n",
    }
    with zipfile.ZipFile(folder / f"{name}-1.0-py3-none-any.whl", "w") as made:
        for path, content in files.items():
            made.writestr(path, content)


def test_a_package_from_a_wheelhouse_is_installed_inside(tally: Problem, runner: Runner, tmp_path: Path) -> None:
    wheel(tmp_path / "house", "counting", needs="Requires-Dist: deeper\n")
    wheel(tmp_path / "house", "deeper")
    allowing = replace(tally, dependencies=("counting",))
    files = text(main_py=f"import deeper, counting_data\n{SOURCE}", requirements_txt="counting==1.0  # words\n")
    card = marked(allowing, files, runner, replace(QUICK, wheelhouse=tmp_path / "house"))
    assert phase(card, "build").evidence["packages"] == ["counting==1.0", "deeper==1.0"]
    passed = {check.name for check in card.evidence.checks if str(check.status) == "passed"}
    assert {"counts_standard_input", "counts_as_split_does"} <= passed


@pytest.mark.parametrize(
    ("listed", "allowed", "words"),
    [
        ("counting==1.0", (), "does not allow the package 'counting'; it allows none"),
        ("os-thing==1\n", ("counting",), "it allows counting"),
        ("--index-url http://elsewhere", ("counting",), "is not the name of a package"),
        ("counting @ http://elsewhere/x.whl", ("counting",), "is to come from an address"),
        ("./local", ("counting",), "is not the name of a package"),
    ],
)
def test_a_package_that_cannot_be_had_fails_the_build_in_clear_words(
    listed: str, allowed: tuple[str, ...], words: str, tally: Problem, runner: Runner
) -> None:
    files = text(main_py=SOURCE, requirements_txt=listed)
    card = marked(replace(tally, dependencies=allowed), files, runner)
    assert str(phase(card, "build").status) == "failed"
    assert words in phase(card, "build").log
    assert (card.total, card.passed) == (0.0, False)


@pytest.mark.usefixtures("no_package_index")
@pytest.mark.parametrize(
    ("house", "index", "words"),
    [
        (None, None, "neither a wheelhouse nor a package index .*--wheelhouse DIR"),
        ("house", None, "has nothing for counting"),
        (None, "http://127.0.0.1:9/simple", "does not answer"),
    ],
)
def test_a_source_of_packages_that_is_missing_empty_or_silent_is_nobodys_mark(
    house: str | None,
    index: str | None,
    words: str,
    tally: Problem,
    runner: Runner,
    tmp_path: Path,
) -> None:
    (tmp_path / "house").mkdir()
    files = text(main_py=SOURCE, requirements_txt="counting==1.0")
    options = replace(QUICK, wheelhouse=tmp_path / house if house else None, index_url=index)
    with pytest.raises(ScorerError, match=words):
        marked(replace(tally, dependencies=("counting",)), files, runner, options)


def test_a_version_that_does_not_exist_fails_the_build(tally: Problem, runner: Runner, tmp_path: Path) -> None:
    wheel(tmp_path / "house", "counting")
    files = text(main_py=SOURCE, requirements_txt="counting==7")
    options = replace(QUICK, wheelhouse=tmp_path / "house")
    card = marked(replace(tally, dependencies=("counting",)), files, runner, options)
    assert "no wheels for counting==7" in phase(card, "build").log
    assert (card.total, card.passed) == (0.0, False)


class _Without:
    """A workspace that lacks an interpreter; everything else it is asked for succeeds."""

    async def write(self, files: Mapping[str, bytes], under: str = "") -> None:
        return

    async def execute(self, words: Sequence[str], **_: object) -> SandboxResult:
        return SandboxResult(Ending.EXITED, 127, stderr=f"{words[0]}: not found".encode())


@pytest.mark.parametrize(("name", "tool"), [("main.js", "node"), ("main.py", "python3")])
def test_an_interpreter_that_is_missing_is_no_fault_of_the_programs(name: str, tool: str, tally: Problem) -> None:
    files = {name: b"1"}
    builder = Builder(tally, entry(tally, files), files, _Without())  # type: ignore[arg-type]
    with pytest.raises(ScorerError, match=rf"There is no .*\({tool}\)"):
        asyncio.run(builder.build(QUICK))


def test_names_of_packages_are_compared_as_indexes_do() -> None:
    (found,) = read_requirements({"requirements.txt": b"# all\n\nMy_Package==1.0\n"}, ("my-package",))
    assert found.line == "My_Package==1.0"
    assert read_requirements({}, ()) == ()
    with pytest.raises(BuildError, match=r"requirements\.txt:2"):
        read_requirements({"requirements.txt": b"my-package==1\nother==1"}, ("my-package",))
    with pytest.raises(BuildError, match=r"requirements\.txt:1"):
        read_requirements({"requirements.txt": b"my-package; " + b"(" * 100_000}, ("my-package",))


def test_npm_packages_are_refused(tally: Problem, runner: Runner) -> None:
    described_by = {
        '{"dependencies": {"left-pad": "1"}}': "left-pad",
        "{": "is not JSON",
        "[" * 100_000: "is not JSON",
        '{"dependencies": 5}': "5 is no object",
        '{"dependencies": ["left-pad", 5, null]}': "is no object",
    }
    for described, words in described_by.items():
        card = marked(tally, text(main_js="console.log(1)", package_json=described), runner)
        assert words in phase(card, "build").log


PROGRAM = {
    "main.py": b"""
import sys

def double(x):
    if x < 0:
        return None
    return 2 * x

def unused():
    a = 1
    return a

if __name__ == "__main__":
    print(double(int(sys.argv[1])))
""",
    "deep/part.py": b"X = 1\n\n\ndef never():\n    return X\n",
    "tests/test_all.py": b"""
import subprocess, sys
import main
import pytest

def test_double():
    assert main.double(2) == 4

def test_wrong():
    assert main.double(2) == 5

def test_main():
    done = subprocess.run([sys.executable, "main.py", "3"], capture_output=True, text=True, check=True)
    assert done.stdout == "6\\n"

@pytest.mark.skip
def test_skipped(): ...
""",
}


def own(problem: Problem, files: dict[str, bytes], runner: Runner) -> OwnTests:
    return asyncio.run(run_own_tests(problem, files, entry(problem, files), runner, MarkOptions()))


def test_coverage_is_the_figure_of_coverage_itself(tally: Problem, runner: Runner, tmp_path: Path) -> None:
    found = own(tally, PROGRAM, runner)
    for path, content in PROGRAM.items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_bytes(content)
    (tmp_path / "rc").write_text("[run]\nsource = .\nparallel = true\nomit = tests/*\npatch = subprocess\n")
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(tmp_path)}
    coverage = [sys.executable, "-m", "coverage"]
    for words in (["run", "--rcfile=rc", "-m", "pytest", "-q", "-c", os.devnull, "tests"], ["combine", "--rcfile=rc"]):
        subprocess.run([*coverage, *words], cwd=tmp_path, env=environment, capture_output=True, check=False)
    total = subprocess.run(
        [*coverage, "report", "--rcfile=rc", "--format=total", "--precision=4"],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    assert found.coverage["percent"] == float(total.stdout)
    assert found.coverage["is_forgeable"]
    assert 0 < found.coverage["percent"] < 100


def test_tests_of_the_programs_own_are_labelled(tally: Problem, runner: Runner) -> None:
    found = own(tally, PROGRAM, runner)
    assert all(check.is_generated and check.kind == "own" for check in found.checks)
    assert {check.name.partition("::")[2]: str(check.status) for check in found.checks} == {
        "test_double": "passed",
        "test_wrong": "failed",
        "test_main": "passed",
        "test_skipped": "not run",
    }


FORGED = """
import json, os, pathlib
report = {"code": 0, "results": RESULTS, "coverage": {"percent": PERCENT, "files": {}}}
pathlib.Path(os.environ.get("X", "/work"), "report.json").write_text(json.dumps(report))
os._exit(0)
def test_x(): ...
"""


def test_a_report_is_the_programs_word_and_read_with_care(tally: Problem, runner: Runner) -> None:
    if not runner.is_isolated:
        pytest.skip("the forged report is written to a folder only a sandbox has")
    for results, percent in (('[{"name": 1}, 7, null]', '"all"'), ("{}", "1e400"), ('[{"name": "x"}] * 9', "101")):
        forged = FORGED.replace("RESULTS", results.replace("null", "None")).replace("PERCENT", percent)
        found = own(tally, {**PROGRAM, "tests/test_all.py": forged.encode()}, runner)
        assert found.checks == ()
        assert found.coverage["status"] == "not run"


def test_forged_coverage_gets_no_mark(tally: Problem, runner: Runner) -> None:
    if not runner.is_isolated:
        pytest.skip("the forged report is written to a folder only a sandbox has")
    forged = FORGED.replace("RESULTS", "[]").replace("PERCENT", "100.0")
    options = MarkOptions(is_measuring=False)
    honest = marked(tally, {"main.py": tally.solution["main.py"]}, runner, options)
    forging = marked(tally, {"main.py": tally.solution["main.py"], "test_x.py": forged.encode()}, runner, options)
    assert forging.evidence.findings["coverage"]["percent"] == 100.0
    assert forging.total == honest.total


def test_programs_without_tests_of_their_own_say_so(tally: Problem, runner: Runner) -> None:
    assert own(tally, {"main.py": b""}, runner).coverage["status"] == "not applicable"
    hanging = own(tally, {"main.py": b"", "test_x.py": b"import os\nos._exit(3)\n"}, runner)
    assert (hanging.coverage["status"], hanging.checks) == ("not run", ())
    names = ("tests/test_a.py", "tests/helper.py", "a_test.py", "main.py", "tests/b.test.js", "main.js")
    files = dict.fromkeys(names, b"")
    assert own_test_files(files, "python") == ["a_test.py", "tests/test_a.py"]
    assert own_test_files(files, "javascript") == ["tests/b.test.js"]
