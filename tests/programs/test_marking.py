"""From files to a scorecard: every phase real, nothing by default."""

from __future__ import annotations

import asyncio
import io
import json
import zipfile
from collections.abc import Callable

import pytest
from msgspec.structs import replace

from proctor.domain.errors import SandboxError, ScorerError
from proctor.domain.problem import Problem
from proctor.domain.scorecard import PHASES
from proctor.domain.submission import MAX_BYTES, MAX_DEPTH, MAX_FILES, Collected
from proctor.domain.workspace import Runner, WorkspaceLimits
from proctor.programs import load_tools
from proctor.programs.evidence import evidence_from_json, evidence_to_json
from proctor.programs.marking import mark
from proctor.programs.marks import scorecard_of
from proctor.programs.options import MarkOptions
from programs.programs import (
    CHECKED,
    QUICK,
    Kept,
    as_on_a_calm_machine,
    evidence,
    marked,
    phase,
    statuses,
    text,
)

pytestmark = pytest.mark.long  # with the other loads, one after the other on one worker
needs_load = pytest.mark.skipif(load_tools.chosen() is None, reason="neither wrk nor Locust is on this machine")


def test_the_gold_solution_of_a_command_gets_full_marks(tally: Problem, runner: Runner) -> None:
    kept = Kept()
    card = marked(tally, tally.solution, runner, MarkOptions(rounds=1, most_rounds=3), kept)
    assert card.passed, card
    assert card.total is not None
    assert card.total >= 0.95 * card.covers
    assert card.covers == 1 or "too busy" in phase(card, "load").log
    assert card.grade == "gold" or "too busy" in phase(card, "load").log
    assert tuple(one.name for one in card.evidence.phases) == PHASES
    assert {str(one.status) for one in card.evidence.phases} == {"done"}
    assert all(one.started_at > 1e9 and one.seconds >= 0 for one in card.evidence.phases)
    assert statuses(card) == {"R1": "verified", "R2": "verified", "R3": "verified", "R4": "untested"}
    assert {"cpu_seconds", "peak_memory_mib"} <= set(card.evidence.measures)
    assert "work_seconds" in card.evidence.measures or "too busy" in phase(card, "load").log
    assert set(card.evidence.gold_measures) == set(card.evidence.measures)
    assert "main.py" in kept.files["profile.txt"].decode()
    assert set(phase(card, "profile").artifacts) == {"profile.pstats", "profile.txt"}
    with zipfile.ZipFile(io.BytesIO(kept.files["program.zip"])) as made:
        assert {name: made.read(name) for name in made.namelist()} == dict(tally.solution)
    own = [check for check in card.evidence.checks if check.is_generated]
    assert [(check.name, str(check.status)) for check in own] == [("tests/test_main.py::test_one_file", "passed")]
    assert card.evidence.findings["coverage"]["percent"] > 0
    assert card.evidence.findings["place"]["writes"] == {}


@needs_load
def test_the_gold_solution_of_a_service_gets_full_marks(notes: Problem, runner: Runner) -> None:
    twice = replace(notes, load={**(notes.load or {}), "seconds": 2.0})  # a round takes a second at least
    card = marked(twice, notes.solution, runner, MarkOptions(rounds=2, most_rounds=6), Kept())
    assert card.passed, card
    assert card.grade == "gold" or "too busy" in phase(card, "load").log, card.dimensions
    measured = as_on_a_calm_machine(notes, card).evidence.measures
    assert {"throughput_rps", "p50_ms", "p95_ms", "p99_ms", "error_rate", "start_seconds"} <= set(measured)
    assert measured["throughput_rps"] > 0
    assert measured["error_rate"] == 0
    assert phase(card, "load").evidence["tool"].split()[0] in ("wrk", "locust")
    assert len(phase(card, "load").evidence["gold_rounds"]) >= 2
    assert "do_GET" in phase(card, "profile").log


def test_the_gold_solution_of_a_library_gets_full_marks(shelf: Problem, runner: Runner) -> None:
    card = marked(shelf, shelf.solution, runner, MarkOptions(rounds=1, most_rounds=3), Kept())
    assert card.passed, card
    assert card.grade == "gold" or "too busy" in phase(card, "load").log, card.dimensions
    assert "total" in phase(card, "profile").log


