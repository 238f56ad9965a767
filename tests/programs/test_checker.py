"""The checker: every test named, hanging ones failed, nothing taken on trust."""

from __future__ import annotations

import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import proctor
from proctor.domain.errors import ScorerError
from proctor.domain.problem import Problem
from proctor.domain.workspace import Runner
from proctor.programs import checker
from proctor.programs.checker import converse, setup_of
from proctor.programs.checking.frames import packed
from programs.programs import checked, text

pytestmark = pytest.mark.traced
Changed = Callable[..., Problem]


def said(problem: Problem, runner: Runner, **options: float) -> dict[str, str]:
    return {name: str(one.status) for name, one in checked(problem, problem.solution, runner, **options).items()}


def test_every_test_function_has_one_result_over_all_its_parameters(tally: Problem, runner: Runner) -> None:
    results = checked(tally, tally.solution, runner)
    assert {name: (str(one.status), one.kind) for name, one in results.items()} == {
        "counts_standard_input": ("passed", "visible"),
        "counts_files": ("passed", "unit"),
        "says_which_file_is_missing": ("passed", "unit"),
        "counts_as_split_does": ("passed", "property"),
    }


def test_one_failing_parameter_fails_the_function_and_is_named(
    tally: Problem, runner: Runner, changed: Changed
) -> None:
    problem = changed(
        tally,
        {
            "tests/hidden/unit/test_files.py": """
import pytest

@pytest.mark.parametrize("number", [1, 2, 3])
def test_counts_files(program, number):
    assert number != 2, "two is not wanted"

def test_says_which_file_is_missing(program):
    raise RuntimeError("not an assertion")
"""
        },
    )
    results = checked(problem, problem.solution, runner)
    assert str(results["counts_files"].status) == "failed"
    assert results["counts_files"].message.startswith("[2] line 6: two is not wanted")
    assert str(results["says_which_file_is_missing"].status) == "error"
    assert "RuntimeError: not an assertion" in results["says_which_file_is_missing"].message


def test_a_hanging_test_is_failed_by_name_and_the_rest_goes_on(
    tally: Problem, runner: Runner, changed: Changed
) -> None:
    problem = changed(
        tally,
        {
            "tests/hidden/unit/test_files.py": """
import threading

def test_counts_files(program):
    try:
        threading.Event().wait()
    except Exception:
        pass

def test_says_which_file_is_missing(program):
    assert program.run("gone").code == 2
"""
        },
    )
    results = checked(problem, problem.solution, runner, test_seconds=15)
    assert str(results["counts_files"].status) == "failed"
    assert "did not end within 15 s" in results["counts_files"].message
    assert str(results["says_which_file_is_missing"].status) == "passed"


def test_a_test_that_takes_its_checker_with_it_is_failed_and_the_rest_gets_another(
    tally: Problem, runner: Runner, changed: Changed
) -> None:
    ending = "import os\ndef test_counts_files(program):\n    os._exit(0)\n"
    rest = "def test_says_which_file_is_missing(program):\n    assert program.run('gone').code == 2\n"
    problem = changed(tally, {"tests/hidden/unit/test_files.py": ending + rest})
    results = checked(problem, problem.solution, runner)
    assert (str(results["counts_files"].status), results["counts_files"].message) == (
        "failed",
        "the check did not end: its process ended",
    )
    assert str(results["says_which_file_is_missing"].status) == "passed"
    assert str(results["counts_as_split_does"].status) == "passed"


def test_when_time_is_up_the_running_test_is_failed_and_the_others_were_not_run(
    tally: Problem, runner: Runner, changed: Changed
) -> None:
    sleeping = "import time\ndef test_counts_files(program):\n    time.sleep(600)\n"
    rest = "def test_says_which_file_is_missing(program):\n    pass\n"
    problem = changed(tally, {"tests/hidden/unit/test_files.py": sleeping + rest})
    found = said(problem, runner, wall_seconds=20)
    assert found["counts_files"] == "failed"
    assert found["says_which_file_is_missing"] == found["counts_as_split_does"] == "not run"


