# ruff: noqa: PTH103, PTH114, PTH116, PTH118, PTH211
# Plain os calls: what is compared is text, and an empty step or a dot in it matters.
"""How an agent looks at a waiting call: memory that may end anywhere, and paths through any links."""

from __future__ import annotations

import ctypes
import errno
import mmap
import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proctor.sandboxes.inside import seccomp, syscalls
from proctor.sandboxes.inside.agent_memory import UnseenError, memory, path_at, peek
from proctor.sandboxes.inside.agent_notices import Notices
from proctor.sandboxes.inside.agent_paths import is_outside, own_devices, resolved, shown
from proctor.sandboxes.inside.agent_writes import Writes, is_enough
from proctor.sandboxes.inside.kernel import Notice

PAGE = mmap.PAGESIZE
OWN = os.getpid()
LOOKING = Writes()


@pytest.fixture(scope="module")
def last_page() -> Iterator[int]:
    """The address behind two pages of memory, where nothing is mapped."""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.mmap.restype = ctypes.c_void_p
    libc.mmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long)
    at = libc.mmap(None, 3 * PAGE, mmap.PROT_READ | mmap.PROT_WRITE, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, -1, 0)
    assert at not in (None, ctypes.c_void_p(-1).value)
    assert libc.munmap(ctypes.c_void_p(at + 2 * PAGE), PAGE) == 0
    yield at + 2 * PAGE
    assert libc.munmap(ctypes.c_void_p(at), 2 * PAGE) == 0


@settings(max_examples=100)
@given(text=st.binary(max_size=600), is_ended=st.booleans(), left=st.integers(0, 400))
def test_a_path_is_what_stands_before_the_first_zero(last_page: int, text: bytes, *, is_ended: bool, left: int) -> None:
    """Wherever it lies, up to the very end of the memory."""
    written = text + b"\0" * is_ended + b"x" * (left if is_ended else 0)
    ctypes.memmove(last_page - len(written), written, len(written))
    head, end, _ = written.partition(b"\0")
    assert path_at(OWN, last_page - len(written)) == (head if head and end else None)


@pytest.mark.parametrize("length", [1, 255, 256, 257, 4094, 4095, 4096, 5000])
def test_a_path_is_as_long_as_the_kernel_takes_it(last_page: int, length: int) -> None:
    written = b"p" * length + b"\0"
    ctypes.memmove(last_page - len(written), written, len(written))
    assert path_at(OWN, last_page - len(written)) == (b"p" * length if length < 4096 else None)


@given(st.integers(0, 2**64 - 1))
def test_no_address_makes_an_agent_fail(address: int) -> None:
    found = path_at(OWN, address)
    assert found is None or b"\0" not in found
    assert len(peek(OWN, address)) <= 256


def test_a_process_that_is_gone_has_no_memory() -> None:
    ended = subprocess.Popen(["true"])
    ended.wait()
    assert memory(ended.pid, 4096, 10) == peek(ended.pid, 4096) == b""


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody whom another does not let look")
def test_somebody_elses_memory_is_unseen_and_not_empty() -> None:
    source = (
        "import os, sys\n"
        "from proctor.sandboxes.inside.agent_memory import UnseenError, memory\n"
        "os.setgid(65534); os.setuid(65534)\n"
        "try: memory(int(sys.argv[1]), 4096, 10)\n"
        "except UnseenError: print('unseen')"
    )
    done = subprocess.run([sys.executable, "-c", source, str(OWN)], capture_output=True, check=True)
    assert done.stdout == b"unseen\n"


def _is_made_inside(folder: str, path: str) -> bool:
    """Whether making the path makes nothing outside of the folder: folders on the way are made, too."""
    steps = path.split("/")
    ways = ("/".join(steps[:count]) for count in range(folder.count("/") + 1, len(steps) + 1))
    return all(f"{os.path.realpath(way)}/".startswith(f"{folder}/") for way in ways)


