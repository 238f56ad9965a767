"""Bring a backup back, into an empty database and an empty store of artifacts, and prove that it is the same."""

from __future__ import annotations

import time

from proctor.domain.artifacts import Artifacts
from proctor.domain.documents.backup import RestoredBackup
from proctor.domain.errors import StoreError, UserError
from proctor.runs.storage.backups import (
    BACKUPS,
    artifact_name,
    artifact_names,
    figures,
    find_backup,
    keys_digest,
    opened,
    opened_artifact,
)
from proctor.stores.backups.manifest import ROWS, Manifest
from proctor.stores.backups.places import BackupPlace
from proctor.stores.backups.rows import insert_rows, stored_digests
from proctor.stores.backups.sealing import BackupKey
from proctor.stores.copying import count_rows
from proctor.stores.database import Database
from proctor.stores.schema import metadata
from proctor.stores.upgrade import HEAD

FIRST = "0001"


def restore_backup(
    database: Database,
    artifacts: Artifacts,
    place: BackupPlace,
    key: BackupKey | None,
    backup_id: str | None = None,
) -> RestoredBackup:
    """Restore the newest backup, or the one with this id; `database` is located, not opened.

    Whatever is interrupted can be started again: artifacts that are there already are the same ones, and the rows are
    written in one transaction.
    """
    began = time.monotonic()
    manifest = find_backup(place, backup_id, key)
    _refuse_newer(manifest)
    _refuse_rows(database, manifest)
    _restore_artifacts(artifacts, place, manifest, key)
    if database.version() is None:
        database.migrate(manifest.schema)
    insert_rows(database, manifest.tables, opened(key, f"{BACKUPS}/{manifest.id}/{ROWS}", place))
    _compare(database, manifest)
    if manifest.schema != HEAD:
        database.migrate("head")
    seconds = round(time.monotonic() - began, 3)
    return RestoredBackup(place.location, figures(manifest), database.label, artifacts.location, seconds)


def _refuse_newer(manifest: Manifest) -> None:
    unknown = [table.table for table in manifest.tables if table.table not in metadata.tables]
    if manifest.schema < FIRST or (unknown and manifest.schema <= HEAD):
        what = f"the schema {manifest.schema}" if manifest.schema < FIRST else f"a table {unknown[0]}"
        raise StoreError(f"The backup {manifest.id} is damaged: there never was {what}.")
    if manifest.schema > HEAD:
        raise UserError(
            f"The backup {manifest.id} was made by a newer version of Proctor (schema {manifest.schema}, this one "
            f"knows {HEAD}): restore it with {manifest.version} or a later one."
        )


def _refuse_rows(database: Database, manifest: Manifest) -> None:
    """Only an empty place is restored to: what is there would be mixed with what was."""
    with database.explained():
        version = database.version()
    if version is None:
        return
    if version != manifest.schema:
        raise UserError(
            f"{database.label} has tables of schema {version}, and the backup is of schema {manifest.schema}: restore "
            "to a database without tables (another file, or a new database of the server)."
        )
    filled = {table: rows for table, rows in count_rows(database).items() if rows}
    if filled:
        what = ", ".join(f"{rows:,} in {table}" for table, rows in list(filled.items())[:3])
        raise UserError(
            f"{database.label} is not empty ({what}). Restore into an empty one: name another in PROCTOR_HOME or "
            "PROCTOR_DATABASE_URL."
        )


def _restore_artifacts(artifacts: Artifacts, place: BackupPlace, manifest: Manifest, key: BackupKey | None) -> None:
    names = artifact_names(place, manifest)
    strangers = {artifact_name(key, one) for one in artifacts.keys()} - set(names)  # noqa: SIM118 - not a mapping
    if strangers:
        raise UserError(
            f"{artifacts.location} has {len(strangers):,} artifacts that the backup has not. Restore into an empty "
            "store: name another in PROCTOR_ARTIFACTS_URL."
        )
    for name in names:
        artifacts.put("restored", opened_artifact(key, name, place))
    if (waiting := artifacts.delayed()) is not None:
        raise StoreError(waiting)
    if keys_digest(artifacts.keys()) != manifest.artifacts_digest:
        raise StoreError(f"The artifacts in {artifacts.location} are not those of the backup {manifest.id}.")


def _compare(database: Database, manifest: Manifest) -> None:
    found = stored_digests(database, manifest.tables)
    for table in manifest.tables:
        digest = found[table.table]
        if (digest.rows, digest.text) != (table.rows, table.digest):
            raise StoreError(
                f"The table {table.table} is not what was backed up ({digest.rows:,} and {table.rows:,} rows): do not "
                f"use {database.label}. 'proctor backup verify' says whether the backup is damaged."
            )
