"""A project as one file: everything that it has, for another Proctor to take over, and proof that it is the same.

The file is a zip: `manifest.json`, the rows, and each artifact under its key. Whoever made it is not trusted: nothing
is written before all of it was read and compared, and unless the operator says that it is his own, the models of its
runs are called `imported/…`, so that no leaderboard ranks them and nothing of it can be asked again.
"""

from __future__ import annotations

import io
import os
import re
import tempfile
import zipfile
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Annotated, Any, BinaryIO

import msgspec
import orjson
from msgspec import Meta, Struct

from proctor.domain.artifacts import Artifacts, is_key, key_of
from proctor.domain.documents.project import ExportedProject, ImportedProject
from proctor.domain.errors import NotFoundError, RunError, StoreError, UserError
from proctor.domain.plan import BenchmarkSpec, ModelSpec, Plan
from proctor.domain.run import IMPORTED
from proctor.domain.scope import LOCAL, Scope, check_project_name
from proctor.runs.benchmarks.archived import check_archived
from proctor.stores.accounts.audit import AuditStore
from proctor.stores.accounts.users import ProjectStore
from proctor.stores.archived_values import JSON_COLUMNS
from proctor.stores.backups.manifest import TableContent
from proctor.stores.backups.rows import read_rows
from proctor.stores.backups.sealed_file import SealedReader, SealedWriter, is_sealed
from proctor.stores.backups.sealing import PIECE_BYTES, BackupKey
from proctor.stores.copying import continue_numbers
from proctor.stores.database import Database
from proctor.stores.project_content import (
    ARTIFACT_COLUMNS,
    ProjectWriter,
    TravellingRows,
    check_rows,
    compare_written,
    contents,
    write_project,
)
from proctor.stores.runs import RunStore
from proctor.stores.upgrade import HEAD
from proctor.version import __version__

FORMAT = 1
MANIFEST, ROWS, ARTIFACTS = "manifest.json", "rows.gz", "artifacts/"
MAX_MANIFEST_BYTES = 1 << 20
CHUNK_BYTES = 1 << 20
PURPOSE = "project archive"
"""What the pieces of an encrypted one are bound to: the file may be renamed, and is no part of a backup."""
_KEY = re.compile(r"(?<![0-9a-f])[0-9a-f]{40}(?![0-9a-f])")


class ProjectManifest(Struct, frozen=True):
    project: str
    created_at: Annotated[datetime, Meta(tz=True)]
    version: str
    schema: str
    tables: tuple[TableContent, ...]
    artifacts: int
    artifact_bytes: int
    format: int = FORMAT


def export_project(
    database: Database, artifacts: Artifacts, name: str, file: Path, *, by: str, key: BackupKey | None = None
) -> ExportedProject:
    """Write it to a new file, which is there whole or not at all; RunError while one of its runs is not ended.

    With a key it is encrypted.
    """
    if name != LOCAL:
        ProjectStore(database).require(name)
    if file.exists():
        raise UserError(f"{file} is there already. Name a new file.")
    if not file.absolute().parent.is_dir():
        raise UserError(f"There is no folder {file.absolute().parent}.")
    _refuse_open_runs(database, name)
    try:
        manifest = _write_file(database, artifacts, name, file, key)
    except OSError as error:  # stores explain theirs
        raise UserError(f"{file} cannot be written: {error.strerror or error}.") from None
    AuditStore(database).add(by, "export-project", of=name, project=name)
    counts = {one.table: one.rows for one in manifest.tables if one.rows}
    return ExportedProject(
        name, str(file), file.stat().st_size, counts, manifest.artifacts, manifest.artifact_bytes, key is not None
    )


def _write_file(
    database: Database, artifacts: Artifacts, name: str, file: Path, key: BackupKey | None
) -> ProjectManifest:
    descriptor, unfinished = tempfile.mkstemp(prefix=".export-", dir=file.absolute().parent)
    try:
        with (
            os.fdopen(descriptor, "wb") as opened,
            _sealing(opened, key) as stream,
            zipfile.ZipFile(stream, "w", allowZip64=True) as archive,
        ):
            manifest = _write(archive, database, artifacts, name)
        Path(unfinished).rename(file)
    finally:
        Path(unfinished).unlink(missing_ok=True)
    return manifest


