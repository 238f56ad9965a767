"""The image containers are made of: this machine's Python and Node.js, packed here, fetched from nowhere."""

from __future__ import annotations

import io
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO

from msgspec import Struct

from proctor.domain.errors import SandboxError

IMAGE = "proctor-sandbox:1"
"""Its number changes when what must be in it changes."""
_TOP = ("bin", "sbin", "lib", "lib32", "lib64", "libx32")
_LEFT_OUT = frozenset(("site-packages", "dist-packages", "test", "tests", "idlelib", "turtledemo"))
_SPARE = (".opt-1.pyc", ".opt-2.pyc")
_PROGRAMS = ("sh", "node")
_FOLDERS = ("proc", "dev", "sys", "run", "etc")
_ACCOUNT = "sandbox:x:{uid}:{uid}::/tmp:/bin/sh\n"
_LIBRARY = re.compile(r"(/\S+) \(0x[0-9a-f]+\)")


class ImageStatus(Struct, frozen=True):
    """What an engine knows of an image; `size_bytes` is None where it has none of that name."""

    engine: str
    name: str
    size_bytes: int | None


def image_status(client: Sequence[str], engine: str, image: str = IMAGE) -> ImageStatus:
    done = _ask(client, "image", "inspect", "--format", "{{.Size}}", image)
    size = done.stdout.decode().strip()
    return ImageStatus(engine, image, int(size) if done.returncode == 0 and size.isdigit() else None)


def build_image(client: Sequence[str], engine: str, image: str = IMAGE) -> ImageStatus:
    """Pack this machine's interpreter with what it needs, and hand it to the engine under that name."""
    with tempfile.TemporaryFile() as packed:
        write_root(packed)
        packed.seek(0)
        done = subprocess.run(  # noqa: S603  the engine itself
            [*client, "import", "--change", "ENV PATH=/usr/local/bin:/usr/bin:/bin", "-", image],
            stdin=packed,
            capture_output=True,
            check=False,
        )
    if done.returncode:
        raise SandboxError(f"{engine} did not take the image: {done.stderr.decode(errors='replace').strip()[-500:]}")
    return image_status(client, engine, image)


def _ask(client: Sequence[str], *arguments: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run([*client, *arguments], capture_output=True, check=False, timeout=60)  # noqa: S603  the engine


def write_root(target: IO[bytes], *, uid: int = 65_534) -> None:
    """A root file system as a tar: interpreter, standard library, Node.js and a shell, with the libraries they load."""
    python = Path(os.path.realpath(sys.executable))
    standard = Path(sysconfig.get_path("stdlib", vars={"base": sys.base_prefix, "installed_base": sys.base_prefix}))
    wanted = [python, *(Path(found) for name in _PROGRAMS if (found := shutil.which(name, path="/usr/bin:/bin")))]
    library = [path for path in _walk(standard.resolve()) if not path.is_symlink()]
    loaded = _libraries([*wanted, *(path for path in library if path.suffix == ".so")])
    with tarfile.open(fileobj=target, mode="w", format=tarfile.PAX_FORMAT) as archive:
        root = _Root(archive)
        for name in _TOP:
            if Path("/", name).is_symlink():
                root.link(f"/{name}", str(Path("/", name).readlink()))
        root.folder("/tmp", 0o1777)  # noqa: S108  what is mounted there takes its mode from here
        for name in _FOLDERS:
            root.folder(f"/{name}")
        for path in (*wanted, *library, *loaded):
            root.add(path)
        # Programs and our own first process are started by this name, wherever this machine keeps its Python.
        root.link("/usr/local/bin/python3", str(python))
        root.text("/etc/passwd", _ACCOUNT.format(uid=uid))
        root.text("/etc/group", f"sandbox:x:{uid}:\n")
        if Path("/etc/ld.so.cache").exists():
            root.add(Path("/etc/ld.so.cache"))


def _walk(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.iterdir()):
        if path.name in _LEFT_OUT or path.name.startswith("config-") or path.name.endswith((".a", *_SPARE)):
            continue
        if path.is_dir():
            yield from _walk(path)
        else:
            yield path


def _libraries(files: Sequence[Path]) -> list[Path]:
    """Every shared library these load, and the loader itself."""
    ldd = shutil.which("ldd", path="/usr/bin:/bin")
    if ldd is None:
        raise SandboxError("ldd is not installed, so the libraries Python needs are not known; install it (libc-bin).")
    done = subprocess.run(  # noqa: S603  files of this very interpreter
        [ldd, *map(str, files)], capture_output=True, check=False, text=True
    )
    return [Path(found) for found in sorted(set(_LIBRARY.findall(done.stdout)))]


class _Root:
    """Adds files at the places they have here, links and the folders on the way included, each once."""

    def __init__(self, archive: tarfile.TarFile) -> None:
        self._archive = archive
        self._seen = {"/"}

    def add(self, path: Path) -> None:
        place = path.parent.resolve() / path.name
        if place.is_symlink():
            self.link(str(place), str(place.readlink()))
            self.add((place.parent / place.readlink()).parent.resolve() / place.readlink().name)
            return
        if self._is_new(str(place)):
            with place.open("rb") as file:
                info = self._info(str(place), 0o755 if os.access(place, os.X_OK) else 0o644)
                found = os.fstat(file.fileno())
                info.size, info.mtime = found.st_size, int(found.st_mtime)  # compiled modules name their source's time
                self._archive.addfile(info, file)

    def folder(self, path: str, mode: int = 0o755) -> None:
        if self._is_new(path):
            info = self._info(path, mode)
            info.type = tarfile.DIRTYPE
            self._archive.addfile(info)

    def link(self, path: str, target: str) -> None:
        if self._is_new(path):
            info = self._info(path, 0o777)
            info.type, info.linkname = tarfile.SYMTYPE, target
            self._archive.addfile(info)

    def text(self, path: str, text: str) -> None:
        if self._is_new(path):
            info = self._info(path, 0o644)
            info.size = len(text.encode())
            self._archive.addfile(info, io.BytesIO(text.encode()))

    def _is_new(self, path: str) -> bool:
        if path in self._seen:
            return False
        self._seen.add(path)
        self.folder(str(Path(path).parent))
        return True

    def _info(self, path: str, mode: int) -> tarfile.TarInfo:
        """Root's: nothing in the image belongs to whoever runs in it."""
        info = tarfile.TarInfo(path.lstrip("/"))
        info.mode = mode
        return info
