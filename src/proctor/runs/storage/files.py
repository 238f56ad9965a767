"""Files that people upload: looked into, kept as artifacts, shown, and gone when they expire or their last run does."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from functools import partial
from typing import IO

import orjson
from msgspec import Struct

from proctor.benchmarks.file_content import PIECE_BYTES, FileContent, inspect
from proctor.domain.artifacts import Artifacts
from proctor.domain.documents.file import FileLink, FilePage, FileText, OutlineEntry, StoredFile
from proctor.domain.errors import BudgetError, NotFoundError, StoreError, UserError
from proctor.stores.database import Database
from proctor.stores.deleting import delete_unreferenced
from proctor.stores.files import FileRow, FileStore, NewFile, artifacts_of
from proctor.stores.stored_bytes import check_room

DAY_SECONDS = 86_400.0
LINK_SECONDS = 600
MAX_NAME_LENGTH = 200
TRIES = 3


class _GoneError(Exception):
    """The same content was deleted with another file, just now."""


def keep_file(
    database: Database, artifacts: Artifacts, file: IO[bytes], name: str, author: str, *, days: float
) -> StoredFile:  # fmt: skip
    """Look into a file and keep it for so many days; nothing is kept of one that is refused."""
    name = checked_name(name)
    content = inspect(file, name)
    size = file.seek(0, 2)
    check_room(database, size)
    for _ in range(TRIES):
        file.seek(0)
        key = artifacts.put(name, _pieces(file))
        text_key = None if content.pages is None else artifacts.put(f"{name}.json", _text(content))
        new = NewFile(
            name=name,
            kind=content.kind,
            media_type=content.media_type,
            size_bytes=size,
            artifact=key,
            text_artifact=text_key,
            pages=None if content.pages is None else len(content.pages),
            width=content.width,
            height=content.height,
            author=author,
            kept_seconds=days * DAY_SECONDS,
        )
        try:
            return _document(_added(database, artifacts, new), ())
        except _GoneError:
            continue
    raise StoreError(f"{artifacts.location} did not keep {name}; try again.")


def _added(database: Database, artifacts: Artifacts, new: NewFile) -> FileRow:
    """The row; where there is no room for it, its content goes as well."""
    keys = [key for key in (new.artifact, new.text_artifact) if key is not None]
    try:
        return FileStore(database).add(new, partial(_check, artifacts, keys))
    except BudgetError:
        delete_unreferenced(database, keys, artifacts.delete)
        raise


def _check(artifacts: Artifacts, keys: Sequence[str]) -> None:
    if not all(artifacts.exists(key) for key in keys):
        raise _GoneError


def checked_name(name: str) -> str:
    """What people call the file; it never becomes a path. Raises UserError for what is no name."""
    if not name or len(name) > MAX_NAME_LENGTH or not name.isprintable():
        raise UserError(f"A file's name is 1 to {MAX_NAME_LENGTH} characters that can be seen.")
    return name


def _pieces(file: IO[bytes]) -> Iterator[bytes]:
    while piece := file.read(PIECE_BYTES):
        yield piece


def _text(content: FileContent) -> bytes:
    # A PDF can name halves of surrogate pairs, which orjson refuses.
    text = json.dumps({"pages": content.pages, "outline": content.outline}, ensure_ascii=False)
    return text.encode("utf-8", "replace")


def keep_made(
    database: Database,
    artifacts: Artifacts,
    content: Iterable[bytes],
    named: tuple[str, str, str],
    run_id: str,
    author: str,
    *,
    days: float,
) -> StoredFile:
    """Keep what was made of a run: it expires, and goes with the run before. `named` is name, kind and media type."""
    name, kind, media_type = named
    key = artifacts.put(name, content)
    new = NewFile(
        name=name,
        kind=kind,
        media_type=media_type,
        size_bytes=artifacts.size(key) or 0,
        artifact=key,
        author=author,
        kept_seconds=days * DAY_SECONDS,
    )
    try:
        row = _added(database, artifacts, new)
    except _GoneError:
        raise StoreError(f"{artifacts.location} did not keep {name}; try again.") from None
    FileStore(database).use([row.id], run_id)
    return _document(row, [run_id])


def read_file(database: Database, file_id: str) -> StoredFile:
    store = FileStore(database)
    row = store.get(file_id)
    return _document(row, store.uses([row.id]).get(row.id, ()))


def list_files(database: Database, *, after: str | None, limit: int, kind: str | None = None) -> FilePage:
    """Newest first."""
    store = FileStore(database)
    rows = store.listed(after=after, limit=limit + 1, kind=kind)
    shown = rows[:limit]
    uses = store.uses(row.id for row in shown)
    return FilePage(
        [_document(row, uses.get(row.id, ())) for row in shown], shown[-1].id if len(rows) > limit else None
    )


class FileBody(Struct, frozen=True):
    """A file's content, read as you go."""

    name: str
    media_type: str
    size_bytes: int
    key: str
    artifacts: Artifacts

    def part(self, start: int, stop: int) -> Iterator[bytes]:
        """The bytes from start up to stop, a piece at a time."""
        at = 0
        for piece in self.artifacts.chunks(self.key):
            if at + len(piece) > start and at < stop:
                yield piece[max(0, start - at) : stop - at]
            at += len(piece)
            if at >= stop and stop < self.size_bytes:
                return


