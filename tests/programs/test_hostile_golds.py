"""Programs that pass every check and attack what measures and reads them: they gain nothing and leave nothing."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest
from msgspec.structs import replace

from proctor.domain.problem import Problem
from proctor.domain.scorecard import Scorecard
from proctor.domain.workspace import Runner
from proctor.programs.evidence import evidence_to_json
from proctor.programs.marking import mark
from proctor.programs.marks import scorecard_of
from proctor.programs.options import MarkOptions
from programs.conftest import created_runner
from programs.programs import Kept
from sandboxes.workspaces.conftest import nothing_left

__all__ = ["nothing_left"]
pytestmark = [pytest.mark.usefixtures("nothing_left"), pytest.mark.timeout(600)]
READ = MarkOptions(is_measuring=False)
MEASURED = MarkOptions(is_reading=False, is_running_own_tests=False, rounds=1, most_rounds=3)

UGLY = b"""import os, subprocess
def f(a,b):
    x: int = "no"
    subprocess.call(a, shell=True)
    return eval(b)
"""
CONFIGURATIONS = {
    "pyproject.toml": "[tool.ruff]\nexclude = ['*']\n[tool.black]\nforce-exclude = '.*'\n"
    "[tool.mypy]\nplugins = ['./evil.py']\nignore_errors = true\n[tool.bandit]\nexclude_dirs = ['.']\n",
    "ruff.toml": "exclude = ['*']\n",
    "mypy.ini": "[mypy]\nplugins = ./evil.py\nignore_errors = True\n",
    "setup.cfg": "[mypy]\nplugins = ./evil.py\nignore_errors = True\n[flake8]\nexclude = *\n",
    ".bandit": "[bandit]\nexclude = /\nskips = B101,B602,B307\n",
    ".coveragerc": "[run]\nplugins = evil\nsource = nowhere\n",
}
SHADOWS = ("ruff", "mypy", "bandit", "black", "lizard", "json", "ast", "typing", "sitecustomize", "usercustomize")


def marked(problem: Problem, files: dict[str, bytes], runner: Runner, options: MarkOptions) -> tuple[Scorecard, Kept]:
    kept = Kept()
    evidence = asyncio.run(mark(problem, files, runner, options=options, artifacts=kept))
    return scorecard_of(problem, evidence), kept


def value(card: Scorecard, name: str) -> float | None:
    return next(one.value for one in card.dimensions if one.name == name)


def with_gold(problem: Problem, extra: dict[str, bytes]) -> dict[str, bytes]:
    return {**problem.solution, **extra}


def evil(mark: Path) -> bytes:
    """Leaves a mark on the machine where it is run; as a plugin, too."""
    return f"open({str(mark)!r}, 'a').write('x')\ndef plugin(version): raise SystemExit(0)\n".encode()


def test_settings_that_come_with_a_program_are_not_heeded(tally: Problem, runner: Runner, tmp_path: Path) -> None:
    left = tmp_path / "left"
    plain = with_gold(tally, {"ugly.py": UGLY, "evil.py": evil(left)})
    settings = {path: text.encode() for path, text in CONFIGURATIONS.items()}
    (without, _), (given, _) = (marked(tally, files, runner, READ) for files in (plain, {**plain, **settings}))
    for name in ("quality", "security"):
        assert value(without, name) is not None
        assert value(given, name) == value(without, name)
    assert not left.exists()


def test_a_module_named_like_a_tool_is_never_run_outside(tally: Problem, runner: Runner, tmp_path: Path) -> None:
    left = tmp_path / "left"
    shadows = {f"{name}.py": evil(left) for name in SHADOWS}
    card, _ = marked(tally, with_gold(tally, shadows), runner, READ)
    assert value(card, "security") is not None
    assert value(card, "quality") is not None
    assert not left.exists()


@pytest.fixture(scope="module")
def honest(tally: Problem) -> Scorecard:
    """What the gold solution gets, with nothing beside it."""
    return marked(tally, dict(tally.solution), created_runner(), READ)[0]


@pytest.mark.parametrize(
    "content",
    [
        b"x = " + b"(" * 5_000 + b")" * 5_000,
        b"x = " + b"-" * 200_000 + b"1",
        b"x = 1\0\n",
        b"\xff\xfe\x00x = 1",
        b"x = '" + b"a" * 400_000 + b"'",
        b"def f(:\n",
    ],
    ids=["deep", "signs", "null", "no text", "long", "no Python"],
)
def test_source_that_chokes_a_tool_is_no_better_than_source_it_can_read(
    tally: Problem, runner: Runner, honest: Scorecard, content: bytes
) -> None:
    card, _ = marked(tally, with_gold(tally, {"monster.py": content}), runner, READ)
    assert {phase.name for phase in card.evidence.phases} == {phase.name for phase in honest.evidence.phases}
    assert card.total is not None
    assert honest.total is not None
    assert card.total <= honest.total
    tools = [one for one in card.evidence.findings.values() if isinstance(one, dict)]
    assert all(one.get("reason") for one in tools if one.get("status") == "not run")


@pytest.mark.parametrize(
    "test",
    [
        "import os\ndef test_it():\n    while True: os.fork()\n",
        "import os\ndef test_it():\n    os.kill(-1, 9)\n",
        "def test_it():\n    while True: print('x' * 10**6)\n",
        "import os\nos._exit(0)\n",
    ],
    ids=["forks", "kills", "floods", "leaves"],
)
def test_own_tests_that_attack_gain_nothing(tally: Problem, runner: Runner, test: str) -> None:
    brief = replace(tally, limits={**tally.limits, "seconds": 2.0})
    files = with_gold(brief, {"tests/test_main.py": test.encode()})
    card, _ = marked(brief, files, runner, READ)
    coverage = card.evidence.findings["coverage"]
    assert isinstance(coverage, dict)
    assert coverage.get("percent") == 0.0 or "did not end in order" in str(coverage["reason"])
    assert [one.name for one in card.evidence.checks if one.is_generated and one.status == "passed"] == []
    assert all(one.status == "passed" for one in card.evidence.checks if not one.is_generated)
    assert len(json.dumps(evidence_to_json(card.evidence))) < 1_000_000


FORGED_PROFILE = """
import atexit, os, sys
from pathlib import Path
folder = Path("/app/.profile")
def forge():
    folder.mkdir(exist_ok=True)
    for name in ("python.pstats", "python2.pstats"):
        (folder / name).unlink(missing_ok=True)
        os.symlink("/etc/passwd", folder / name)
