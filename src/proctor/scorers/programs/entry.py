"""How a submitted program is started: its language, its first file and the command."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath

from proctor.domain.place import APP
from proctor.domain.problem import Interface, InterfaceKind

PYTHON, JAVASCRIPT = "python", "javascript"
MAIN = {PYTHON: "main.py", JAVASCRIPT: "main.js"}
DEPENDENCIES = f"{APP}/.dependencies"
SUFFIXES = {PYTHON: (".py",), JAVASCRIPT: (".js", ".mjs", ".cjs")}


@dataclass(frozen=True, slots=True)
class Entry:
    language: str
    path: str
    """Of the file it is started or imported by."""

    def command(self, *arguments: str) -> tuple[str, ...]:
        tool = "node" if self.language == JAVASCRIPT else "python3"
        return (tool, f"{APP}/{self.path}", *arguments)


def candidates(interface: Interface) -> dict[str, str]:
    """Which files a program may be started by, and the language each means."""
    if interface.kind is InterfaceKind.LIBRARY:
        return {f"{interface.module}.py": PYTHON, f"{interface.module}/__init__.py": PYTHON}
    return {MAIN[language]: language for language in interface.languages if language in MAIN}


def entry_of(interface: Interface, files: Mapping[str, bytes]) -> Entry | None:
    """The first of the possible files that is there."""
    found = ((path, language) for path, language in candidates(interface).items() if path in files)
    return next((Entry(language, path) for path, language in found), None)


def is_test(path: str) -> bool:
    """A test of the program's own: in a folder `tests` or `test`, or named as test runners expect."""
    parts = PurePosixPath(path).parts
    name = parts[-1]
    named = name.startswith("test_") or name.endswith(("_test.py", ".test.js", "_test.js")) or name == "conftest.py"
    return named or any(part in ("tests", "test", "__tests__") for part in parts[:-1])


def sources(files: Mapping[str, bytes], language: str) -> dict[str, bytes]:
    """The program's own source files, without its tests and without what was brought along."""
    return {
        path: content
        for path, content in sorted(files.items())
        if path.endswith(SUFFIXES[language]) and not is_test(path) and not _is_foreign(path)
    }


def _is_foreign(path: str) -> bool:
    return any(part in ("node_modules", "site-packages", ".venv", "venv") for part in PurePosixPath(path).parts)
