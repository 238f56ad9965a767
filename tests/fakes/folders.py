"""Folders that strangers made."""

from __future__ import annotations

from pathlib import Path

SHADOWED = ("json", "pickle", "resource", "signal", "struct", "subprocess")


def write_shadowing_modules(folder: Path) -> Path:
    """Modules named like Python's own; the file that is given is there once one of them was imported."""
    found = folder / "imported"
    for name in SHADOWED:
        (folder / f"{name}.py").write_text(f"open({str(found)!r}, 'w').close()\nraise SystemExit(1)\n")
    return found