def open_file(database: Database, artifacts: Artifacts, file_id: str) -> FileBody:
    """The content of a file; NotFoundError where there is none."""
    row = FileStore(database).get(file_id)
    if artifacts.size(row.artifact) != row.size_bytes:
        raise StoreError(f"The content of {row.name} is not in {artifacts.location}.")
    return FileBody(row.name, row.media_type, row.size_bytes, row.artifact, artifacts)


def read_file_text(database: Database, artifacts: Artifacts, file_id: str, page: int | None = None) -> FileText:
    """The text of a file's pages, or of one of them (from 1); NotFoundError for an image and a page there is not."""
    row = FileStore(database).get(file_id)
    outline: list[OutlineEntry] = []
    if row.kind == "text":
        pages = [artifacts.get(row.artifact).decode("utf-8-sig")]
    elif row.text_artifact is None:
        raise NotFoundError(f"{row.name} is no PDF and no text that was uploaded: it has no text to read.")
    else:
        found = orjson.loads(artifacts.get(row.text_artifact))
        pages, outline = found["pages"], [OutlineEntry(*entry) for entry in found["outline"]]
    if page is None:
        return FileText(row.id, pages, outline)
    if not 1 <= page <= len(pages):
        raise NotFoundError(f"{row.name} has no page {page}: it has {len(pages)}.")
    return FileText(row.id, [pages[page - 1]], [entry for entry in outline if entry.page == page])


def link_file(database: Database, artifacts: Artifacts, file_id: str) -> FileLink:
    """A link to the content where artifacts are kept in S3; UserError where they are in a folder."""
    row = FileStore(database).get(file_id)
    return FileLink(artifacts.link(row.artifact, seconds=LINK_SECONDS), LINK_SECONDS)


def delete_file(database: Database, artifacts: Artifacts, file_id: str) -> None:
    """Its content goes where nothing else has the same; RunError while a run uses it."""
    keys = FileStore(database).delete(file_id)
    delete_unreferenced(database, keys, artifacts.delete)


def prune_files(database: Database, artifacts: Artifacts) -> int:
    """Delete the files that have expired and that no run uses; gives how many. Calling it twice is harmless."""
    count = 0
    while gone := FileStore(database).delete_expired():
        count += len(gone)
        keys = frozenset[str]().union(*map(artifacts_of, gone))
        delete_unreferenced(database, keys, artifacts.delete)
    return count


def _document(row: FileRow, runs: Sequence[str]) -> StoredFile:
    return StoredFile(
        file_id=row.id,
        name=row.name,
        kind=row.kind,
        media_type=row.media_type,
        size_bytes=row.size_bytes,
        pages=row.pages,
        width=row.width,
        height=row.height,
        author=row.author,
        created_at=_moment(row.created_at),
        expires_at=_moment(row.expires_at),
        runs=runs,
    )


def _moment(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")