_NAMES = st.sampled_from(["a", "b", "c", "..", ".", ""])
_PATHS = st.lists(_NAMES, min_size=1, max_size=6).map("/".join)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(_PATHS, st.sampled_from(["file", "folder"]) | _PATHS, st.booleans()), max_size=6), _PATHS)
def test_paths_lead_where_the_kernel_leads_them(made: list[tuple[str, str, bool]], asked: str) -> None:
    """Through folders, files and links of any kind, relative and not, dangling and round."""
    with tempfile.TemporaryDirectory() as made_folder:
        folder = os.path.realpath(made_folder)
        top = f"{folder}/1/2/3/4"
        os.makedirs(top)
        for path, what, is_absolute in made:
            at = os.path.join(top, path.lstrip("/"))
            if not _is_made_inside(folder, at):
                continue
            try:
                if what == "folder":
                    os.makedirs(at)
                elif what == "file":
                    Path(at).touch()
                else:
                    os.symlink(f"{top}/{what}" if is_absolute else what or ".", at)
            except (OSError, ValueError):
                continue  # made already, or below a file
        full = f"{top}/{asked}"
        found = resolved(OWN, b"/", full.encode(), is_following=True)
        try:
            os.stat(full)
        except OSError as error:
            # A round through something that is missing is "not found" for the kernel, and still leads nowhere.
            if error.errno == errno.ELOOP or os.path.islink(os.path.realpath(full)):
                assert found is None
                return
        assert found == os.path.realpath(full).encode()
        relative = resolved(OWN, top.encode(), (asked.lstrip("/") or ".").encode(), is_following=True)
        assert relative == os.path.realpath(os.path.join(top, asked.lstrip("/"))).encode()


def test_a_link_at_the_end_is_only_followed_where_the_call_follows_it(tmp_path: Path) -> None:
    link = tmp_path.resolve() / "link"
    link.symlink_to("/etc/passwd")
    at = str(link).encode()
    assert resolved(OWN, b"/", at, is_following=True) == b"/etc/passwd"
    assert resolved(OWN, b"/", at) == at
    assert resolved(OWN, b"/", at + b"/") == b"/etc/passwd"


def test_a_descriptors_name_leads_to_what_it_stands_for(tmp_path: Path) -> None:
    path = tmp_path.resolve() / "file"
    with path.open("w") as file:
        named = b"/proc/self/fd/%d" % file.fileno()
        assert resolved(OWN, b"/", named, is_following=True) == str(path).encode()
        path.unlink()
        assert resolved(OWN, b"/", named, is_following=True) == str(path).encode()
    reading, writing = os.pipe()
    try:
        assert resolved(OWN, b"/", b"/dev/fd/%d" % writing, is_following=True) is None
    finally:
        os.close(reading)
        os.close(writing)


def test_what_stands_in_a_name_does_not_make_it_another(tmp_path: Path) -> None:
    """The kernel says of a folder that it is deleted, in the same words that may be a folder's name."""
    (tmp_path / "x (deleted)").mkdir()
    with (tmp_path / "x (deleted)" / "y (deleted)").open("w") as file:
        named = b"/proc/self/fd/%d" % file.fileno()
        assert resolved(OWN, b"/", named, is_following=True) == os.fsencode(os.path.realpath(file.name))


def test_a_path_that_stays_takes_its_base_for_the_root(tmp_path: Path) -> None:
    top = os.fsencode(tmp_path.resolve())
    (tmp_path / "away").symlink_to("/etc")
    (tmp_path / "up").symlink_to("../../../etc")
    for path in (b"/etc/x", b"etc/x", b"../../etc/x", b"away/x", b"up/x", b"away/../../etc/x"):
        assert resolved(OWN, top, path, is_staying=True) == top + b"/etc/x"
    assert resolved(OWN, b"/", b"../etc/x", is_staying=True) == b"/etc/x"


def test_a_path_of_more_steps_than_any_that_is_written_down_is_not_followed_for_ever(tmp_path: Path) -> None:
    """A link may stand for a thousand steps, and forty of them one behind the other."""
    top = tmp_path.resolve()
    (top / "a").mkdir()
    for number in range(4):
        (top / str(number)).symlink_to("a/../" * 800 + str(number + 1))
    (top / "4").mkdir()
    assert resolved(OWN, b"/", os.fsencode(top / "2" / "x")) == os.fsencode(top / "4" / "x")
    with pytest.raises(UnseenError):
        resolved(OWN, b"/", os.fsencode(top / "0" / "x"))
    assert resolved(OWN, b"/", b"/a" * 2047) == b"/a" * 2047


def test_a_name_that_is_too_long_leads_nowhere_and_a_path_that_is_may_lead_anywhere(tmp_path: Path) -> None:
    base = os.fsencode(tmp_path.resolve())
    assert resolved(OWN, base, b"x" * 256, is_following=True) is None
    assert resolved(OWN, base, b"x" * 256 + b"/y", is_following=True) is None
    with pytest.raises(UnseenError):
        resolved(OWN, base, b"/".join([b"x" * 255] * 17), is_following=True)