@contextmanager
def _sealing(opened: BinaryIO, key: BackupKey | None) -> Iterator[BinaryIO]:
    """Where the archive is written to; encrypted with the key on its way to the file, where there is one."""
    if key is None:
        yield opened
        return
    writer = SealedWriter(opened, key, PURPOSE)
    stream = io.BufferedWriter(writer, PIECE_BYTES)
    yield stream
    stream.flush()
    writer.end()


def _refuse_open_runs(database: Database, name: str) -> None:
    scoped = database.within(Scope(name))
    with scoped.connection() as connection:
        query = "SELECT id FROM runs WHERE project = ? AND status IN ('queued', 'running') ORDER BY id"
        unfinished = [row[0] for row in connection.execute(query, [name]).fetchall()]
    if unfinished or (unfinished := RunStore(scoped).executing()):
        some = ", ".join(unfinished[:3])
        raise RunError(f"{some} has not ended: wait for it, finish it with 'proctor resume', or 'proctor cancel' it.")


def _write(archive: zipfile.ZipFile, database: Database, artifacts: Artifacts, name: str) -> ProjectManifest:
    tables: list[TableContent] = []
    named: set[str] = set()
    with database.within(Scope(name)).snapshot() as connection, archive.open(ROWS, "w", force_zip64=True) as member:
        for chunk in write_project(connection, name, tables, lambda rows: named.update(_named(rows))):
            member.write(chunk)
    size = count = 0
    for key in sorted(named):
        if not artifacts.exists(key):
            continue  # anything of forty digits may look like a key
        with archive.open(ARTIFACTS + key, "w", force_zip64=True) as member:
            for chunk in artifacts.chunks(key):
                size += member.write(chunk)
        count += 1
    manifest = ProjectManifest(name, datetime.now(UTC), __version__, HEAD, tuple(tables), count, size)
    archive.writestr(MANIFEST, msgspec.json.format(msgspec.json.encode(manifest), indent=1))
    return manifest


def _named(found: TravellingRows) -> Iterator[str]:
    """What could be keys of artifacts in the columns that hold some, however JSON spells them."""
    named = ARTIFACT_COLUMNS.get(found.table, ())
    places = [(found.columns.index(name), name in JSON_COLUMNS) for name in named]
    for row in found.rows:
        for place, is_json in places:
            if row[place]:
                yield from _KEY.findall(row[place])
                if is_json and "\\" in row[place]:
                    yield from _KEY.findall(orjson.dumps(orjson.loads(row[place])).decode())


def import_project(
    database: Database,
    artifacts: Artifacts,
    file: Path,
    *,
    name: str | None,
    is_own: bool,
    by: str,
    key: BackupKey | None = None,
) -> ImportedProject:
    """Make a new project of an archive; a mistake or damage is found before anything is written.

    The key is needed for an archive that is encrypted, and not looked at for others.
    """
    with _opened(file, key) as archive:
        manifest = _read_manifest(archive)
        project = check_project_name(name or manifest.project)
        if project == LOCAL or project in ProjectStore(database).names():
            raise UserError(f"There is a project {project!r} already. Name another one: --as NAME.")
        check_rows(manifest.tables, _chunks(archive, ROWS))
        keys = _check_artifacts(archive, manifest)
        _refuse_others_artifacts(archive, artifacts, keys)
        _check_benchmarks(archive, keys)
        artifacts.check()
        for one in keys:
            artifacts.put(f"imported {one}", _chunks(archive, ARTIFACTS + one))
        writer = _write_rows(database, archive, manifest, project, is_own=is_own)
    continue_numbers(database)
    counts = {table: rows for table, rows in compare_written(database, project, writer).items() if rows}
    AuditStore(database).add(by, "import-project", of=project, project=project, outcome="own" if is_own else "labelled")
    return ImportedProject(
        project, manifest.project, manifest.version, counts, len(keys), manifest.artifact_bytes, is_own
    )


