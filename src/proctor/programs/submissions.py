"""Programs from disk: a folder, a zip or a tar; nothing in them can reach outside or fill the machine."""

from __future__ import annotations

import io
import os
import stat
import tarfile
import unicodedata
import zipfile
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import IO

from proctor.domain.errors import NotFoundError, UserError
from proctor.domain.submission import (
    MAX_BYTES,
    MAX_DEPTH,
    MAX_FILES,
    MAX_PATH_LENGTH,
    TOOL_FOLDERS,
    Submission,
    clashing,
    clean_path,
    left_behind,
    left_by,
)

MAX_ARCHIVE_BYTES = 64 * 1024 * 1024
MAX_MEMBERS = 5_000
"""Folders included: an archive with more is no program."""
MAX_INFLATED = 48 * 1024 * 1024
"""Of a tar with everything in it, headers and padding too."""
MAX_DIRECTORY_BYTES = 4 * 1024 * 1024
"""Of a zip's own list of its members, which is read before anything else."""
MAX_DICTIONARY = 128 << 20
"""What a decompressor may need; the strongest setting of xz needs 65 MiB."""
PIECE = 64 * 1024


class SubmissionError(UserError):
    """A program that cannot be taken as it is."""


def submission_from(path: Path) -> Submission:
    """The files of a program; a SubmissionError names the member and the reason when it cannot be taken whole."""
    taking = _Taking(path.name, is_strange=not path.is_dir())
    if path.is_dir():
        return _whole(taking, _from_folder(path, taking.leave_out), "folder")
    if not path.is_file():
        raise NotFoundError(f"There is no file or folder {path}.")
    if path.stat().st_size > MAX_ARCHIVE_BYTES:
        raise SubmissionError(f"{path.name} is larger than {MAX_ARCHIVE_BYTES // 2**20} MiB.")
    if zipfile.is_zipfile(path):
        return _whole(taking, _from_zip(path), "zip")
    return _whole(taking, _from_tar(path), "tar")


def submission_of(files: Iterable[tuple[str, IO[bytes]]], name: str) -> Submission:
    """A program from files that were sent one by one, each with its path; refused like an archive's members."""
    taking = _Taking(name, is_strange=True)
    return _whole(taking, ((path, partial(_inflated, file)) for path, file in files), "files")


Member = tuple[str, Callable[[int], bytes]]
"""A path, and how to read it: at most so many bytes and one more."""


class _Taking:
    """Members taken one by one; the first that breaks a rule ends it."""

    def __init__(self, name: str, *, is_strange: bool) -> None:
        """Names that differ in nothing but their letters' case are one file on many machines: a folder of this one
        may have them, what comes from elsewhere not."""
        self.name = name
        self._is_strange = is_strange
        self._folded: dict[str, str] = {}
        self.files: dict[str, bytes] = {}
        self.left_out: dict[str, str] = {}
        self._size = 0

    def refuse(self, member: str, reason: str) -> SubmissionError:
        shown = member.encode("utf-8", "backslashreplace").decode()[:MAX_PATH_LENGTH]
        return SubmissionError(f"{self.name}: {shown!r} cannot be taken: {reason}.")

    def take(self, member: str, read: Callable[[int], bytes]) -> None:
        try:
            path = self._checked(member)
        except ValueError as reason:
            raise self.refuse(member, str(reason)) from None
        tool = left_by(path)
        if tool is not None:
            self.leave_out(path, tool)
            return
        # What a header says about a size is a claim: what comes out is counted.
        content = read(MAX_BYTES - self._size)
        self._size += len(content)
        if self._size > MAX_BYTES:
            raise self.refuse(member, f"the files together are larger than {MAX_BYTES // 2**20} MiB")
        self.files[path] = content

    def leave_out(self, path: str, tool: str) -> None:
        self.left_out[path] = left_behind(tool)

    def _checked(self, member: str) -> str:
        if "\\" in member:
            raise ValueError("the path has a backslash")
        path = clean_path(member)
        if path in self.files or path in self.left_out:
            raise ValueError("it is there twice")
        if self._is_strange and (other := self._folded.setdefault(_folded(path), path)) != path:
            raise ValueError(f"it differs from {other!r} in nothing but the case of letters")
        if clash := clashing(path, self.files):
            raise ValueError(f"{clash!r} cannot be a file and a folder at once")
        if len(self.files) >= MAX_FILES:
            raise ValueError(f"there are more than {MAX_FILES:,} files")
        return path


def _folded(path: str) -> str:
    return unicodedata.normalize("NFC", path).casefold()


def _whole(taking: _Taking, members: Iterator[Member], form: str) -> Submission:
    try:
        for member, read in members:
            taking.take(member, read)
    except _RefusedError as refusal:
        raise taking.refuse(refusal.member, refusal.reason) from refusal.__cause__
    files = _without_top_folder(taking.files)
    notes = ("the folder around the program was left out",) if files is not taking.files else ()
    return Submission(files, form, taking.left_out, notes)


