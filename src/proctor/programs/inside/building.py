"""What building means for a program: unpack its packages, and see that every file compiles."""

from __future__ import annotations

import json
import sys
import zipfile
from pathlib import Path


def make_environment(target: str, *wheels: str) -> None:
    """A virtual environment with these wheels in it: what the module `venv` makes, which not every system has."""
    interpreter = Path(getattr(sys, "_base_executable", sys.executable))
    scripts = Path(target) / "bin"
    packages = Path(target) / "lib" / f"python{sys.version_info[0]}.{sys.version_info[1]}" / "site-packages"
    scripts.mkdir(parents=True)
    packages.mkdir(parents=True)
    for name in ("python3", "python"):
        (scripts / name).symlink_to(interpreter)
    (Path(target) / "pyvenv.cfg").write_text(
        f"home = {interpreter.parent}\ninclude-system-site-packages = false\nversion = {sys.version.split()[0]}\n",
        encoding="utf-8",
    )
    unpack(str(packages), *wheels)


def unpack(target: str, *wheels: str) -> None:
    """Lay archives out in a folder; what belongs into it from a wheel's data folder is put there as well."""
    for wheel in wheels:
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(target)
    for data in Path(target).glob("*.data"):
        for part in ("purelib", "platlib"):
            for path in sorted((data / part).rglob("*")):
                if path.is_file():
                    moved = Path(target) / path.relative_to(data / part)
                    moved.parent.mkdir(parents=True, exist_ok=True)
                    path.replace(moved)


def compile_all(*paths: str) -> None:
    """Print which files are not Python, and why, as JSON."""
    wrong = {}
    for path in paths:
        try:
            compile(Path(path).read_bytes(), path, "exec", dont_inherit=True)
        except (SyntaxError, ValueError, RecursionError, MemoryError, OverflowError) as error:
            where = f"line {error.lineno}: " if isinstance(error, SyntaxError) and error.lineno else ""
            wrong[path] = f"{where}{type(error).__name__}: {getattr(error, 'msg', error)}"
    print(json.dumps(wrong))  # noqa: T201  its answer