@pytest.mark.parametrize(
    ("path", "is_it"),
    [
        *((path, False) for path in (b"/app", b"/data/a/b", b"/tmp/x", b"/dev/shm/x", b"/dev/pts/0")),
        (b"/dev/null", False),
        *((path, True) for path in (b"/", b"/etc/x", b"/workshop", b"/tmpx/y", b"/dev/sda", b"/dev", b"/dev/x/null")),
        *((path, True) for path in (b"/proc/1/x", b"/proc/sys/x", b"/proc", b"/proc/99999999/x", b"/sys/x", b"/root")),
        (b"/usr/lib/python3/__pycache__", False),
        (b"/usr/lib/python3/__pycache__/x.pyc", False),
        (b"/usr/lib/python3/__pycache__/a/b", True),
        (b"/usr/lib/x__pycache__/b", True),
    ],
)  # fmt: skip
def test_outside_is_everything_but_the_places_folders_and_what_any_runtime_touches(path: bytes, *, is_it: bool) -> None:
    assert is_outside(path, OWN) is is_it


def test_what_the_system_shows_of_a_process_is_its_own() -> None:
    assert not is_outside(b"/proc/%d/comm" % OWN, OWN)
    assert is_outside(b"/proc/%d/comm" % os.getppid(), OWN)


@given(st.binary(max_size=5000))
def test_a_shown_path_is_short_and_printable(path: bytes) -> None:
    text = shown(path)
    assert len(text) <= 201
    assert text.isprintable()
    assert text.encode("utf-8").decode("utf-8") == text


def test_only_file_systems_that_are_mounted_nowhere_else_are_plainly_inside() -> None:
    mounts = (
        b"1 0 0:10 / / ro - tmpfs tmpfs ro\n"
        b"2 1 0:11 / /app rw,nosuid - tmpfs tmpfs rw\n"
        b"3 1 0:12 / /work rw shared:1 - tmpfs tmpfs rw\n"
        b"4 1 0:12 / /etc/hosts rw - tmpfs tmpfs rw\n"
        b"5 1 0:10 /tmp /tmp rw - tmpfs tmpfs rw\n"
        b"6 1 259:3 / /dev/shm rw - tmpfs tmpfs rw\n"
    )
    assert own_devices(mounts) == {os.makedev(0, 11), os.makedev(259, 3)}
    assert own_devices(b"") == frozenset()


@pytest.mark.parametrize(
    ("release", "scope", "is_it"),
    [
        ("6.18.44-x", b"0\n", True),
        ("5.5.0", b"1\n", True),
        ("5.4.0-150-generic", b"0\n", False),
        ("4.19", b"0\n", False),
        ("6.1", b"2\n", False),
        ("6.1", b"3\n", False),
        ("6.1", b"", False),
        ("unknown", b"0", False),
    ],
)
def test_an_old_kernel_and_a_strict_one_show_nothing(release: str, scope: bytes, *, is_it: bool) -> None:
    assert is_enough(release, scope) is is_it


def test_every_call_the_filter_asks_about_is_one_the_agent_looks_at() -> None:
    """One it did not know it would take for a forbidden one."""
    numbers = syscalls.numbers(syscalls.machine())
    asked = {numbers[name] for name in (*seccomp._CHANGING.split(), *seccomp._OPENING) if name in numbers}
    assert {number for number in numbers.values() if number in LOOKING} == asked


@settings(max_examples=100, deadline=None)
@given(st.sampled_from(sorted(seccomp._CHANGING.split())), st.lists(st.integers(0, 2**64 - 1), min_size=6, max_size=6))
def test_no_arguments_make_an_agent_fail(name: str, arguments: list[int]) -> None:
    numbers = syscalls.numbers(syscalls.machine())
    if name in numbers:
        found = LOOKING.outside(Notice(1, OWN, numbers[name], tuple(arguments)))
        assert all(isinstance(path, str) for path in found)


def test_nobody_is_counted_who_is_gone_before_the_answer() -> None:
    """Its memory can no longer be read, which says nothing about whom it meant."""
    ended = subprocess.Popen(["true"])
    ended.wait()
    notices, counted = Notices(is_seeing_writes=True), Counter[str]()
    reading, writing = os.pipe()  # no listener: no call waits here
    try:
        for name in ("connect", "setuid", "mkdirat"):
            number = syscalls.numbers(syscalls.machine())[name]
            notices.decide(reading, Notice(1, ended.pid, number, (3, 4096, 16, 0, 0, 0)), counted)
    finally:
        os.close(reading)
        os.close(writing)
    assert notices.seen() == {"violations": {}, "egress": {}, "writes": {}}
    assert counted == {}