JAVASCRIPT = """
const fs = require("fs");
const count = (text) => console.log(text.split(/\\s+/).filter(Boolean).length);
const paths = process.argv.slice(2);
if (!paths.length) count(fs.readFileSync(0, "utf8"));
for (const path of paths) {
  try {
    count(fs.readFileSync(path, "utf8"));
  } catch {
    console.error("cannot read " + path);
    process.exit(2);
  }
}
"""


def test_a_program_in_javascript_is_marked_by_what_serves(tally: Problem, runner: Runner) -> None:
    kept = Kept()
    card = marked(tally, text(main_js=JAVASCRIPT), runner, replace(MarkOptions(), rounds=1, most_rounds=3), kept)
    assert statuses(card)["R1"] == statuses(card)["R2"] == "verified"
    assert phase(card, "build").evidence["language"] == "javascript"
    assert json.loads(kept.files["profile.cpuprofile"])["nodes"]
    findings = card.evidence.findings
    assert findings["oxlint"]["status"] == findings["complexity"]["status"] == "ran"
    assert findings["mypy"]["status"] == findings["bandit"]["status"] == "not applicable"
    quality = next(one for one in card.dimensions if one.name == "quality")
    assert set(quality.details) == {"oxlint", "oxfmt", "complexity", "duplication"}


def test_a_mutant_fails_exactly_what_it_breaks(tally: Problem, runner: Runner) -> None:
    (mutant,) = tally.mutants
    card = marked(tally, mutant.files, runner)
    assert {name for name, status in statuses(card).items() if status == "failed"} == set(mutant.breaks)
    assert not card.passed
    assert card.reason == "not every MUST requirement is verified: R1, R2"


def test_a_slowed_gold_scores_lower(tally: Problem, runner: Runner) -> None:
    slow = tally.solution["main.py"].replace(
        b"    if not paths:", b"    import time\n    time.sleep(1.5)\n    if not paths:"
    )
    card = as_on_a_calm_machine(tally, marked(tally, {"main.py": slow}, runner, CHECKED))
    performance = next(one for one in card.dimensions if one.name == "performance")
    assert statuses(card)["R2"] == "verified"
    assert card.evidence.measures["work_seconds"] >= 4.5, "it runs three times"
    assert performance.value is not None
    assert performance.value < 1


DO_NOTHING = {
    "nothing at all": {},
    "an empty file": text(main_py=""),
    "a neat shell": text(main_py='"""Counts words."""\n\n\ndef main() -> None:\n    """Count."""\n'),
    "another name": text(program_py="print(3)"),
    "a program that ends at once": text(main_py="import os\nos._exit(0)\n"),
}


@pytest.mark.parametrize("name", DO_NOTHING)
def test_doing_nothing_gets_nothing_and_fails(name: str, tally: Problem, runner: Runner) -> None:
    card = marked(tally, DO_NOTHING[name], runner, MarkOptions())
    assert (card.total, card.passed, card.grade) == (0.0, False, None)
    assert {one.name for one in card.dimensions if one.value is not None} == {"functional", "tests"}


def test_what_does_not_build_is_not_run(tally: Problem, runner: Runner) -> None:
    card = marked(tally, {"main.py": b"import helper", "helper.py": b"def broken(:\n"}, runner, MarkOptions())
    assert str(phase(card, "build").status) == "failed"
    assert "helper.py: line 1" in phase(card, "build").log
    assert {str(check.status) for check in card.evidence.checks} == {"not run"}
    assert str(phase(card, "functional").status) == "not measured"
    assert phase(card, "load").log == "the phase 'build' failed"
    assert str(phase(card, "clean up").status) == "done"
    assert (card.total, statuses(card)["R1"]) == (0.0, "failed")
    card = marked(tally, text(main_js="let = = 3"), runner)
    assert "main.js is not JavaScript" in phase(card, "build").log


ELSEWHERE = """
import os
from http.server import BaseHTTPRequestHandler, HTTPServer
HTTPServer(("127.0.0.1", int(os.environ["PORT"]) % 60000 + 1025), BaseHTTPRequestHandler).serve_forever()
"""


@pytest.mark.parametrize(
    ("source", "seconds", "words"),
    [
        ("raise SystemExit('no port for me')", 60.0, "no port for me"),
        ("import time\ntime.sleep(600)", 1.0, "no answer to GET /health within 1 s"),
        (ELSEWHERE, 1.0, "no answer to GET /health within 1 s"),
    ],
)
def test_what_does_not_start_is_not_run(
    source: str, seconds: float, words: str, notes: Problem, runner: Runner
) -> None:
    impatient = replace(notes, interface=replace(notes.interface, ready_seconds=seconds))
    card = marked(impatient, text(main_py=source), runner)
    assert str(phase(card, "readiness").status) == "failed"
    assert words in phase(card, "readiness").log
    assert {str(check.status) for check in card.evidence.checks} == {"not run"}
    assert (card.total, card.passed) == (0.0, False)


