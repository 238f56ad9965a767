"""What a worker group has started ends with it, however it ends."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest

from proctor.worker.parent import GONE
from worker.cluster import Cluster, children, is_running, signal_process, wait_until

PARENT = """
import os, sys, time
from proctor.worker.parent import die_with
parent = os.getpid() + int(sys.argv[1])
child = os.fork()
if child == 0:
    die_with(parent)
    os.write(1, b"tied\\n")
    time.sleep(600)
os.write(1, b"%d\\n" % child)
if parent != os.getpid():
    sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
time.sleep(600)
"""
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the kernel ties processes to their parents on Linux")


def test_a_child_is_killed_with_its_parent() -> None:
    with subprocess.Popen([sys.executable, "-c", PARENT, "0"], stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        said = {parent.stdout.readline().strip() for _ in range(2)}
        assert "tied" in said
        [child] = said - {"tied"}
        parent.kill()
    wait_until(lambda: not is_running(int(child)), "a child without its parent")


def test_a_child_whose_parent_is_gone_already_ends_at_once() -> None:
    ended = subprocess.run([sys.executable, "-c", PARENT, "1"], check=False, capture_output=True, text=True, timeout=60)
    assert ended.returncode == GONE
    assert "tied" not in ended.stdout


@pytest.mark.long
@pytest.mark.timeout(300)
def test_a_group_that_is_killed_leaves_neither_children_nor_beat(cluster: Cluster) -> None:
    [group] = cluster.start(1, "--beat", concurrency=1)
    wait_until(lambda: len(children(group.pid)) == 2, "a child and beat")
    left = children(group.pid)
    group.send_signal(signal.SIGKILL)  # itself alone: nobody tells the others
    group.wait(30)
    cluster.groups.remove(group)
    try:
        wait_until(lambda: not any(is_running(pid) for pid in left), "the end of a killed group's processes", 30)
    finally:
        for pid in left:
            signal_process(pid, signal.SIGKILL)
