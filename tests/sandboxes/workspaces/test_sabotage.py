"""Programs that would rather see their workspace fail than be marked: whatever they do to it is their own doing."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from proctor.domain.errors import WorkspaceSpentError
from proctor.domain.workspace import WORK, Workspace
from proctor.sandboxes.inside.agent_files import MAX_TEXT, BlockedError, FolderListing, empty, read, write
from proctor.sandboxes.inside.agent_frames import packed
from proctor.sandboxes.inside.agent_processes import member
from sandboxes.workspaces.conftest import python, within

_NAMES = [b"\x0bPPid:", b"\x0cThreads:x", b"\rVmHWM:-", b"\x1cRssAnon:\x1c", b"\xc2\x85PPid:", b"\nPPid:", b") 1 2 ("]


@pytest.mark.parametrize("name", _NAMES)
def test_no_name_of_a_process_is_taken_for_what_the_kernel_says_of_it(name: bytes) -> None:
    source = f"import ctypes; ctypes.CDLL(None).prctl(15, {name!r}, 0, 0, 0); print(flush=True); input()"
    with subprocess.Popen([sys.executable, "-c", source], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        try:
            found = member(process.pid)
        finally:
            process.communicate(b"\n")
    assert found is not None
    assert (found.parent, found.threads) == (os.getpid(), 1)
    assert found.peak > 1 << 20


@pytest.mark.usefixtures("nothing_left")
@pytest.mark.parametrize("mode", [0, 0o500])
def test_a_folder_that_a_program_has_closed_is_written_listed_and_emptied_all_the_same(name: str, mode: int) -> None:
    source = f"""
import os
open('left', 'w').close(); os.mkdir('sub'); open('sub/x', 'w').close(); os.chmod('sub', {mode})
try: os.chmod('.', {mode})
except OSError: pass  # where the folder is not the program's own
"""

    async def work(workspace: Workspace) -> None:
        for folder in ("/work", "/data"):
            closed = await python(workspace, source, folder=folder)
            assert closed.succeeded, closed.stderr
            await workspace.write({"new": b"y"}, under=folder)
            assert {"left", "new"} <= set(await workspace.list(folder))
            await workspace.empty(folder)
            assert await workspace.list(folder) == {}
            assert (await python(workspace, "open('again', 'w').close()", folder=folder)).succeeded

    within(name, work)


@pytest.mark.usefixtures("nothing_left")
def test_what_a_program_puts_in_the_way_is_its_own_doing_and_no_fault(name: str) -> None:
    async def work(workspace: Workspace) -> None:
        assert (await python(workspace, "import os; os.mkdir('in.txt'); open('sub', 'w').close()")).succeeded
        assert await workspace.read([f"{WORK}/in.txt", f"{WORK}/sub/below.txt"]) == {}
        for path in ("in.txt", "sub/below.txt"):
            with pytest.raises(WorkspaceSpentError, match="in the way"):
                await workspace.write({path: b"x"}, under=WORK)
        await workspace.write({"other.txt": b"x"}, under=WORK)
        await workspace.empty()
        await workspace.write({"in.txt": b"x", "sub/below.txt": b"x"}, under=WORK)

    within(name, work)


def test_what_is_no_file_is_left_out_and_nothing_of_it_stays_open(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to("/etc/passwd")
    before = os.listdir("/proc/self/fd")  # noqa: PTH208  names are compared
    for name in ("folder", "pipe", "link", "none", "folder/none"):
        assert read(str(tmp_path), name, 100) is None
    assert os.listdir("/proc/self/fd") == before  # noqa: PTH208


def test_a_folder_in_the_way_of_a_file_is_somebodys_doing(tmp_path: Path) -> None:
    (tmp_path / "file").mkdir()
    with pytest.raises(BlockedError, match="'file'"):
        write(str(tmp_path), "file", b"x")
    write(str(tmp_path), "plain", b"x")
    with pytest.raises(BlockedError, match="'plain/below'"):
        write(str(tmp_path), "plain/below", b"x")


def test_no_name_that_emptying_may_need_is_in_its_way(tmp_path: Path) -> None:
    """Folders are moved up under names of ours, which anybody can guess."""
    for number in range(200):
        (tmp_path / f".{number}.{os.getpid()}.emptied" / "kept").mkdir(parents=True)
    (tmp_path / "a" / "b").mkdir(parents=True)
    empty(str(tmp_path))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", [b"\xc3\xa9" * 100, b"n" * 250])
def test_a_list_of_very_long_names_is_cut_before_it_is_too_long_to_be_answered(tmp_path: Path, name: bytes) -> None:
    fd = os.open(tmp_path, os.O_RDONLY)
    try:
        for _ in range(60):
            os.mkdir("f" * 250, dir_fd=fd)
            below = os.open("f" * 250, os.O_RDONLY, dir_fd=fd)
            os.close(fd)
            fd = below
        for number in range(1200):
            os.close(os.open(name + b"%d" % number, os.O_WRONLY | os.O_CREAT, dir_fd=fd))
        found = FolderListing(str(tmp_path))
    finally:
        os.close(fd)
        empty(str(tmp_path))
    assert 100 < len(found.sizes) + len(found.left_out) < 1200
    assert len(packed({"sizes": found.sizes, "left_out": found.left_out})) < 2 * MAX_TEXT