atexit.register(forge)
"""


def test_a_forged_profile_brings_nothing_of_the_machine_along(tally: Problem, runner: Runner) -> None:
    source = tally.solution["main.py"].decode()
    head, _, rest = source.partition('"""Counts words."""')
    assert not head
    card, kept = marked(tally, {"main.py": (FORGED_PROFILE + rest).encode()}, runner, MEASURED)
    (phase,) = [one for one in card.evidence.phases if one.name == "profile"]
    assert (phase.status, phase.artifacts) != ("passed", {})
    assert all(b"root:" not in content for content in kept.files.values())
    assert "root:" not in json.dumps(evidence_to_json(card.evidence))


def test_a_program_that_does_its_work_and_tries_to_write_outside_is_told_on(tally: Problem, runner: Runner) -> None:
    """It passes: what it tried failed. Its security does not."""
    tries = b"""import contextlib
from pathlib import Path
for path in ("/etc/passwd", "../../usr/local/bin/evil", "/tmp/allowed"):
    with contextlib.suppress(OSError):
        Path(path).open("a").close()
"""
    files = {**tally.solution, "main.py": tries + tally.solution["main.py"]}
    card, kept = marked(tally, files, runner, READ)
    assert card.passed, card.reason
    workspace = card.evidence.findings["place"]
    assert isinstance(workspace, dict)
    assert set(workspace["writes"]) == {"/etc/passwd", "/usr/local/bin/evil"}
    assert all(count >= 1 for count in workspace["writes"].values())
    security = next(one for one in card.dimensions if one.name == "security")
    assert security.details["taken"]["place"] == pytest.approx(0.4)
    assert kept.files