def _write_rows(
    database: Database, archive: zipfile.ZipFile, manifest: ProjectManifest, project: str, *, is_own: bool
) -> ProjectWriter:
    columns = {one.table: one.columns for one in manifest.tables}
    with database.connection() as connection, connection.transaction():
        connection.execute(
            "INSERT INTO projects (name, created_at) VALUES (?, ?)", [project, datetime.now(UTC).isoformat()]
        )
        writer = ProjectWriter(database, connection, project)
        for table, rows in read_rows(_chunks(archive, ROWS)):
            if rows:
                found = TravellingRows(table, columns[table], rows)
                writer.write(found if is_own else labelled(found))
    return writer


def labelled(found: TravellingRows) -> TravellingRows:
    """As rows of a run that was imported: nobody here saw its answers being made, and none is lent to other runs."""
    change, people = _LABELS.get(found.table), PEOPLE & set(found.columns)
    if change is None and not people:
        return found
    rows = [dict(zip(found.columns, row, strict=True)) for row in found.rows]
    for row in rows:
        if change is not None:
            change(row)
        for column in people:
            if row[column] is not None:
                row[column] = f"{IMPORTED}/{row[column]}"
    return TravellingRows(found.table, found.columns, [list(row.values()) for row in rows])


def _label_model(row: dict[str, Any]) -> None:
    row |= {"name": f"{IMPORTED}/{row['name']}", "provider": IMPORTED}


def _label_evaluation(row: dict[str, Any]) -> None:
    row |= {"model_spec": _spec(row["model"]).model_dump_json(), "model": f"{IMPORTED}/{row['model']}"}
    row |= {"benchmark_spec": BenchmarkSpec.model_validate({"benchmark": row["benchmark"]}).model_dump_json()}


def _label_run(row: dict[str, Any]) -> None:
    try:
        plan = Plan.model_validate_json(row["plan"])
    except ValueError:
        raise StoreError(f"The archive is damaged: the plan of {row['id']} cannot be read.") from None
    names = dict.fromkeys(one.benchmark for one in plan.benchmarks)  # one may be there several times, asked differently
    labelled = {
        "name": row["name"],
        "models": [_spec(plan.label(one)) for one in plan.models],
        "benchmarks": list(names),
        "cache": False,
    }
    row["plan"] = Plan.model_validate(labelled).model_dump_json()


def _label_response(row: dict[str, Any]) -> None:
    row["cache_key"] = None


def _label_answer(row: dict[str, Any]) -> None:
    row["model"] = f"{IMPORTED}/{row['model']}"


def _spec(model: str) -> ModelSpec:
    return ModelSpec.model_validate({"provider": IMPORTED, "name": model})


PEOPLE = frozenset({"author", "started_by"})
"""Columns with the names of people and keys: whoever is called the same here has not written it."""
_LABELS = {
    "models": _label_model,
    "evaluations": _label_evaluation,
    "runs": _label_run,
    "responses": _label_response,
    "playground_answers": _label_answer,
}


@contextmanager
def _opened(file: Path, key: BackupKey | None) -> Iterator[zipfile.ZipFile]:
    with ExitStack() as stack:
        try:
            archive = zipfile.ZipFile(stack.enter_context(_content(file, key)))
        except FileNotFoundError:
            raise NotFoundError(f"There is no file {file}.") from None
        except (zipfile.BadZipFile, EOFError, ValueError, NotImplementedError) as error:
            raise UserError(
                f"{file} is no archive of a project, or a part of it is missing ({error}). 'proctor projects export' "
                "writes one."
            ) from None
        except OSError as error:
            raise UserError(f"{file} cannot be read: {error.strerror or error}.") from None
        with archive:
            yield archive


def _content(file: Path, key: BackupKey | None) -> BinaryIO:
    """The archive's file, decrypted where it is encrypted."""
    if not is_sealed(file):
        return file.open("rb")
    if key is None:
        raise UserError(f"{file} is encrypted: set PROCTOR_BACKUP_KEY or PROCTOR_BACKUP_KEY_FILE to its key.")
    return io.BufferedReader(SealedReader(file, key, PURPOSE), PIECE_BYTES)