class _RefusedError(Exception):
    def __init__(self, member: str, reason: str) -> None:
        super().__init__(member, reason)
        self.member, self.reason = member, reason


def _without_top_folder(files: dict[str, bytes]) -> dict[str, bytes]:
    """An archive of a folder holds the same program as one of its files; tests and documents alone are no program."""
    tops = {path.partition("/")[0] for path in files}
    if len(tops) != 1 or any("/" not in path for path in files):
        return files
    inner = {path.partition("/")[2] for path in files}
    if any(name.endswith("__init__.py") and "/" not in name for name in inner):
        return files  # the folder is the library's package
    return {path.partition("/")[2]: content for path, content in files.items()}


def _from_folder(top: Path, leave_out: Callable[[str, str], None]) -> Iterator[Member]:
    def refuse(fault: OSError) -> None:
        member = Path(str(fault.filename)).relative_to(top).as_posix()
        raise _RefusedError(f"{member}/", f"it cannot be listed ({fault.strerror})") from fault

    for folder, folders, names in os.walk(top, onerror=refuse, followlinks=False):
        folders.sort()
        below = Path(folder).relative_to(top)
        for name in [*folders]:
            if Path(folder, name).is_symlink():
                raise _RefusedError((below / name).as_posix(), "it is a link")
            if len(below.parts) >= MAX_DEPTH:
                raise _RefusedError(f"{(below / name).as_posix()}/", f"it is more than {MAX_DEPTH} folders deep")
            if name in TOOL_FOLDERS:
                folders.remove(name)
                leave_out(f"{(below / name).as_posix()}/", name)
        for name in sorted(names):
            path = Path(folder, name)
            yield (below / name).as_posix(), _reader_of(path, (below / name).as_posix())


def _reader_of(path: Path, member: str) -> Callable[[int], bytes]:
    def read(most: int) -> bytes:
        # Opened without following a link and without waiting for a FIFO's writer; looked at once it is open.
        try:
            descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        except OSError as fault:
            reason = "it is a link" if path.is_symlink() else f"it cannot be read ({fault.strerror})"
            raise _RefusedError(member, reason) from fault
        with os.fdopen(descriptor, "rb") as file:
            found = os.fstat(descriptor)
            if not stat.S_ISREG(found.st_mode):
                raise _RefusedError(member, "it is no regular file")
            if found.st_nlink > 1:  # the other name may be anybody's file
                raise _RefusedError(member, "it has several names (hard links); give a copy of the folder")
            return file.read(most + 1)

    return read


def _inflated(file: IO[bytes], most: int) -> bytes:
    """As much as may be, and one byte more where there is more."""
    pieces: list[bytes] = []
    size = 0
    while size <= most:
        piece = file.read(min(PIECE, most + 1 - size))
        if not piece:
            break
        pieces.append(piece)
        size += len(piece)
    return b"".join(pieces)


def _from_zip(path: Path) -> Iterator[Member]:
    import lzma
    import zlib

    faults = (
        lzma.LZMAError,
        zipfile.BadZipFile,
        zlib.error,
        EOFError,
        OSError,
        RuntimeError,
        NotImplementedError,
        ValueError,
    )
    _refuse_large_directory(path)
    try:
        with zipfile.ZipFile(path) as archive:
            for count, entry in enumerate(archive.infolist()):
                _refuse_beyond(count, entry.filename)
                _refuse_zip_member(entry)
                _refuse_large_dictionary(archive, entry)
                if not entry.is_dir():
                    yield entry.filename, _zip_reader(archive, entry, faults)
    except faults as fault:
        raise SubmissionError(f"{path.name} is not a zip that can be read: {fault}.") from fault


def _refuse_beyond(count: int, member: str) -> None:
    if count >= MAX_MEMBERS:
        raise _RefusedError(member, f"there are more than {MAX_MEMBERS:,} entries")


def _refuse_large_directory(path: Path) -> None:
    """The list of members is read whole by whoever opens a zip: its size is looked at first."""
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - 65_557 - 20))
        tail = file.read()
    workspace = tail.rfind(b"PK\x05\x06")
    size = int.from_bytes(tail[workspace + 12 : workspace + 16], "little")
    if b"PK\x06\x07" in tail or size > MAX_DIRECTORY_BYTES:
        raise SubmissionError(f"{path.name} lists more members than a program has ({MAX_MEMBERS:,}).")


def _refuse_zip_member(entry: zipfile.ZipInfo) -> None:
    if entry.flag_bits & 0x1:
        raise _RefusedError(entry.filename, "it is encrypted")
    kind = stat.S_IFMT(entry.external_attr >> 16)
    if entry.create_system == 3 and kind not in (0, stat.S_IFREG, stat.S_IFDIR):
        raise _RefusedError(entry.filename, "it is a link" if kind == stat.S_IFLNK else "it is no regular file")
    # zipfile cuts a name at its first NUL and turns backslashes: what it shows is not what was written.
    if entry.orig_filename != entry.filename:
        raise _RefusedError(entry.orig_filename, "the path has control characters or backslashes")


