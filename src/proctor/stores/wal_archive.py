"""How far PostgreSQL has archived its log, which bounds what is lost with its machine."""

from __future__ import annotations

import re

from msgspec import Struct

from proctor.stores.connection import POSTGRESQL
from proctor.stores.database import Database

_FILE = re.compile(r"[0-9A-F]{24}")
_QUERY = """
SELECT pg_walfile_name(pg_current_wal_lsn()), last_archived_wal,
       extract(epoch FROM coalesce(last_archived_time, stats_reset, pg_postmaster_start_time())),
       coalesce(last_failed_time > coalesce(last_archived_time, '-infinity'), false),
       (SELECT setting::bigint FROM pg_settings WHERE name = 'wal_segment_size')
FROM pg_stat_archiver
"""


class WalArchive(Struct, frozen=True):
    files_waiting: int
    """Files of the log that are full and not archived; where that cannot be counted, 1 while archiving fails."""
    archived_at: float
    """When the last one was archived, in seconds since 1970; where none was, since when they are counted."""


def read_wal_archive(database: Database) -> WalArchive | None:
    """None where nothing is archived: in SQLite, and in a server that was not told to."""
    if database.dialect is not POSTGRESQL:
        return None
    with database.connection() as connection:
        mode = "SELECT current_setting('archive_mode') != 'off' AND NOT pg_is_in_recovery()"
        if not connection.execute(mode).fetchone()[0]:
            return None
        current, archived, archived_at, is_failing, file_bytes = connection.execute(_QUERY).fetchone()
    if archived is None or not _FILE.fullmatch(archived):  # a file beside the log: of a copy, or of a new timeline
        return WalArchive(int(is_failing), float(archived_at))
    return WalArchive(max(0, _number(current, file_bytes) - _number(archived, file_bytes) - 1), float(archived_at))


def _number(file: str, file_bytes: int) -> int:
    """Of a file in the log, whatever its timeline."""
    return int(file[8:16], 16) * ((1 << 32) // file_bytes) + int(file[16:], 16)