def _read_manifest(archive: zipfile.ZipFile) -> ProjectManifest:
    _refuse_strange_members(archive)
    try:
        with _part(archive, MANIFEST) as member:
            found = msgspec.json.decode(member.read(MAX_MANIFEST_BYTES), type=ProjectManifest)
    except (msgspec.MsgspecError, RecursionError) as error:
        raise StoreError(f"The archive's {MANIFEST} cannot be read: {error}.") from None
    if found.format != FORMAT or found.schema != HEAD:
        raise UserError(
            f"The archive was made by Proctor {found.version} (schema {found.schema}), this one knows {HEAD}: bring "
            "both to one version, and export again."
        )
    if [(one.table, one.columns, one.booleans) for one in found.tables] != [
        (one.table, one.columns, one.booleans) for one in contents()
    ]:
        raise StoreError("The archive is damaged: its tables are not those of its version.")
    return found


def _refuse_strange_members(archive: zipfile.ZipFile) -> None:
    """Names never become paths, and nothing in it is packed: what it says it holds is what is read."""
    names = [one.filename for one in archive.infolist()]
    if len(set(names)) != len(names) or not {MANIFEST, ROWS} <= set(names):
        raise StoreError("The archive is damaged: a part of it is missing, or there twice.")
    for one in archive.infolist():
        if one.filename not in (MANIFEST, ROWS) and not is_key(one.filename.removeprefix(ARTIFACTS)):
            raise StoreError(f"The archive has a part {one.filename!r:.80}, which none has.")
        if one.compress_type != zipfile.ZIP_STORED or one.flag_bits & 1 or one.file_size != one.compress_size:
            raise StoreError(f"The archive's part {one.filename!r:.80} is packed: archives of projects are not.")


def _check_artifacts(archive: zipfile.ZipFile, manifest: ProjectManifest) -> list[str]:
    """Their keys, after each was read and is what its key says."""
    parts = [one for one in archive.infolist() if one.filename.startswith(ARTIFACTS)]
    if (len(parts), sum(one.file_size for one in parts)) != (manifest.artifacts, manifest.artifact_bytes):
        raise StoreError("The archive is damaged: it has other artifacts than it says.")
    keys = [one.filename.removeprefix(ARTIFACTS) for one in parts]
    for key in keys:
        if key_of(_chunks(archive, ARTIFACTS + key)) != key:
            raise StoreError(f"The archive is damaged: the artifact {key} is not what was kept.")
    return keys


def _refuse_others_artifacts(archive: zipfile.ZipFile, artifacts: Artifacts, keys: Iterable[str]) -> None:
    """Whoever names an artifact may read it: an archive names its own ones only."""
    own, columns = set(keys), {one.table: one.columns for one in contents()}
    for table, rows in read_rows(_chunks(archive, ROWS)):
        for key in _named(TravellingRows(table, columns[table], rows)):
            if key not in own and artifacts.exists(key):
                raise StoreError(f"The archive names the artifact {key}, which is not in it but is here.")


def _check_benchmarks(archive: zipfile.ZipFile, keys: Iterable[str]) -> None:
    own, columns = set(keys), {one.table: one.columns for one in contents()}
    for table, rows in read_rows(_chunks(archive, ROWS)):
        for row in rows if table == "own_benchmarks" else ():
            named = dict(zip(columns[table], row, strict=True))
            check_archived(named, own, lambda key: _chunks(archive, ARTIFACTS + key))


def _chunks(archive: zipfile.ZipFile, name: str) -> Iterator[bytes]:
    with _part(archive, name) as member:
        while chunk := member.read(CHUNK_BYTES):
            yield chunk


@contextmanager
def _part(archive: zipfile.ZipFile, name: str) -> Iterator[IO[bytes]]:
    """One part, for nothing but to be read: what fails within the block is the archive's fault."""
    try:
        with archive.open(name) as member:
            yield member
    except (zipfile.BadZipFile, EOFError, RuntimeError, NotImplementedError) as error:
        raise StoreError(f"{archive.filename} is damaged: {error}.") from None
    except OSError as error:
        raise StoreError(f"{archive.filename} cannot be read: {error.strerror or error}.") from None
