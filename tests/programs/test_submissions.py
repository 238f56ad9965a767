"""Programs from folders and archives, hostile ones included."""

from __future__ import annotations

import bz2
import contextlib
import gzip
import io
import lzma
import os
import stat
import struct
import tarfile
import tempfile
import tracemalloc
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from proctor.domain.errors import NotFoundError
from proctor.domain.submission import MAX_BYTES, MAX_FILES, clean_path
from proctor.programs.submissions import MAX_INFLATED, SubmissionError, submission_from

FILES = {"main.py": b"print(1)\n", "lib/store.py": b"x = 1\n", "README.md": "grüße\n".encode()}
TAR_MODES = ("w", "w:gz", "w:bz2", "w:xz")


def a_zip(path: Path, files: dict[str, bytes], compression: int = zipfile.ZIP_DEFLATED) -> Path:
    with zipfile.ZipFile(path, "w", compression) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return path


def a_tar(path: Path, files: dict[str, bytes], mode: str = "w:gz") -> Path:
    with tarfile.open(path, mode) as archive:  # type: ignore[call-overload]
        for name, content in files.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    return path


def refused(path: Path) -> str:
    with pytest.raises(SubmissionError) as caught:
        submission_from(path)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_a_folder_is_taken_without_what_tools_left(tmp_path: Path) -> None:
    for name, content in {
        **FILES,
        "__pycache__/main.pyc": b"x",
        ".git/config": b"x",
        "node_modules/a/b.js": b"x",
    }.items():
        target = tmp_path / "program" / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)
    submission = submission_from(tmp_path / "program")
    assert (submission.files, submission.form) == (FILES, "folder")
    assert set(submission.refused) == {"__pycache__/", ".git/", "node_modules/"}
    assert submission.refused[".git/"] == "left behind by a tool (.git)"


