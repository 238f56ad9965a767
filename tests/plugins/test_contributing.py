"""The worked example of CONTRIBUTING is performed: each feature is the file and the line that the page shows."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from docs.markdown import ROOT, blocks
from docs.playing import play
from docs.terminal import masked

PAGE = ROOT / "CONTRIBUTING.md"
ROW = re.compile(r"^\| a (\w+) \| `(\S+)` \| `(.+?)` \| `(.+?)` in `(\S+)` \|$", re.MULTILINE)
NEEDED = "the files and lines above"


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a copy of the source, with the lines of the table, from which `proctor` is run."""
    work = tmp_path / "work"
    shutil.copytree(ROOT / "src", work / "src", ignore=shutil.ignore_patterns("__pycache__", "problems"))
    shutil.copytree(ROOT / "src/proctor/benchmarks/problems", work / "src/proctor/benchmarks/problems")
    for _, _, line, head, name in ROW.findall(PAGE.read_text(encoding="utf-8")):
        listed = (work / name).read_text(encoding="utf-8")
        assert listed.count(f"{head}\n") == 1, f"{name} has no one place for {line}"
        (work / name).write_text(listed.replace(f"{head}\n", f"{head}\n{line}\n"), encoding="utf-8")
    monkeypatch.setenv("PYTHONPATH", str(work / "src"))
    return work


def test_a_provider_a_scorer_a_benchmark_and_a_command_are_a_file_and_a_line_each(work: Path) -> None:
    text = PAGE.read_text(encoding="utf-8")
    rows = ROW.findall(text)
    assert [row[0] for row in rows] == ["provider", "scorer", "benchmark", "command"]
    shown = [block.marks["file"] for block in blocks(text) if "file" in block.marks]
    assert shown == [row[1] for row in rows]
    assert not [name for name in shown if (ROOT / name).exists()], "it is really there: choose another example"
    [played] = [one for one in play(text, work.parent, frozenset({NEEDED})) if one.block.marks.get("needs") == NEEDED]
    assert masked("\n".join(played.shown)) == masked("\n".join(played.happened))
    files = [str(work / name) for name in shown]
    for check in (["check"], ["format", "--check"]):
        command = [sys.executable, "-m", "ruff", *check, "--config", str(ROOT / "pyproject.toml"), *files]
        done = subprocess.run(command, check=False, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout
