"""A session that leaves something outside of its folders fails, and says what."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import leftovers

CONFTEST = """
import sys
from pathlib import Path
sys.path.insert(0, {tests!r})
import leftovers, pytest
WATCH = leftovers.Leftovers(leftovers.folders_below(Path({watched!r})))

@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session):
    leftovers.finish(WATCH, session)
"""


def run(folder: Path, body: str) -> subprocess.CompletedProcess[str]:
    watched = folder / "watched"
    (watched / "deep" / "deeper").mkdir(parents=True)
    tests = str(Path(__file__).parent)
    (folder / "conftest.py").write_text(CONFTEST.format(tests=tests, watched=str(watched)))
    (folder / "test_one.py").write_text(f"def test_one(tmp_path):\n    {body.format(watched=watched)}\n")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-c", "/dev/null", str(folder)]
    return subprocess.run(command, capture_output=True, text=True, cwd=folder, check=False)


def test_files_in_a_tests_own_folder_are_left_to_pytest(tmp_path: Path) -> None:
    assert run(tmp_path, "(tmp_path / 'mine').touch()").returncode == 0


@pytest.mark.parametrize(
    "body",
    [
        "open('{watched}/astray', 'w').close()",
        "open('{watched}/deep/deeper/astray', 'w').close()",
        "import tempfile; tempfile.mkdtemp(prefix='astray')",
        "from pathlib import Path; Path('~/astray').expanduser().touch()",
    ],
    ids=["a watched folder", "a folder deep in it", "the folder of temporary files", "the home"],
)
def test_what_is_left_elsewhere_fails_the_session_by_name(tmp_path: Path, body: str) -> None:
    ended = run(tmp_path, body)
    assert ended.returncode == 1
    assert "1 passed" in ended.stdout
    assert "astray" in ended.stdout


def test_the_roots_of_the_system_and_every_folder_of_the_repository_are_watched() -> None:
    watched = leftovers.watched_folders()
    assert {Path("/"), Path("/etc"), leftovers.REPOSITORY, Path(__file__).parent / "stores" / "data"} <= set(watched)
    assert not [path for path in watched if ".venv" in path.parts or "node_modules" in path.parts]


def test_what_another_program_writes_to_the_users_home_is_none_of_the_sessions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    users = tmp_path / "users"
    users.mkdir()
    monkeypatch.setenv("HOME", str(users))
    ended = run(tmp_path, f"open({str(users / 'written')!r}, 'w').close()")
    assert ended.returncode == 0
    assert (users / "written").exists()
