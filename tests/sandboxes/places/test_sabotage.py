"""Programs that would rather see their place fail than be marked: whatever they do to it is their own doing."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from proctor.sandboxes.inside.keeper_processes import member

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
