"""The page about the architecture is true: its folders, its names, and the order in which a run calls them."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from functools import reduce
from importlib import import_module
from pathlib import Path

import pytest

from docs.markdown import ROOT

SOURCE = ROOT / "src" / "proctor"
PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
FOLDERS = re.findall(r"^\| (\d+|–) \| `(\w+)` \|", PAGE, re.MULTILINE)
NAMES = re.findall(r"`([a-z_]+(?:\.[a-z_]+)*:[\w.]+)`", PAGE.replace("python/answers:answer", ""))
STEPS = re.findall(r"^\d+\. `([\w.]+:[\w.]+)`", PAGE, re.MULTILINE)
MODULES = re.findall(r"`([a-z_]+(?:\.[a-z_]+)+)`", PAGE)
TRACED = """
import sys, threading
called = {}
def note(frame, event, argument):
    module = frame.f_globals.get("__name__", "")
    if event == "call" and module.startswith("proctor."):
        called.setdefault(f"{module.removeprefix('proctor.')}:{frame.f_code.co_qualname}")
threading.setprofile(note)
sys.setprofile(note)
sys.argv = ["proctor", "run", "arithmetic", "-m", "python/answers:answer", "--limit", "1"]
from proctor.cli.main import main
try:
    main()
finally:
    sys.setprofile(None)
    open("called", "w").write("\\n".join(called))
"""


def layers() -> list[set[str]]:
    """The folders of each layer, as import-linter is told."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contract = next(one for one in project["tool"]["importlinter"]["contracts"] if one["type"] == "layers")
    return [{name.strip().removeprefix("proctor.") for name in layer.split("|")} for layer in contract["layers"]]


def test_the_table_lists_every_folder_and_no_other() -> None:
    folders = {path.parent.name for path in SOURCE.glob("*/__init__.py")}
    assert {name for _, name in FOLDERS} == folders | {"plugins"}
    assert len(FOLDERS) == len(folders) + 1


def test_the_table_has_the_layers_that_imports_are_checked_by() -> None:
    numbered = [(number, name) for number, name in FOLDERS if number != "–"]
    assert [int(number) for number, _ in numbered] == sorted(int(number) for number, _ in numbered)
    found = [{name for number, name in numbered if int(number) == layer} for layer in range(1, len(layers()) + 1)]
    assert found == layers()


def test_the_table_of_rooms_lists_every_room_of_runs() -> None:
    rooms = re.findall(r"^\| `runs\.(\w+)` \|", PAGE, re.MULTILINE)
    assert sorted(rooms) == sorted(path.parent.name for path in (SOURCE / "runs").glob("*/__init__.py"))


def test_contributing_draws_the_same_layers() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    [drawn] = re.findall(r"^`(cli .*? domain)`", text, re.MULTILINE | re.DOTALL)
    assert [{name.strip() for name in layer.split("|")} for layer in drawn.split(">")] == layers()


@pytest.mark.parametrize("name", sorted(set(NAMES)))
def test_every_name_on_the_page_exists(name: str) -> None:
    module, _, path = name.partition(":")
    assert callable(reduce(getattr, path.split("."), import_module(f"proctor.{module}"))) or path == "Event"


@pytest.mark.parametrize("module", sorted(set(MODULES)))
def test_every_module_on_the_page_exists(module: str) -> None:
    import_module(f"proctor.{module}")


def test_a_run_calls_the_functions_of_the_list_in_their_order(home: Path) -> None:
    Path("answers.py").write_text("def answer(text): return '42'\n")
    done = subprocess.run([sys.executable, "-c", TRACED], capture_output=True, text=True, check=False)
    called = Path("called").read_text().split("\n")
    assert done.returncode == 0, done.stderr
    assert home.exists()
    assert [name for name in called if name in STEPS] == STEPS
    assert len(STEPS) > 30