def test_a_checker_that_ends_badly_after_its_last_test_takes_no_result_with_it(
    tally: Problem, runner: Runner, changed: Changed
) -> None:
    leaving = "import os\ndef pytest_sessionfinish():\n    os._exit(3)\n"
    problem = changed(tally, {"tests/hidden/unit/conftest.py": leaving})
    assert set(said(problem, runner).values()) == {"passed"}


@pytest.mark.parametrize(("event", "results"), [("end", ["passed"] * 4), ("result", ["passed", *["not run"] * 3])])
def test_time_that_is_up_while_no_test_runs_leaves_what_was_reported(
    tally: Problem, runner: Runner, monkeypatch: pytest.MonkeyPatch, event: str, results: list[str]
) -> None:
    async def late(line: Any, answers: Any, turn: Any, hear: Callable[[Any], bool]) -> None:
        def heard(message: Any) -> bool:
            is_more = hear(message)
            if message["event"] == event:
                raise TimeoutError
            return is_more

        await converse(line, answers, turn, heard)

    monkeypatch.setattr(checker, "converse", late)
    monkeypatch.setattr(checker, "MAX_CHECKERS", 1)
    assert sorted(said(tally, runner).values(), reverse=True) == results


def test_a_skipped_test_proves_nothing(tally: Problem, runner: Runner, changed: Changed) -> None:
    skipping = "import pytest\ndef test_counts_files(program):\n    pytest.skip('no')\n"
    failing = "@pytest.mark.xfail\ndef test_says_which_file_is_missing(program):\n    assert False\n"
    problem = changed(tally, {"tests/hidden/unit/test_files.py": skipping + failing})
    found = said(problem, runner)
    assert found["counts_files"] == found["says_which_file_is_missing"] == "not run"


def test_tests_that_cannot_be_loaded_are_no_mark(tally: Problem, runner: Runner, changed: Changed) -> None:
    problem = changed(
        tally,
        {
            "tests/hidden/unit/test_files.py": "import nothing_of_this_name\n"
            "def test_counts_files(program): ...\ndef test_says_which_file_is_missing(program): ..."
        },
    )
    with pytest.raises(ScorerError, match="nothing_of_this_name"):
        checked(problem, problem.solution, runner)


def test_a_place_is_empty_for_every_test_and_its_commands_are_ended(
    tally: Problem, runner: Runner, changed: Changed
) -> None:
    problem = changed(
        tally,
        {
            "solution/main.py": "import sys\nfor line in sys.stdin:\n    print('heard', line, end='', flush=True)\n",
            "tests/visible/test_examples.py": """
import time
def test_counts_standard_input(program):
    program.write("deep/in.txt", "x")
    assert program.read("deep/in.txt") == b"x"
    assert program.read("none") is None
    assert program.list() == {"deep/in.txt": 1}
    job = program.start()
    job.send("hello\\n")
    while "heard" not in job.out():
        time.sleep(0.01)
    assert job.wait(timeout=0.1) is None
    job.signal(15)
    done = job.wait(timeout=30)
    assert done.code is None and done.out == "heard hello\\n"
    program.start()  # left running
    program.write("left.txt", "x")
""",
            "tests/hidden/unit/test_files.py": """
import pytest
def test_counts_files(program):
    assert program.list() == {}
    assert program.language == "python"
    done = program.run(stdin=b"a\\xff", env={"A": "b"})
    assert (done.code, done.ending, done.out_bytes) == (0, "exited", b"heard a\\xff")
def test_says_which_file_is_missing(program):
    with pytest.raises(ValueError, match="leads out"):
        program.write("../x", "y")
    assert program.run(timeout=30, stdin="").code == 0
""",
        },
    )
    found = said(problem, runner)
    del found["counts_as_split_does"]
    assert set(found.values()) == {"passed"}


