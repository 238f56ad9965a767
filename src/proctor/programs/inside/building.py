"""What building means for a program in Python: unpack its packages, and see that every file compiles."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path


def unpack(target: str, *wheels: str) -> None:
    """Lay wheels out in a folder; what belongs into it from a wheel's data folder is put there as well."""
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
