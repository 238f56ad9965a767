"""A program that works and is ugly and dangerous: no disguise makes its marks better."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping

import pytest

from proctor.domain.problem import Problem
from proctor.domain.scorecard import Scorecard
from proctor.domain.workspace import Runner
from proctor.programs.options import MarkOptions
from programs.conftest import created_runner
from programs.programs import marked

READING = MarkOptions(is_measuring=False, is_running_own_tests=False)
BRANCHES = "".join(f"    if x=={number}:\n        return   {number}\n" for number in range(12))
BAD = f"""
import os, hashlib, subprocess
def hard(x: int) -> str:
{BRANCHES}    return undefined_name + x
def danger(words):
    subprocess.run(words, shell=True); hashlib.md5(b"")
    return eval(words)
"""


def marks(card: Scorecard) -> tuple[float, float]:
    found = {one.name: (one.value or 0.0) * one.weight for one in card.dimensions}
    return round(found["security"], 4), round(found["quality"], 4)


def _starting(module: str) -> str:
    return f'"""Starts it."""\n\nimport sys\n\nfrom {module} import main\n\nsys.exit(main(sys.argv[1:]))\n'


LOADING = """from pathlib import Path
from importlib.machinery import SourceFileLoader

main = SourceFileLoader("impl", str(Path(__file__).with_name("impl.txt"))).load_module().main"""
UNPACKING = """from pathlib import Path

sys.path.insert(0, str(Path(__file__).with_name("impl.dat")))
from impl import main"""


def _by(words: str) -> str:
    return _starting("impl").replace("from impl import main", words)


def _archive(text: str) -> bytes:
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w") as made:
        made.writestr("impl.py", text)
    return whole.getvalue()


def disguised(gold: str) -> dict[str, Mapping[str, str | bytes]]:
    bad = f"{gold}\n{BAD}"
    silenced = "# type: ignore\n# fmt: off\n# ruff: noqa\n" + bad.replace(":\n", ":  # nosec # noqa #lizard forgives\n")
    return {
        "behind many harmless findings": {"main.py": bad, "a.py": "assert 1\n" * 150},
        "among the tests": {"main.py": _starting("tests.impl"), "tests/impl.py": bad},
        "in a file named like a test": {"main.py": _starting("test_x"), "test_x.py": bad},
        "in a folder of packages": {"main.py": _starting("node_modules.x"), "node_modules/x.py": bad},
        "with comments": {"main.py": silenced},
        "in a text": {"main.py": _by(LOADING), "impl.txt": bad},
        "in an archive": {"main.py": _by(UNPACKING), "impl.dat": _archive(bad)},
    }


@pytest.fixture(scope="module")
def gold(tally: Problem) -> str:
    return tally.solution["main.py"].decode()


@pytest.fixture(scope="module")
def plain(gold: str, tally: Problem) -> Scorecard:
    """What the bad program gets as it is."""
    return marked(tally, {"main.py": f"{gold}\n{BAD}".encode()}, created_runner(), READING)


@pytest.mark.parametrize("name", disguised(""))
def test_no_disguise_makes_a_bad_program_better(
    name: str, plain: Scorecard, gold: str, tally: Problem, runner: Runner
) -> None:
    hiding = disguised(gold)[name]
    files = {path: text.encode() if isinstance(text, str) else text for path, text in hiding.items()}
    hidden = marked(tally, files, runner, READING)
    assert {one.id for one in hidden.requirements if str(one.status) == "verified"} >= {"R1", "R2"}, "it works"
    (security, quality), (plain_security, plain_quality) = marks(hidden), marks(plain)
    assert security <= plain_security < 0.02
    assert quality <= plain_quality + 0.03 < 0.12
