"""Make, list, verify and prune backups of the database and of artifacts; `restoring` brings one back.

A backup is a folder of its own with the rows; bodies of artifacts are kept once for all backups of a place. The rows
are those of one moment. An artifact is written before the row that refers to it, so listing the artifacts after that
moment finds all that the rows refer to.
"""

from __future__ import annotations

import secrets
import time
import zlib
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime, timedelta
from hashlib import blake2b

from msgspec import Struct

from proctor.domain.artifacts import Artifacts, key_of, path_of
from proctor.domain.documents.backup import BackupFigures, BackupList, MadeBackup, PrunedBackups, VerifiedBackup
from proctor.domain.errors import NotFoundError, ProctorError, StoreError, UserError
from proctor.stores.backups.manifest import KEYS, MANIFEST, ROWS, Manifest, TableContent, read_manifest, write_manifest
from proctor.stores.backups.places import BackupPlace
from proctor.stores.backups.rows import digests_of, write_rows
from proctor.stores.backups.sealing import BackupKey
from proctor.stores.database import Database
from proctor.stores.upgrade import HEAD
from proctor.version import __version__

ARTIFACTS = "artifacts"
BACKUPS = "backups"
STARTED = "started"
UNFINISHED_HOURS = 24
"""A backup that was begun longer ago and is not finished was killed."""
KEY_CHARACTERS = 40
_GZIP = 31
_PURPOSE = "artifact"


class CopiedArtifacts(Struct, frozen=True):
    keys: frozenset[str]
    bytes: int
    new: int
    new_bytes: int
    gone: int


def utc_now() -> datetime:
    return datetime.now(UTC)


def make_backup(
    database: Database,
    artifacts: Artifacts,
    place: BackupPlace,
    key: BackupKey | None,
    *,
    clock: Callable[[], datetime] = utc_now,
) -> MadeBackup:
    """Copy everything, while others may write; what is interrupted is no backup, and leaves no other one damaged."""
    started, began = clock(), time.monotonic()
    backup_id = f"{started:%Y%m%dT%H%M%SZ}-{secrets.token_hex(3)}"
    folder = f"{BACKUPS}/{backup_id}"
    place.put(f"{folder}/{STARTED}", [])
    tables: list[TableContent] = []
    with database.snapshot() as connection:
        created_at = clock()
        rows = write_rows(connection, tables)
        size = place.put(f"{folder}/{ROWS}", _sealed(key, f"{folder}/{ROWS}", rows))
    copied = _copy_artifacts(artifacts, place, key)
    names = "".join(f"{artifact_name(key, one)}\n" for one in sorted(copied.keys)).encode()
    place.put(f"{folder}/{KEYS}", [zlib.compress(names, wbits=_GZIP)])
    manifest = Manifest(
        id=backup_id,
        created_at=created_at,
        seconds=round(time.monotonic() - began, 3),
        version=__version__,
        schema=HEAD,
        engine=database.dialect.name,
        tables=tables,
        artifacts=len(copied.keys),
        artifact_bytes=copied.bytes,
        artifacts_digest=keys_digest(copied.keys),
        artifacts_gone=copied.gone,
        rows_bytes=size,
        is_encrypted=key is not None,
    )
    place.put(f"{folder}/{MANIFEST}", [write_manifest(manifest, key)])
    place.delete(f"{folder}/{STARTED}")
    return MadeBackup(place.location, figures(manifest), copied.new, copied.new_bytes, copied.gone)


def _copy_artifacts(artifacts: Artifacts, place: BackupPlace, key: BackupKey | None) -> CopiedArtifacts:
    there = set(place.names(f"{ARTIFACTS}/"))
    kept: dict[str, int] = {}
    new = new_bytes = gone = 0
    for artifact in artifacts.keys():  # noqa: SIM118 - not a mapping
        name, size = _path(artifact_name(key, artifact)), artifacts.size(artifact)
        if size is not None and name not in there:
            try:
                new_bytes += place.put(name, _sealed(key, name, artifacts.chunks(artifact)))
                new += 1
            except NotFoundError:
                size = None
        if size is None:
            gone += 1
        else:
            kept[artifact] = size
    lost = {_path(artifact_name(key, one)) for one in kept} - set(place.names(f"{ARTIFACTS}/"))
    if lost:
        raise StoreError(f"{len(lost)} artifacts went from {place.location} meanwhile (a prune?): make another backup.")
    return CopiedArtifacts(frozenset(kept), sum(kept.values()), new, new_bytes, gone)


