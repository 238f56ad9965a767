"""Tests that programs bring along, in both languages: run where the program would run, with what it brings along."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path

import pytest
from msgspec.structs import replace

from proctor.benchmarks.problems.prompt import problem_prompt
from proctor.domain.problem import Problem
from proctor.domain.workspace import Runner
from proctor.programs.options import MarkOptions
from proctor.programs.own_tests import OwnTests, own_test_files, run_own_tests
from proctor.programs.validating import entry
from programs.test_building import wheel

SCRIPT = {
    "main.js": b"function double(x) {\n  return 2 * x;\n}\nfunction never() {\n  return 3;\n}\n"
    b"if (require.main === module) console.log(double(3));\nmodule.exports = { double, never };\n",
    "tests/helper.js": b"module.exports = 2;\n",
    "tests/main.test.js": b"""
const { test, describe, it } = require("node:test");
const assert = require("node:assert");
const { execFileSync } = require("node:child_process");
const { double } = require("../main.js");
test("doubles", () => assert.strictEqual(double(require("./helper.js")), 4));
test("is wrong", () => assert.strictEqual(double(2), 5));
test.skip("is skipped", () => {});
describe("a group", () => it("starts it", () => {
  assert.strictEqual(execFileSync(process.execPath, ["main.js"]).toString(), "6\\n");
}));
""",
}


def own(problem: Problem, files: dict[str, bytes], runner: Runner, options: MarkOptions | None = None) -> OwnTests:
    return asyncio.run(run_own_tests(problem, files, entry(problem, files), runner, options or MarkOptions()))


def test_tests_in_javascript_are_run_and_labelled(tally: Problem, runner: Runner) -> None:
    found = own(tally, SCRIPT, runner)
    assert {check.name: str(check.status) for check in found.checks} == {
        "tests/main.test.js::doubles": "passed",
        "tests/main.test.js::is wrong": "failed",
        "tests/main.test.js::is skipped": "not run",
        "tests/main.test.js::starts it": "passed",
    }, found
    assert all(check.is_generated and check.kind == "own" for check in found.checks)
    assert "4 !== 5" in next(check.message for check in found.checks if "wrong" in check.name)
    assert found.coverage["version"].startswith("Node.js ")
    assert found.coverage["is_forgeable"]
    assert 0 < found.coverage["files"]["main.js"] < 100
    assert not any("test" in path and "helper" not in path for path in found.coverage["files"])


@pytest.mark.parametrize("source", [b"let = = 3", b"process.exit(3)", b"throw 1"])
def test_a_test_in_javascript_that_cannot_run_has_failed(source: bytes, tally: Problem, runner: Runner) -> None:
    (check,) = own(tally, {**SCRIPT, "tests/main.test.js": source}, runner).checks
    assert (check.name, str(check.status)) == ("tests/main.test.js", "failed")


def test_tests_see_the_packages_that_the_program_sees(tally: Problem, runner: Runner, tmp_path: Path) -> None:
    wheel(tmp_path / "house", "counting")
    files = {
        "main.py": b"import counting\n",
        "requirements.txt": b"counting==1.0\n",
        "tests/test_it.py": b"import counting\nimport main\ndef test_it():\n    assert counting.words('a b') == 2\n",
    }
    allowing = replace(tally, dependencies=("counting",))
    found = own(allowing, files, runner, MarkOptions(wheelhouse=tmp_path / "house"))
    assert [str(check.status) for check in found.checks] == ["passed"], found
    assert list(found.coverage["files"]) == ["main.py"]


def test_no_line_is_exempt_from_coverage_by_a_comment(tally: Problem, runner: Runner) -> None:
    source = b"def used():\n    return 1\ndef unused():  # pragma: no cover\n    return 2\n"
    test = b"import main\ndef test_it():\n    assert main.used() == 1\n"
    found = own(tally, {"main.py": source, "test_main.py": test}, runner)
    assert found.coverage["percent"] == 75.0


def test_the_names_that_a_model_is_told_are_those_that_are_run(tally: Problem) -> None:
    told = re.findall(r"`(tests/\S*…\S*)`", problem_prompt(tally, asks_for_tests=True))
    files = {name.replace("…", "x"): b"" for name in told}
    assert own_test_files(files, "python") == ["tests/test_x.py"]
    assert own_test_files(files, "javascript") == ["tests/x.test.js"]
