"""What a backup says of itself; written last, so that one without it is not finished."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime
from typing import Annotated

import msgspec
from msgspec import Meta, Struct

from proctor.domain.errors import StoreError, UserError
from proctor.stores.backups.sealing import BackupKey

FORMAT = 1
MANIFEST = "manifest.json"
ROWS = "database.rows.gz"
KEYS = "artifacts.gz"
_PURPOSE = "manifest"
_NAME = re.compile(r"[a-z][a-z0-9_]*")
_VERSION = re.compile(r"[0-9]{4}")


class TableContent(Struct, frozen=True):
    """A table as the backup has it."""

    table: str
    columns: tuple[str, ...]
    booleans: tuple[str, ...]
    """Columns that are true or false: SQLite keeps them as numbers."""
    rows: int
    digest: str
    """Of every row; their order does not count."""


class Manifest(Struct, frozen=True):
    id: str
    created_at: Annotated[datetime, Meta(tz=True)]
    """Everything that was committed before is in it, and nothing that was committed later."""
    seconds: float
    version: str
    schema: str
    engine: str
    tables: Sequence[TableContent]
    artifacts: int
    artifact_bytes: int
    artifacts_digest: str
    """Of the sorted keys."""
    artifacts_gone: int
    """Deleted while the backup was made."""
    rows_bytes: int
    is_encrypted: bool
    format: int = FORMAT
    proof: str = ""
    """Of an encrypted backup: what only who has the key can have computed from all other fields."""

    @property
    def rows(self) -> int:
        return sum(table.rows for table in self.tables)


def write_manifest(manifest: Manifest, key: BackupKey | None) -> bytes:
    if key is not None:
        proof = key.keyed_digest(_PURPOSE, msgspec.json.encode(manifest))
        manifest = msgspec.structs.replace(manifest, proof=proof)
    return msgspec.json.format(msgspec.json.encode(manifest), indent=1)


def read_manifest(text: bytes, name: str, key: BackupKey | None, *, is_proven: bool = True) -> Manifest:
    """Parse it; StoreError where it is damaged, UserError where a key is missing or is another one.

    Only with `is_proven=False` is an encrypted backup's manifest believed without the key.
    """
    try:
        found = msgspec.json.decode(text, type=Manifest)
    except msgspec.MsgspecError as error:
        raise StoreError(f"{name} is damaged: its {MANIFEST} cannot be read ({error}).") from None
    _refuse_foreign(found, name)
    if found.format != FORMAT:
        raise UserError(f"{name} was made by another version of Proctor (format {found.format}): use that one.")
    if not (found.is_encrypted and is_proven):
        return found
    if key is None:
        raise UserError(f"{name} is encrypted: set PROCTOR_BACKUP_KEY or PROCTOR_BACKUP_KEY_FILE.")
    unproven = msgspec.structs.replace(found, proof="")
    if key.keyed_digest(_PURPOSE, msgspec.json.encode(unproven)) != found.proof:
        raise UserError(f"{name} was encrypted with another key, or its {MANIFEST} was changed.")
    return found


def _refuse_foreign(found: Manifest, name: str) -> None:
    """What it says becomes paths and SQL: whoever can write to the place must not choose either."""
    if found.id != name.rpartition("/")[2]:
        raise StoreError(f"{name} is damaged: its {MANIFEST} is that of another backup.")
    words = [word for table in found.tables for word in (table.table, *table.columns, *table.booleans)]
    if not all(_NAME.fullmatch(word) for word in words) or not _VERSION.fullmatch(found.schema):
        raise StoreError(f"{name} is damaged: its {MANIFEST} names what no database of Proctor has.")