def list_backups(place: BackupPlace) -> BackupList:
    """Those that are finished, the newest first, as their manifests say; these are believed without the key."""
    finished, unfinished = _found(place)
    return BackupList(place.location, [figures(one) for one in finished], unfinished)


def find_backup(place: BackupPlace, backup_id: str | None, key: BackupKey | None) -> Manifest:
    """The backup with this id, or the newest, its manifest proven; NotFoundError where there is none."""
    ids = _finished_ids(place)
    if not ids:
        raise NotFoundError(f"There is no backup in {place.location}. 'proctor backup PLACE' makes one.")
    if backup_id is not None and backup_id not in ids:
        raise NotFoundError(f"There is no backup {backup_id} in {place.location}. There are: {', '.join(ids[:5])}.")
    # With an id, another backup that is damaged is in nobody's way.
    found = _manifest(place, backup_id or _found(place)[0][0].id, key)
    if key is not None and not found.is_encrypted:
        raise UserError(
            f"The backup {found.id} is not encrypted: unset PROCTOR_BACKUP_KEY and PROCTOR_BACKUP_KEY_FILE."
        )
    return found


def verify_backup(place: BackupPlace, manifest: Manifest, key: BackupKey | None) -> VerifiedBackup:
    """Read everything of a backup, as a restore would; what is damaged is listed, nothing is changed."""
    faults: list[str] = []
    folder = f"{BACKUPS}/{manifest.id}"
    try:
        found = digests_of(opened(key, f"{folder}/{ROWS}", place))
        for table in manifest.tables:
            digest = found.get(table.table)
            if digest is None or (digest.rows, digest.text) != (table.rows, table.digest):
                faults.append(f"the table {table.table} is not what was written")
    except ProctorError as error:
        faults.append(str(error))
    names: list[str] = []
    try:
        names = artifact_names(place, manifest)
    except ProctorError as error:
        faults.append(str(error))
    for name in names:
        try:
            if artifact_name(key, key_of(opened(key, _path(name), place))) != name:
                faults.append(f"the artifact {name} is not what was written")
        except ProctorError as error:
            faults.append(str(error))
    return VerifiedBackup(manifest.id, manifest.rows, manifest.artifacts, faults)


def prune_backups(
    place: BackupPlace, keep_days: float, *, is_dry_run: bool, clock: Callable[[], datetime] = utc_now
) -> PrunedBackups:
    """Remove backups that are older, never the newest; then bodies of artifacts that no backup refers to any more."""
    finished, unfinished = _found(place)
    now = clock()
    old = {one.id for one in finished[1:] if one.created_at < now - timedelta(days=keep_days)}
    killed = {one for one in unfinished if _begun(one) < now - timedelta(hours=UNFINISHED_HOURS)}
    kept = [one for one in finished if one.id not in old]
    if not is_dry_run:
        for backup_id in sorted(old | killed):
            _remove(place, backup_id)
    note, unreferred = None, set[str]()
    if set(unfinished) - killed:
        note = "a backup is being made, which may refer to any of them"
    else:
        referred = {_path(name) for one in kept for name in artifact_names(place, one)}
        unreferred = set(place.names(f"{ARTIFACTS}/")) - referred
        if not is_dry_run:
            for name in sorted(unreferred):
                place.delete(name)
    removed = sorted(old | killed)
    return PrunedBackups(place.location, is_dry_run, [one.id for one in kept], removed, len(unreferred), note)