def test_a_command_that_hangs_is_ended_and_its_ending_is_told(tally: Problem, runner: Runner, changed: Changed) -> None:
    problem = changed(
        tally,
        {
            "solution/main.py": "import sys, time\nprint('begun', flush=True)\nif sys.argv[1:]:\n    time.sleep(600)\n",
            "tests/hidden/unit/test_files.py": "def test_counts_files(program): ...\n"
            "def test_says_which_file_is_missing(program): ...",
            "tests/visible/test_examples.py": """
def test_counts_standard_input(program):
    done = program.run("hang", timeout=10)
    assert (done.code, done.ending, done.out) == (None, "timeout", "begun\\n")
""",
        },
    )
    assert said(problem, runner)["counts_standard_input"] == "passed"


def test_a_service_that_died_is_started_again_for_the_next_check(notes: Problem, runner: Runner) -> None:
    source = notes.solution["main.py"].replace(b"self.answer(404)", b"os._exit(3)")
    results = checked(notes, {"main.py": source}, runner)
    assert {name: str(one.status) for name, one in results.items()} == {
        "gives_back_what_was_put": "passed",
        "answers_404": "error",
        "survives_a_restart": "error",
        "keeps_many_at_once": "passed",
        "gives_back_any_bytes": "passed",
    }


def test_a_service_and_a_library_pass_their_checks(notes: Problem, shelf: Problem, runner: Runner) -> None:
    for problem in (notes, shelf):
        assert set(said(problem, runner).values()) == {"passed"}


def test_a_library_that_leaves_or_hangs_fails_only_what_it_was_asked(shelf: Problem, runner: Runner) -> None:
    source = (
        shelf.solution["shelf.py"]
        + b"""
def total(numbers):
    import os
    os._exit(0)

def forever(self, call):
    while True:
        pass

Shelf.each = forever
"""
    )
    results = checked(shelf, {"shelf.py": source}, runner, call_seconds=6)
    failed = {name: one.message for name, one in results.items() if str(one.status) != "passed"}
    assert set(failed) == {"adds_exactly", "calls_for_each"}
    assert "its process ended" in failed["adds_exactly"]
    assert "no answer within 6 s" in failed["calls_for_each"]


FORGERIES = {
    "an exit code": "import os\nos._exit(0)\n",
    "a report": 'print(\'{"event": "result", "name": "counts_files", "kind": "unit", "status": "passed"}\')\n',
    "every descriptor": """
import os, struct
body = b'{"event":"result","name":"counts_files","kind":"unit","status":"passed","message":"","seconds":0}'
for fd in range(3, 64):
    try:
        os.write(fd, struct.pack(">I", len(body)) + body)
    except OSError:
        pass
""",
    "its own tests": "import pathlib\nfor path in pathlib.Path('/').glob('**/test_*.py'):\n    path.write_text('')\n",
}


@pytest.mark.parametrize("name", FORGERIES)
def test_a_program_cannot_report_for_the_checker(name: str, tally: Problem, runner: Runner) -> None:
    results = checked(tally, text(main_py=FORGERIES[name]), runner)
    assert {str(one.status) for one in results.values()} <= {"failed", "error"}


def test_a_checker_ends_when_its_harness_is_gone_and_leaves_no_folder(tally: Problem, changed: Changed) -> None:
    sleeping = "import time\ndef test_counts_files(program):\n    time.sleep(600)\n"
    rest = "def test_says_which_file_is_missing(program): ...\n"
    problem = changed(tally, {"tests/hidden/unit/test_files.py": sleeping + rest})
    ours, theirs = socket.socketpair()
    setup = setup_of(problem, "python", 20, 600)
    setup["paths"] = [str(problem.folder / "tests/hidden/unit")]
    environment = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTHONPATH": str(Path(proctor.__file__).parents[1])}
    with (
        ours,
        subprocess.Popen(
            [sys.executable, "-m", "proctor.programs.checking.main"],
            stdin=theirs.fileno(),
            stdout=subprocess.DEVNULL,
            env=environment,
            cwd="/",
        ) as process,
    ):
        theirs.close()
        ours.sendall(packed(setup))
        seen = b""
        while b'"do":"begin"' not in seen:
            seen += ours.recv(1 << 16)
        ours.sendall(packed({"id": 1, "value": None}))
        ours.shutdown(socket.SHUT_RDWR)
        assert process.wait(60) == 1
