"""Benchmarks of a project's own: uploaded with their data, checked, kept version by version, used in its plans."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import IO

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from proctor.benchmarks.file_content import PIECE_BYTES
from proctor.benchmarks.foreign import is_own_name, read_foreign, uploads_of
from proctor.benchmarks.registry import BenchmarkInfo, is_installed
from proctor.benchmarks.uploads import FOLDER
from proctor.domain.artifacts import Artifacts
from proctor.domain.documents.benchmark import BenchmarkDescription
from proctor.domain.documents.document import plain_values
from proctor.domain.documents.own_benchmark import OwnBenchmark, OwnBenchmarkPage, OwnBenchmarkVersions
from proctor.domain.errors import BenchmarkError, NotFoundError, RunError, StoreError, in_field
from proctor.domain.plan import BenchmarkSpec, Plan
from proctor.domain.scope import EVERYTHING
from proctor.domain.submission import clean_path
from proctor.programs.tools.scratch import scratch
from proctor.runs.benchmarks.describe import describe_benchmark
from proctor.runs.chunks.content import restored
from proctor.runs.resolve import PlanContext
from proctor.stores.accounts.audit import AuditStore
from proctor.stores.database import Database
from proctor.stores.deleting import delete_unreferenced
from proctor.stores.files import FileStore
from proctor.stores.own_benchmarks import NewBenchmark, OwnBenchmarkRow, OwnBenchmarkStore
from proctor.stores.runs import RunStore
from proctor.stores.stored_bytes import check_room

MAX_FILES = 500
MAX_OFFERED = 500
"""The newest versions of which a sentence may speak."""
PREFIX = "own/"
"""Before NAME@VERSION/FILE: where the files of such a benchmark lie for whoever reads it."""
DEFAULT = "benchmark.yaml"
_YAML = (".yaml", ".yml")


class _Laid(Struct, frozen=True):
    """A benchmark on disk, looked into."""

    folder: Path
    entry: str
    name: str
    version: str
    uploads: Mapping[str, str]
    """Path -> artifact, of the uploaded files that it takes its data from."""
    description: BenchmarkDescription


def check_upload(
    files: Sequence[tuple[str, IO[bytes]]], context: PlanContext, database: Database
) -> BenchmarkDescription:
    """What `proctor benchmarks check` says of the benchmark; nothing is kept."""
    with _laid_out(files, context, database) as laid:
        return laid.description


def keep_benchmark(
    files: Sequence[tuple[str, IO[bytes]]], context: PlanContext, database: Database, author: str
) -> OwnBenchmark:
    """Check a benchmark and keep it as a version; RunError where another one was uploaded under that version."""
    artifacts = _artifacts(context)
    with _laid_out(files, context, database) as laid:
        paths = {path.relative_to(laid.folder).as_posix(): path for path in sorted(laid.folder.rglob("*"))}
        sizes = {name: path.stat().st_size for name, path in paths.items() if path.is_file()}
        if OwnBenchmarkStore(database).find(laid.name, laid.version) is None:
            check_room(database, sum(sizes.values()))
        kept = dict(laid.uploads)
        kept |= {name: artifacts.put(paths[name].name, _parts(paths[name])) for name in sizes if name not in kept}
        new = NewBenchmark(
            name=laid.name,
            version=laid.version,
            entry=laid.entry,
            files=kept,
            size_bytes=sum(sizes.values()),
            description=plain_values(laid.description),
            author=author,
        )
        row = OwnBenchmarkStore(database).add(new, partial(_refuse_gone, artifacts, kept))
    if (row.entry, dict(row.files)) != (new.entry, kept):
        raise RunError(
            f"{row.name} {row.version} is there already and is not the same: a version never changes. "
            "Give the file another version."
        )
    return _document(row)


def list_own(database: Database, *, after: str | None, limit: int, has_archived: bool) -> OwnBenchmarkPage:
    """Newest first."""
    rows = OwnBenchmarkStore(database).listed(after=after, limit=limit + 1, has_archived=has_archived)
    shown = rows[:limit]
    return OwnBenchmarkPage([_document(row) for row in shown], shown[-1].id if len(rows) > limit else None)


def list_offered(database: Database) -> list[BenchmarkInfo]:
    """What plans may call by name, each in its newest version, as a list of benchmarks shows it."""
    return [_info(row) for row in OwnBenchmarkStore(database).offered()]


def read_versions(database: Database, name: str) -> OwnBenchmarkVersions:
    """All versions, newest first; NotFoundError where there is none."""
    store = OwnBenchmarkStore(database)
    store.get(name)
    return OwnBenchmarkVersions(name, [_document(row) for row in store.versions(name)])


def read_own_file(database: Database, context: PlanContext, name: str, version: str, path: str) -> Iterator[bytes]:
    """A file of a version, as it was uploaded."""
    row = OwnBenchmarkStore(database).get(name, version)
    if path not in row.files:
        raise NotFoundError(f"{name}@{version} has no file {path!r}. There are: {', '.join(row.files)}.")
    return _artifacts(context).chunks(row.files[path])


def archive_own(database: Database, name: str, version: str, *, is_archived: bool) -> OwnBenchmark:
    """Offer a version no more, or again; a plan that names it still gets it."""
    return _document(OwnBenchmarkStore(database).archive(name, version, is_archived=is_archived))


def delete_own(database: Database, context: PlanContext, name: str, version: str | None, *, by: str) -> None:
    """Delete a version, or all of them; runs that used it keep what they need. RunError while a run could begin to."""
    if executing := RunStore(database).executing():
        raise RunError(f"{', '.join(executing)} may be about to use its files. Delete it when that has ended.")
    artifacts = _artifacts(context)
    artifacts.check()
    keys = OwnBenchmarkStore(database).remove(name, version)
    delete_unreferenced(database, keys, artifacts.delete)
    of = name if version is None else f"{name}@{version}"
    AuditStore(database.at_scope(EVERYTHING)).add(by, "delete-benchmark", of=of, project=database.scope.owner)


def find_own(database: Database, reference: str) -> OwnBenchmarkRow | None:
    """What NAME or NAME@VERSION means among the project's own benchmarks; None for everything else."""
    name, _, version = plain_reference(reference).partition("@")
    wanted = version or None
    if is_installed(reference) or not is_own_name(name, wanted):
        return None
    return OwnBenchmarkStore(database).find(name, wanted)