def artifact_names(place: BackupPlace, manifest: Manifest) -> list[str]:
    """What the bodies of its artifacts are called in the place."""
    name = f"{BACKUPS}/{manifest.id}/{KEYS}"
    try:
        # No more is unpacked than so many names take.
        unpacker = zlib.decompressobj(wbits=_GZIP)
        most = (KEY_CHARACTERS + 1) * manifest.artifacts + 1
        text = unpacker.decompress(b"".join(place.read(name)), most).decode()
    except (zlib.error, UnicodeDecodeError, ValueError, OverflowError):
        raise StoreError(f"{name} is damaged: it cannot be unpacked.") from None
    found = text.split()
    if len(found) != manifest.artifacts:
        raise StoreError(f"{name} is damaged: it names {len(found)} artifacts, not {manifest.artifacts}.")
    return found


def opened(key: BackupKey | None, name: str, place: BackupPlace) -> Iterator[bytes]:
    """A file of a place as it was before it was encrypted."""
    return place.read(name) if key is None else key.open(name, place.read(name))


def opened_artifact(key: BackupKey | None, name: str, place: BackupPlace) -> Iterator[bytes]:
    return opened(key, _path(name), place)


def keys_digest(keys: Iterable[str]) -> str:
    return blake2b("\n".join(sorted(keys)).encode(), digest_size=16).hexdigest()


def figures(manifest: Manifest) -> BackupFigures:
    runs = next((table.rows for table in manifest.tables if table.table == "runs"), 0)
    return BackupFigures(
        id=manifest.id,
        created_at=manifest.created_at,
        seconds=manifest.seconds,
        version=manifest.version,
        schema=manifest.schema,
        engine=manifest.engine,
        runs=runs,
        rows=manifest.rows,
        rows_bytes=manifest.rows_bytes,
        artifacts=manifest.artifacts,
        artifact_bytes=manifest.artifact_bytes,
        is_encrypted=manifest.is_encrypted,
    )


def _found(place: BackupPlace) -> tuple[list[Manifest], list[str]]:
    """The finished ones, the newest first, and the ids of the others."""
    files = _files(place)
    finished = [_unproven(place, one) for one in files if MANIFEST in files[one]]
    unfinished = sorted(one for one in files if MANIFEST not in files[one])
    return sorted(finished, key=lambda one: one.created_at, reverse=True), unfinished


def _finished_ids(place: BackupPlace) -> list[str]:
    """The newest first, as far as their names say."""
    return sorted((one for one, names in _files(place).items() if MANIFEST in names), reverse=True)


def _files(place: BackupPlace) -> dict[str, set[str]]:
    files: dict[str, set[str]] = {}
    for name in place.names(f"{BACKUPS}/"):
        backup_id, _, file = name.removeprefix(f"{BACKUPS}/").partition("/")
        files.setdefault(backup_id, set()).add(file)
    return files


def _manifest(place: BackupPlace, backup_id: str, key: BackupKey | None) -> Manifest:
    name = f"{BACKUPS}/{backup_id}"
    return read_manifest(b"".join(place.read(f"{name}/{MANIFEST}")), name, key)


def _unproven(place: BackupPlace, backup_id: str) -> Manifest:
    name = f"{BACKUPS}/{backup_id}"
    return read_manifest(b"".join(place.read(f"{name}/{MANIFEST}")), name, None, is_proven=False)


def _remove(place: BackupPlace, backup_id: str) -> None:
    """Its manifest first: what is interrupted is no backup any more."""
    names = sorted(place.names(f"{BACKUPS}/{backup_id}/"), key=lambda name: not name.endswith(MANIFEST))
    for name in names:
        place.delete(name)


def _begun(backup_id: str) -> datetime:
    try:
        return datetime.strptime(backup_id.partition("-")[0], "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC)
    except ValueError:
        return utc_now()  # not ours: it is left alone


def _sealed(key: BackupKey | None, name: str, chunks: Iterable[bytes]) -> Iterable[bytes]:
    return chunks if key is None else key.seal(name, chunks)


def artifact_name(key: BackupKey | None, artifact: str) -> str:
    """What a body is called in the place: the hash of its content would tell others what it is."""
    return artifact if key is None else key.keyed_digest(_PURPOSE, artifact.encode())


def _path(name: str) -> str:
    return f"{ARTIFACTS}/{path_of(name)}"
