"""How a submitted program is started: its language, its first file and the command."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath

from proctor.domain.problem import Interface, InterfaceKind
from proctor.domain.workspace import APP

PYTHON, JAVASCRIPT = "python", "javascript"
MAIN = {PYTHON: "main.py", JAVASCRIPT: "main.js"}
DEPENDENCIES = f"{APP}/.dependencies"
"""The virtual environment of a program in Python that brings packages along."""
NODE_MODULES = f"{APP}/node_modules"
SUFFIXES = {PYTHON: (".py",), JAVASCRIPT: (".js", ".mjs", ".cjs")}
_TEST_FOLDERS = ("tests", "test", "__tests__")
_TEST_NAME = re.compile(r"(?:^|/)(?:test(?:[._-][^/]*)?|[^/]*[._-]test)\.(?:py|js|mjs|cjs)$")
_WORD = re.compile(rb"\w+")


@dataclass(frozen=True, slots=True)
class EntryPoint:
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


def entry_of(interface: Interface, files: Mapping[str, bytes]) -> EntryPoint | None:
    """The first of the possible files that is there."""
    found = ((path, language) for path, language in candidates(interface).items() if path in files)
    return next((EntryPoint(language, path) for path, language in found), None)


def is_test(path: str) -> bool:
    """A test of the program's own: in a folder `tests` or `test`, or named as test runners expect."""
    *folders, name = PurePosixPath(path).parts
    return is_named_test(path) or name == "conftest.py" or any(part in _TEST_FOLDERS for part in folders)


def is_named_test(path: str) -> bool:
    """Named as test runners expect: `test_x.py`, `x_test.py`, `x.test.js`, `test-x.mjs`."""
    return _TEST_NAME.search(path) is not None


def sources(files: Mapping[str, bytes], language: str) -> dict[str, bytes]:
    """The program's own files that are called source in this language."""
    return without_tests(all_sources(files, language))


def without_tests(every: Mapping[str, bytes]) -> dict[str, bytes]:
    """All but the tests that nothing else in it names."""
    own = {path: content for path, content in every.items() if not is_test(path)}
    waiting = {path: _words(path.encode("utf-8", "replace").rpartition(b".")[0]) for path in every if path not in own}
    known = set[bytes]()
    found = list(own)
    while found:
        known = known.union(*(_words(every[path]) for path in found))
        found = [path for path, words in waiting.items() if words <= known]
        own |= {path: every[path] for path in found}
        waiting = {path: words for path, words in waiting.items() if path not in own}
    return dict(sorted(own.items()))


def all_sources(files: Mapping[str, bytes], language: str) -> dict[str, bytes]:
    """Every file that is called source in this language, tests included."""
    return {path: content for path, content in sorted(files.items()) if path.endswith(SUFFIXES[language])}


def _words(text: bytes) -> set[bytes]:
    """Names and parts of texts alike: a file may be imported by a statement, or by its name in a text."""
    return set(_WORD.findall(text)) - {b"__init__"}
