"""Users for slots: one holder each, on the whole machine, given back however the holder ends."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from pathlib import Path

import pytest

from proctor.domain.errors import SandboxError
from proctor.domain.sandbox import Program
from proctor.sandboxes.inside.leases import NoUserLeftError, lease
from proctor.sandboxes.namespaces import create
from sandboxes.conftest import SMALL, made


def test_two_leases_have_no_user_in_common(tmp_path: Path) -> None:
    folders = (str(tmp_path / "users"),)
    (first, one), (second, two) = (lease(100, 4, folders) for _ in range(2))
    assert (first, second) == (100, 102)
    with pytest.raises(NoUserLeftError, match="all 2 slots of users 100 to 103"):
        lease(100, 4, folders)
    os.close(one)
    again, three = lease(100, 4, folders)
    assert again == 100
    os.close(two)
    os.close(three)


def test_a_lease_ends_with_the_process_that_holds_it(tmp_path: Path) -> None:
    folder = str(tmp_path / "users")
    script = (
        "import time\nfrom proctor.sandboxes.inside.leases import lease\n"
        f"print(lease(100, 2, ({folder!r},))[0], flush=True)\ntime.sleep(300)"
    )
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"100\n"
        with pytest.raises(NoUserLeftError):
            lease(100, 2, (folder,))
        holder.kill()
    uid, fd = lease(100, 2, (folder,))
    assert uid == 100
    os.close(fd)


def test_leases_are_kept_only_where_nobody_else_can_write(tmp_path: Path) -> None:
    tmp_path.chmod(0o777)
    with pytest.raises(NoUserLeftError, match="no folder"):
        lease(100, 2, (str(tmp_path),))


@pytest.mark.skipif(os.geteuid() != 0, reason="users are leased by root only")
def test_two_sandboxes_side_by_side_run_as_different_users() -> None:
    """The program sees a user of its own namespace; the host's is in the map of its parents."""
    made("namespaces")

    async def both() -> list[bytes]:
        sandboxes = [create(parallel=1) for _ in range(2)]
        source = "print(open('/proc/self/uid_map').read().split()[1])"
        try:
            await asyncio.gather(*(sandbox.run(Program("print(1)"), SMALL) for sandbox in sandboxes))
            return [done.stdout for done in [await sandbox.run(Program(source), SMALL) for sandbox in sandboxes]]
        finally:
            for sandbox in sandboxes:
                await sandbox.close()

    first, second = asyncio.run(both())
    assert first != second


@pytest.mark.skipif(os.geteuid() != 0, reason="users are leased by root only")
def test_a_range_that_is_used_up_is_a_fault_that_says_so() -> None:
    made("namespaces")

    async def both() -> None:
        users = range(59_000, 59_002)
        one, two = (create(parallel=1, users=users) for _ in range(2))
        try:
            await one.run(Program("print(1)"), SMALL)
            with pytest.raises(SandboxError, match="users 59000 to 59001 are taken"):
                await two.run(Program("print(1)"), SMALL)
        finally:
            await one.close()
            await two.close()

    asyncio.run(both())