def offered_descriptions(database: Database) -> list[tuple[str, BenchmarkDescription]]:
    """Each version of the project's own benchmarks that is offered, by its reference, the newest first."""
    rows = OwnBenchmarkStore(database).listed(limit=MAX_OFFERED)
    return [(f"{row.name}@{row.version}", msgspec.convert(row.description, BenchmarkDescription)) for row in rows]


def plain_reference(reference: str) -> str:
    """NAME@VERSION of what a stored plan calls own/NAME@VERSION/FILE; everything else as it is."""
    if not reference.startswith(PREFIX):
        return reference
    named = reference.removeprefix(PREFIX).partition("/")[0]
    return named if is_own_name(*_split(named)) else reference


def _split(named: str) -> tuple[str, str | None]:
    name, _, version = named.partition("@")
    return name, version or None


def with_own_benchmarks(plan: Plan, database: Database) -> tuple[Plan, dict[str, str]]:
    """The plan with its own benchmarks named by their files, and these files: path -> artifact."""
    specs: list[BenchmarkSpec] = []
    content: dict[str, str] = {}
    for spec in plan.benchmarks:
        row = find_own(database, spec.benchmark)
        if row is None:
            specs.append(spec)
            continue
        folder = f"{PREFIX}{row.name}@{row.version}"
        content |= {f"{folder}/{path}": key for path, key in row.files.items()}
        specs.append(spec.model_copy(update={"benchmark": f"{folder}/{row.entry}"}))
    return plan.model_copy(update={"benchmarks": tuple(specs)}), content


@contextmanager
def with_files(content: Mapping[str, str], context: PlanContext) -> Iterator[PlanContext]:
    """A context in which these files are there; as it is where there are none."""
    with restored(content, context) as here:
        yield here