def _refuse_large_dictionary(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> None:
    """A member compressed by LZMA names its dictionary's size, and whoever reads it takes that much memory."""
    if entry.compress_type != zipfile.ZIP_LZMA or archive.fp is None:
        return
    archive.fp.seek(entry.header_offset + 26)
    names = archive.fp.read(4)
    archive.fp.seek(int.from_bytes(names[:2], "little") + int.from_bytes(names[2:], "little"), os.SEEK_CUR)
    properties = archive.fp.read(9)  # version, their length, one byte, the dictionary's size
    if int.from_bytes(properties[5:], "little") > MAX_DICTIONARY:
        raise _RefusedError(entry.filename, f"its dictionary is larger than {MAX_DICTIONARY >> 20} MiB")


def _zip_reader(
    archive: zipfile.ZipFile, entry: zipfile.ZipInfo, faults: tuple[type[Exception], ...]
) -> Callable[[int], bytes]:
    def read(most: int) -> bytes:
        try:
            with archive.open(entry) as file:
                return _inflated(file, most)
        except faults as fault:
            raise _RefusedError(entry.filename, f"it is damaged ({fault})") from fault

    return read


def _from_tar(path: Path) -> Iterator[Member]:
    faults = (tarfile.TarError, EOFError, OSError, ValueError, OverflowError)
    # Inflated first, within a limit: whatever a header claims, no more than these bytes can be read.
    plain = io.BytesIO(_plain_tar(path))
    try:
        with tarfile.open(fileobj=plain, mode="r:") as archive:
            for count, entry in enumerate(archive):
                _refuse_beyond(count, entry.name)
                if entry.isdir():
                    continue
                if not entry.isreg() or entry.issparse():
                    raise _RefusedError(entry.name, _kind_of(entry))
                yield entry.name, _tar_reader(archive, entry, faults)
            _refuse_rest(path, plain.getvalue()[archive.offset : archive.offset + tarfile.BLOCKSIZE])
    except faults as fault:
        advice = "give a folder, a .zip, or a .tar (.gz, .bz2, .xz)"
        raise SubmissionError(f"{path.name} is not an archive that can be read ({fault}): {advice}.") from fault


def _refuse_rest(path: Path, block: bytes) -> None:
    """A tar ends with zeros, or with the file: tarfile takes a header it cannot read for the end as well."""
    if block.strip(b"\0"):
        raise SubmissionError(f"{path.name} is damaged: what follows its first members cannot be read.")


def _plain_tar(path: Path) -> bytes:
    import bz2
    import gzip
    import lzma
    import zlib

    inflating: dict[bytes, type] = {b"\x1f\x8b": gzip.GzipFile, b"BZh": bz2.BZ2File}
    with path.open("rb") as file:
        start = file.read(6)
    opener = next((made for magic, made in inflating.items() if start.startswith(magic)), io.FileIO)
    try:
        if start == b"\xfd7zXZ\x00":
            content = _plain_xz(path)
        else:
            with opener(path, "rb") as file:
                content = _inflated(file, MAX_INFLATED)
    except (OSError, EOFError, zlib.error, lzma.LZMAError, ValueError) as fault:
        raise SubmissionError(f"{path.name} is damaged: {fault}.") from fault
    if len(content) > MAX_INFLATED:
        raise SubmissionError(f"{path.name} inflates to more than {MAX_INFLATED // 2**20} MiB.")
    return content


def _plain_xz(path: Path) -> bytes:
    """One byte more than may be where there is more; a file that asks for a dictionary of gigabytes does not get it."""
    import lzma

    plain = bytearray()
    with path.open("rb") as file:
        stream = lzma.LZMADecompressor(memlimit=MAX_DICTIONARY)
        piece = file.read(PIECE)
        while piece and len(plain) <= MAX_INFLATED:
            plain += stream.decompress(piece, MAX_INFLATED + 1 - len(plain))
            piece = b"" if not stream.needs_input else file.read(PIECE)
            if stream.eof:
                piece = (stream.unused_data or file.read(PIECE)).lstrip(b"\0")  # another stream may follow, padded
                stream = lzma.LZMADecompressor(memlimit=MAX_DICTIONARY) if piece else stream
    if not stream.eof and len(plain) <= MAX_INFLATED:
        raise EOFError("it ends in the middle")
    return bytes(plain)


def _kind_of(entry: tarfile.TarInfo) -> str:
    if entry.issym() or entry.islnk():
        return "it is a link"
    if entry.ischr() or entry.isblk():
        return "it is a device"
    return "it is a FIFO" if entry.isfifo() else "it is no regular file"


def _tar_reader(
    archive: tarfile.TarFile, entry: tarfile.TarInfo, faults: tuple[type[Exception], ...]
) -> Callable[[int], bytes]:
    def read(most: int) -> bytes:
        try:
            file = archive.extractfile(entry)
            if file is None:
                raise _RefusedError(entry.name, "it is no regular file")
            with file:
                return _inflated(file, most)
        except faults as fault:
            raise _RefusedError(entry.name, f"it is damaged ({fault})") from fault

    return read
