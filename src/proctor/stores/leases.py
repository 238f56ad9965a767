"""Who executes a run or a chunk, until when, and with which fence: a number that only grows.

Every write of an execution names its fence. A process that was stopped while another took the run over finds a higher
one there: it writes nothing, and ends.
"""

from __future__ import annotations

import asyncio
import os
import secrets
import socket
from collections.abc import Awaitable, Callable
from typing import Protocol

from msgspec import Struct

from proctor.domain.chunk import ChunkState
from proctor.domain.errors import RunError
from proctor.stores.connection import Connection, SqlDialect

LEASE_SECONDS = 30.0
CHUNK_LEASE_SECONDS = 6.0
"""Shorter: a chunk whose worker is gone shall be taken up by another within ten seconds. It is renewed every second."""
LOOKED_AT = 3
"""So many of what waits at a time: another process may lease the first at the same moment."""


class LeaseLostError(RunError):
    """Another process has taken over what this one was executing."""

    def __init__(self, run_id: str, what: str = "Run") -> None:
        super().__init__(f"{what} {run_id} was taken over by another process; this one stopped and wrote nothing more.")


class Hold(Protocol):
    """What every write of an execution names."""

    def check(self, connection: Connection, dialect: SqlDialect) -> None:
        """Within a transaction: it is this process's until the transaction ends, or LeaseLostError."""
        ...


class ChunkLease(Struct, frozen=True):
    """This process's hold on a chunk."""

    chunk_id: int
    fence: int

    def check(self, connection: Connection, dialect: SqlDialect) -> None:
        """Within a transaction: the chunk is this one's until it ends, or LeaseLostError."""
        row = connection.execute(
            f"SELECT fence, state FROM chunks WHERE id = ? {dialect.for_share}",  # noqa: S608 - our own words
            [self.chunk_id],
        ).fetchone()
        if row is None or (row[0], row[1]) != (self.fence, ChunkState.LEASED):
            raise LeaseLostError(str(self.chunk_id), "Chunk")


class Lease(Struct, frozen=True):
    """This process's hold on a run."""

    run_id: str
    fence: int

    def check(self, connection: Connection, dialect: SqlDialect) -> None:
        """Within a transaction: the lease is this one's until it ends, or LeaseLostError."""
        row = connection.execute(
            f"SELECT fence FROM runs WHERE id = ? {dialect.for_share}",  # noqa: S608 - our own words
            [self.run_id],
        ).fetchone()
        if row is None or row[0] != self.fence:
            raise LeaseLostError(self.run_id)


_TOKEN = secrets.token_hex(4)
"""Containers may share a name, and each has a process 1."""


def this_process() -> str:
    return f"{socket.gethostname()}:{os.getpid()}:{_TOKEN}"


def owner_text(owner: str) -> str:
    """The machine and the process, as people know them."""
    return ":".join(owner.split(":")[:2])


def is_alive(owner: str, *, is_current: bool) -> bool:
    """Whether the owner of a lease lives; a process of this machine is asked, one of another is believed meanwhile."""
    host, pid = owner.split(":")[:2]
    if not is_current or host != socket.gethostname():
        return is_current
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return True


async def work_on_first(waiting: Callable[[int], list[str]], work: Callable[[str], Awaitable[bool]]) -> bool:
    """Do the first of what waits that nobody else has; False where nothing is left that was not tried."""
    tried = set[str]()
    while found := [one for one in await asyncio.to_thread(waiting, LOOKED_AT) if one not in tried]:
        for one in found:
            if await work(one):
                return True
        tried.update(found)
    return False