def test_a_program_is_refused_before_it_reaches_a_place(tally: Problem, runner: Runner) -> None:
    for files, words in (
        ({"main.py": b"\x00\x01"}, "binary"),
        ({"main.py": b"\xff\xfe"}, "not UTF-8"),
        ({"main.py": b"", "../x": b""}, "leads out"),
        ({f"{number}.py": b"" for number in range(MAX_FILES + 1)}, "files"),
    ):
        card = marked(tally, files, runner)
        assert words in phase(card, "validate").log
        assert str(phase(card, "build").status) == "not measured"


def test_a_program_at_the_limits_of_an_answer_is_marked(tally: Problem, runner: Runner) -> None:
    deep = "/".join(["folder"] * MAX_DEPTH)
    files = {**tally.solution, f"{deep}/data.txt": b"", "Notes.txt": b"", "notes.txt": b"", "one\\name.txt": b""}
    files["table.py"] = b'TABLE = "' + b"x" * 300_000 + b'"\n'
    files["filling.bin"] = bytes(MAX_BYTES - 100_000 - sum(map(len, files.values())))
    files |= {f"data/{number}.txt": b"" for number in range(MAX_FILES - len(files))}
    submission = Collected()
    assert all(submission.take(path, content) for path, content in files.items() if "\\" not in path)
    assert len(files) == MAX_FILES
    card = marked(tally, files, runner)
    assert {str(check.status) for check in card.evidence.checks} == {"passed"}, card.reason


@needs_load
def test_a_service_that_fails_under_load_gets_nothing_for_it(notes: Problem, runner: Runner) -> None:
    dying = notes.solution["main.py"].replace(
        b"        if self.path ==",
        b'        if self.path == "/notes/loaded":\n            os._exit(1)\n        if self.path ==',
    )
    card = marked(notes, {"main.py": dying}, runner, CHECKED)
    performance = next(one for one in card.dimensions if one.name == "performance")
    assert str(phase(card, "load").status) == "failed"
    assert performance.value == 0.0


def test_marks_follow_from_stored_evidence(tally: Problem, runner: Runner) -> None:
    taken = evidence(tally, tally.solution, runner, CHECKED)
    stored = json.loads(json.dumps(evidence_to_json(taken)))
    assert scorecard_of(tally, evidence_from_json(stored)) == replace(
        scorecard_of(tally, taken), evidence=evidence_from_json(stored)
    )


def test_what_was_not_asked_for_is_not_measured(tally: Problem, runner: Runner) -> None:
    card = marked(tally, tally.solution, runner, QUICK)
    assert (card.covers, card.total, card.grade) == (0.6, 0.6, None)
    assert not card.passed  # 0.7 is needed, and nothing makes up for what was not measured
    assert {one.name: one.value for one in card.dimensions if one.value is None} == {
        "performance": None,
        "quality": None,
        "security": None,
    }


class Broken:
    """A runner that has no workspace to give."""

    name = "broken"
    is_isolated = True

    async def open(self, limits: WorkspaceLimits) -> None:
        raise SandboxError("there is no room")


def test_a_fault_of_the_sandbox_is_no_mark(tally: Problem) -> None:
    with pytest.raises(SandboxError, match="no room"):
        asyncio.run(mark(tally, tally.solution, Broken()))  # type: ignore[arg-type]


def test_a_gold_solution_that_fails_under_load_is_no_mark(
    tally: Problem, runner: Runner, changed: Callable[..., Problem]
) -> None:
    problem = changed(tally, {"tests/load/work.py": "def work(program):\n    assert program.language == 'cobol'\n"})
    with pytest.raises(ScorerError, match="gold solution"):
        evidence(problem, problem.solution, runner, CHECKED)


def test_a_program_that_uses_up_its_place_fails_by_itself(tally: Problem, runner: Runner) -> None:
    endless = b"    file = open('/tmp/x', 'wb')\n    while True:\n        file.write(bytes(1 << 20))\n"
    filling = tally.solution["main.py"].replace(b"    if not paths:", endless + b"    if not paths:")
    card = marked(tally, {"main.py": filling}, runner)
    assert (card.total, card.passed) == (0.0, False)