@pytest.mark.parametrize("compression", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_a_zip_is_taken(tmp_path: Path, compression: int) -> None:
    submission = submission_from(a_zip(tmp_path / "a.zip", FILES, compression))
    assert (submission.files, submission.form) == (FILES, "zip")


@pytest.mark.parametrize("mode", TAR_MODES)
def test_a_tar_is_taken(tmp_path: Path, mode: str) -> None:
    submission = submission_from(a_tar(tmp_path / "program.dat", FILES, mode))
    assert (submission.files, submission.form) == (FILES, "tar")


def test_the_folder_around_an_archived_program_is_left_out(tmp_path: Path) -> None:
    inside = {f"words-1.0/{name}": content for name, content in FILES.items()}
    assert submission_from(a_zip(tmp_path / "a.zip", inside)).files == FILES
    assert submission_from(a_tar(tmp_path / "a.tgz", inside)).files == FILES


def test_a_package_keeps_its_folder(tmp_path: Path) -> None:
    files = {"ledger/__init__.py": b"", "ledger/core.py": b""}
    assert submission_from(a_zip(tmp_path / "a.zip", files)).files == files


def test_what_desktops_put_into_archives_is_no_part_of_the_program(tmp_path: Path) -> None:
    made = {f"my program/{name}": content for name, content in FILES.items()}
    made |= {
        "__MACOSX/my program/._main.py": b"\x00\x05\x16\x07\xff",
        "my program/._main.py": b"\x00\x05\x16\x07\xff",
        "my program/.DS_Store": b"\x00\x00\x00\x01Bud1",
        "my program/Thumbs.db": b"\xd0\xcf",
    }
    submission = submission_from(a_zip(tmp_path / "a.zip", made))
    assert submission.files == FILES
    assert set(submission.refused) == set(made) - {f"my program/{name}" for name in FILES}


def test_what_tools_left_in_an_archive_is_said(tmp_path: Path) -> None:
    submission = submission_from(a_zip(tmp_path / "a.zip", {**FILES, "__pycache__/main.pyc": b"x"}))
    assert submission.files == FILES
    assert "left behind by a tool" in submission.refused["__pycache__/main.pyc"]


ESCAPES = {
    "../main.py": "leads out",
    "a/../../main.py": "leads out",
    "/etc/passwd": "absolute",
    "~root/x": "begins with '~'",
    "a\\..\\b.py": "backslash",
    "C:/x.py": "absolute",
    "a\nb.py": "control characters",
    "a\x9b31m.py": "control characters",
    "gpj.\u202eyp.py": "control characters",
    "/".join("abcdefghijklmnopq") + "/x.py": "folders deep",
    "x" * 101: "longer than",
}


@pytest.mark.parametrize(("name", "reason"), ESCAPES.items())
def test_paths_that_lead_out_are_refused(tmp_path: Path, name: str, reason: str) -> None:
    assert reason in refused(a_tar(tmp_path / "a.tar.gz", {"main.py": b"", name: b"x"}))
    assert reason.removeprefix("begins with ") in refused(a_zip(tmp_path / "a.zip", {"main.py": b"", name: b"x"}))


def test_a_name_cut_by_a_nul_is_refused(tmp_path: Path) -> None:
    path = a_zip(tmp_path / "a.zip", {"main.pyX.txt": b"x"})
    path.write_bytes(path.read_bytes().replace(b"main.pyX.txt", b"main.py\0.txt"))
    assert "control characters" in refused(path)


@pytest.mark.parametrize(
    ("kind", "reason"),
    [
        (tarfile.SYMTYPE, "link"),
        (tarfile.LNKTYPE, "link"),
        (tarfile.CHRTYPE, "device"),
        (tarfile.BLKTYPE, "device"),
        (tarfile.FIFOTYPE, "FIFO"),
        (tarfile.CONTTYPE, None),
    ],
)
def test_a_tar_with_links_devices_or_fifos_is_refused(tmp_path: Path, kind: bytes, reason: str | None) -> None:
    path = tmp_path / "a.tar"
    with tarfile.open(path, "w") as archive:
        entry = tarfile.TarInfo("main.py")
        entry.type, entry.linkname = kind, "/etc/passwd"
        archive.addfile(entry)
    if reason is None:
        assert submission_from(path).files == {"main.py": b""}
    else:
        assert reason in refused(path)


@pytest.mark.parametrize(
    ("kind", "reason"), [(stat.S_IFLNK, "link"), (stat.S_IFIFO, "regular"), (stat.S_IFCHR, "regular")]
)
def test_a_zip_with_links_or_devices_is_refused(tmp_path: Path, kind: int, reason: str) -> None:
    entry = zipfile.ZipInfo("main.py")
    entry.create_system = 3
    entry.external_attr = (kind | 0o777) << 16
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr(entry, "/etc/passwd")
    assert reason in refused(tmp_path / "a.zip")


@pytest.mark.parametrize("make", ["link", "folder link", "fifo", "socket-like device"])
def test_a_folder_with_links_or_fifos_is_refused(tmp_path: Path, make: str) -> None:
    top = tmp_path / "program"
    top.mkdir()
    (top / "main.py").write_bytes(b"x")
    if make == "link":
        (top / "secret.txt").symlink_to("/etc/passwd")
    elif make == "folder link":
        (top / "all").symlink_to("/etc")
    elif make == "fifo":
        os.mkfifo(top / "pipe")
    else:
        (top / "null").symlink_to("/dev/zero")
    assert "it is" in refused(top)


def test_a_folder_deeper_than_any_path_is_refused(tmp_path: Path) -> None:
    top = tmp_path / "program"
    top.mkdir()
    folder = os.open(top, os.O_RDONLY)
    for _ in range(45):  # longer than the kernel takes
        os.mkdir("d" * 100, dir_fd=folder)
        below = os.open("d" * 100, os.O_RDONLY, dir_fd=folder)
        os.close(folder)
        folder = below
    os.close(folder)
    assert refused(top).endswith("cannot be taken: it is more than 16 folders deep.")


def test_a_folder_that_cannot_be_listed_makes_no_smaller_program() -> None:
    nobody = 65534
    with tempfile.TemporaryDirectory() as name:
        top = Path(name)
        top.chmod(0o755)
        (top / "main.py").write_bytes(b"import closed.lib\n")
        (top / "closed").mkdir(mode=0o000)
        before = os.geteuid()
        try:
            if not before:  # for whom nothing is closed
                os.seteuid(nobody)
            said = refused(top)
        finally:
            os.seteuid(before)
    assert said.endswith("'closed/' cannot be taken: it cannot be listed (Permission denied).")


def test_an_encrypted_zip_is_refused(tmp_path: Path) -> None:
    path = a_zip(tmp_path / "a.zip", {"main.py": b"x"}, zipfile.ZIP_STORED)
    content = bytearray(path.read_bytes())
    for signature, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        content[content.index(signature) + offset] |= 1
    path.write_bytes(bytes(content))
    assert "encrypted" in refused(path)


def test_members_of_one_name_are_refused(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("main.py", "1")
        with pytest.warns(UserWarning, match="Duplicate name"):
            archive.writestr("main.py", "2")
    assert "there twice" in refused(tmp_path / "a.zip")
    with tarfile.open(tmp_path / "a.tar", "w") as made:
        for name in ("main.py", "./main.py"):
            made.addfile(tarfile.TarInfo(name))
    assert "there twice" in refused(tmp_path / "a.tar")


def test_a_file_that_is_a_folder_too_is_refused(tmp_path: Path) -> None:
    assert "file and a folder" in refused(a_tar(tmp_path / "a.tar", {"a": b"", "a/b.py": b""}))


def test_too_many_files_are_refused(tmp_path: Path) -> None:
    many = {f"{number}.py": b"" for number in range(MAX_FILES + 1)}
    assert "more than 1,000 files" in refused(a_zip(tmp_path / "a.zip", many))
    assert "more than 1,000 files" in refused(a_tar(tmp_path / "a.tar", many))


def _tar_of_folders(path: Path, count: int) -> Path:
    with tarfile.open(path, "w") as archive:
        for number in range(count):
            entry = tarfile.TarInfo(f"{number}")
            entry.type = tarfile.DIRTYPE
            archive.addfile(entry)
    return path


def test_a_list_of_members_without_end_is_refused_before_it_is_read(tmp_path: Path) -> None:
    folders = {f"{number}/": b"" for number in range(6_000)}
    assert "more than 5,000 entries" in refused(a_zip(tmp_path / "a.zip", {**folders, "z.py": b""}))
    assert "more than 5,000 entries" in refused(_tar_of_folders(tmp_path / "a.tar", 6_000))
    path = a_zip(tmp_path / "b.zip", {"x" * 90 + f"{number:06}": b"" for number in range(31_000)}, zipfile.ZIP_STORED)
    assert "lists more members" in refused(path)


BOMB = 64 * 1024 * 1024


def _bomb_zip(path: Path) -> None:
    a_zip(path, {"main.py": b"\0" * BOMB})


def _bomb_of_several(path: Path) -> None:
    a_zip(path, {f"{number}.py": b"\0" * (MAX_BYTES // 4) for number in range(8)})


def _bomb_tar(compress: Callable[[bytes], bytes]) -> Callable[[Path], None]:
    def make(path: Path) -> None:
        plain = io.BytesIO()
        with tarfile.open(fileobj=plain, mode="w") as archive:
            entry = tarfile.TarInfo("main.py")
            entry.size = BOMB
            archive.addfile(entry, io.BytesIO(bytes(BOMB)))
        path.write_bytes(compress(plain.getvalue()))

    return make


BOMBS: dict[str, Callable[[Path], None]] = {
    "zip": _bomb_zip,
    "zip of several": _bomb_of_several,
    "gz": _bomb_tar(gzip.compress),
    "bz2": _bomb_tar(lambda plain: bz2.compress(plain, 1)),
    "xz": _bomb_tar(lambda plain: lzma.compress(plain, preset=0)),
}


@pytest.mark.parametrize("kind", BOMBS)
def test_bombs_are_refused_after_few_bytes(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "bomb"
    BOMBS[kind](path)
    assert path.stat().st_size < 2_000_000
    tracemalloc.start()
    try:
        message = refused(path)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert "MiB" in message
    assert peak < 2 * MAX_INFLATED + 32 * 1024 * 1024


def test_a_lying_size_in_a_zip_helps_nobody(tmp_path: Path) -> None:
    path = a_zip(tmp_path / "a.zip", {"main.py": b"\0" * (MAX_BYTES + 1_000_000)})
    content = bytearray(path.read_bytes())
    place = content.index(b"PK\x01\x02")
    content[place + 24 : place + 28] = struct.pack("<I", 10)
    path.write_bytes(bytes(content))
    try:
        files = submission_from(path).files
    except SubmissionError:
        return
    assert len(files["main.py"]) <= 10


def test_a_tar_header_of_a_gigabyte_of_metadata_is_harmless(tmp_path: Path) -> None:
    entry = tarfile.TarInfo("x")
    entry.type, entry.size = tarfile.XHDTYPE, 1 << 30
    (tmp_path / "a.tar").write_bytes(entry.tobuf(tarfile.USTAR_FORMAT) + b"\0" * 4096)
    assert "is not an archive that can be read" in refused(tmp_path / "a.tar")


def test_a_sparse_tar_is_refused(tmp_path: Path) -> None:
    header = bytearray(tarfile.TarInfo("main.py").tobuf(tarfile.GNU_FORMAT))
    header[156:157] = tarfile.GNUTYPE_SPARSE
    header[483:495] = b"%011o\0" % (1 << 32)
    header[148:156] = b"        "
    header[148:156] = b"%06o\0 " % sum(header)
    (tmp_path / "a.tar").write_bytes(bytes(header) + b"\0" * 1024)
    assert "'main.py' cannot be taken: it is no regular file" in refused(tmp_path / "a.tar")


def test_what_is_no_archive_is_refused_with_what_would_do(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("hello")
    assert "give a folder, a .zip, or a .tar" in refused(tmp_path / "a.txt")
    with pytest.raises(NotFoundError):
        submission_from(tmp_path / "absent")


def test_a_tar_with_a_damaged_header_is_no_smaller_program(tmp_path: Path) -> None:
    whole = a_tar(tmp_path / "whole.tar", FILES, "w").read_bytes()
    second = whole.index(b"lib/store.py")
    (tmp_path / "bad.tar").write_bytes(whole[:second] + b"lob" + whole[second + 3 :])
    assert refused(tmp_path / "bad.tar") == "bad.tar is damaged: what follows its first members cannot be read."
    (tmp_path / "bare.tar").write_bytes(whole.rstrip(b"\0") + bytes(-len(whole.rstrip(b"\0")) % 512))
    assert submission_from(tmp_path / "bare.tar").files == FILES, "the zeros at the end may be missing"


def test_a_cut_off_archive_is_refused(tmp_path: Path) -> None:
    path = a_tar(tmp_path / "a.tgz", {"main.py": os.urandom(100_000)})
    path.write_bytes(path.read_bytes()[:50_000])
    assert "damaged" in refused(path)


def _seeds() -> list[bytes]:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in FILES.items():
            archive.writestr(name, content)
    found = [stream.getvalue()]
    for mode in TAR_MODES:
        stream = io.BytesIO()
        with tarfile.open(fileobj=stream, mode=mode) as made:  # type: ignore[call-overload]
            for name, content in FILES.items():
                entry = tarfile.TarInfo(name)
                entry.size = len(content)
                made.addfile(entry, io.BytesIO(content))
        found.append(stream.getvalue())
    return found


@pytest.mark.untraced
@settings(max_examples=400, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.sampled_from(_seeds()),
    st.lists(st.tuples(st.integers(0, 20_000), st.binary(min_size=1, max_size=4)), max_size=6),
    st.integers(0, 20_000),
)
def test_damaged_archives_are_taken_or_refused_and_nothing_leads_out(
    tmp_path: Path, seed: bytes, changes: list[tuple[int, bytes]], cut: int
) -> None:
    content = bytearray(seed)
    for place, new in changes:
        at = place % len(content)
        content[at : at + len(new)] = new
    path = tmp_path / "fuzzed"
    path.write_bytes(bytes(content[: len(content) - cut % 40]))
    try:
        files = submission_from(path).files
    except SubmissionError:
        return
    assert all(clean_path(name) == name for name in files)


@settings(max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.binary(max_size=2_000))
def test_any_bytes_at_all_are_refused_or_taken(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "bytes"
    path.write_bytes(content)
    with contextlib.suppress(SubmissionError):
        assert submission_from(path).files == {}


def test_a_dictionary_of_gigabytes_is_not_made(tmp_path: Path) -> None:
    filters = [{"id": lzma.FILTER_LZMA2, "preset": 0, "dict_size": 3 << 29}]
    plain = io.BytesIO()
    with tarfile.open(fileobj=plain, mode="w") as archive:
        archive.addfile(tarfile.TarInfo("main.py"))
    path = tmp_path / "large.tar.xz"
    # The encoder would take ten times as much memory: only the header's byte for the size is changed.
    small = lzma.compress(plain.getvalue(), filters=[{**filters[0], "dict_size": 1 << 20}])
    header = bytearray(small[12:24])
    place = header.index(b"\x21\x01") + 2
    header[place] = 39  # 3 << 30
    header[8:12] = zlib.crc32(bytes(header[:8])).to_bytes(4, "little")
    path.write_bytes(small[:12] + bytes(header) + small[24:])
    with pytest.raises(SubmissionError, match="Memory usage limit"):
        submission_from(path)


def test_several_streams_of_xz_are_one_archive(tmp_path: Path) -> None:
    plain = io.BytesIO()
    with tarfile.open(fileobj=plain, mode="w") as archive:
        info = tarfile.TarInfo("main.py")
        info.size = 5_000
        archive.addfile(info, io.BytesIO(b"x" * 5_000))
    whole = plain.getvalue()
    path = tmp_path / "two.tar.xz"
    path.write_bytes(lzma.compress(whole[:3_000]) + bytes(8) + lzma.compress(whole[3_000:]))
    assert submission_from(path).files == {"main.py": b"x" * 5_000}


def test_a_large_dictionary_in_a_zip_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "large.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_LZMA) as archive:
        archive.writestr("main.py", "print(1)")
    content = bytearray(path.read_bytes())
    at = content.index(b"main.py") + len(b"main.py")
    content[at + 5 : at + 9] = (3 << 29).to_bytes(4, "little")
    path.write_bytes(content)
    with pytest.raises(SubmissionError, match="its dictionary is larger than 128 MiB"):
        submission_from(path)


def test_a_file_with_another_name_elsewhere_is_not_taken(tmp_path: Path) -> None:
    secret, folder = tmp_path / "secret", tmp_path / "program"
    secret.write_text("the user's own")
    folder.mkdir()
    (folder / "main.py").hardlink_to(secret)
    with pytest.raises(SubmissionError, match="several names"):
        submission_from(folder)