@contextmanager
def _laid_out(files: Sequence[tuple[str, IO[bytes]]], context: PlanContext, database: Database) -> Iterator[_Laid]:
    """The files in a folder of their own, found to be a benchmark without fault."""
    with scratch() as place:
        folder = place / "plan"
        folder.mkdir()
        names = _write(files, folder)
        entry = _entry(names)
        definition = read_foreign(folder / entry, set(names))
        if is_installed(definition.name):
            raise BenchmarkError(f"{definition.name} is a benchmark that comes with Proctor: give yours another name.")
        uploads = _fetch_uploads(uploads_of(definition, folder / entry), folder, context, database)
        # Nothing of the operator's data takes the place of what was sent.
        described = describe_benchmark(entry, replace(context, folder=folder, data=None), is_check=True)
        yield _Laid(folder, entry, definition.name, definition.version, uploads, described)


def _write(files: Sequence[tuple[str, IO[bytes]]], folder: Path) -> list[str]:
    """The files below the folder, by names that lead nowhere else."""
    if not files:
        raise BenchmarkError("There is no file in the request.")
    names: list[str] = []
    for given, content in files:
        try:
            name = clean_path(given or DEFAULT)
        except ValueError as reason:
            raise BenchmarkError(f"{given[:200]!r} cannot be taken: {reason}.") from None
        if name.casefold() in {one.casefold() for one in names} or name.startswith(f"{FOLDER}/"):
            raise BenchmarkError(f"{name!r} cannot be taken: it is there twice, or the name is the server's own.")
        path = folder / name
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            content.seek(0)
            with path.open("xb") as file:
                shutil.copyfileobj(content, file)
        except (FileExistsError, NotADirectoryError, IsADirectoryError):
            raise BenchmarkError(f"{name!r} cannot be taken: it is a file and a folder at once.") from None
        names.append(name)
    return names


def _entry(names: Sequence[str]) -> str:
    found = [name for name in names if "/" not in name and name.lower().endswith(_YAML)]
    if len(found) != 1:
        said = ", ".join(found) if found else "none"
        raise BenchmarkError(f"Send one benchmark file (.yaml), with its data beside it; there is {said}.")
    return found[0]


def _fetch_uploads(ids: Sequence[str], folder: Path, context: PlanContext, database: Database) -> dict[str, str]:
    """The uploaded files of the project that are named, laid out; gives path -> artifact."""
    found: dict[str, str] = {}
    for file_id in ids:
        with in_field("dataset", "source"):
            row = FileStore(database).get(file_id)
        ending = Path(row.name).suffix.lower()
        if row.kind != "text" or not ending:
            raise BenchmarkError(f"upload://{file_id} ({row.name}) is no data file: it is a text such as data.jsonl.")
        name = f"{FOLDER}/{row.id}{ending}"
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        with path.open("wb") as file:
            for part in _artifacts(context).chunks(row.artifact):
                file.write(part)
        found[name] = row.artifact
    return found


def _parts(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        while piece := file.read(PIECE_BYTES):
            yield piece


def _refuse_gone(artifacts: Artifacts, files: Mapping[str, str]) -> None:
    if not all(artifacts.exists(key) for key in files.values()):
        raise StoreError("A file with the same content was deleted just now; send the benchmark again.")


def _artifacts(context: PlanContext) -> Artifacts:
    if context.artifacts is None:
        raise StoreError("This server keeps no artifacts.")
    return context.artifacts


def _document(row: OwnBenchmarkRow) -> OwnBenchmark:
    return OwnBenchmark(
        benchmark_id=row.id,
        name=row.name,
        version=row.version,
        reference=f"{row.name}@{row.version}",
        files=sorted(row.files),
        author=row.author,
        created_at=_moment(row.created_at),
        archived_at=None if row.archived_at is None else _moment(row.archived_at),
        description=msgspec.convert(row.description, BenchmarkDescription),
    )


def _info(row: OwnBenchmarkRow) -> BenchmarkInfo:
    told = msgspec.convert(row.description, BenchmarkDescription)
    return BenchmarkInfo(
        name=row.name,
        description=told.description,
        tags=dict(told.tags),
        licence=told.licence,
        source=told.source,
        parameters=dict(told.parameters),
        protocol=told.protocol,
        homepage=told.homepage,
        shots=told.shots,
        variants=dict(told.variants),
        scorers=tuple(told.scorers),
        needs_sandbox=told.needs_sandbox,
        version=row.version,
        is_own=True,
    )


def _moment(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")
