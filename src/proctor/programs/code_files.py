"""Which files of a program are code, and in which language: whatever reads as code is read, whatever it is called."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable, Mapping

from msgspec import Struct
from msgspec.structs import replace

from proctor.domain.message import Json
from proctor.programs.entry import JAVASCRIPT, PYTHON, SUFFIXES, without_tests
from proctor.programs.tools import javascript
from proctor.programs.tools.running import ToolError, copied, run_tool, script

_TYPED = (".ts", ".mts", ".cts")
"""What Node takes for JavaScript with types in it."""


class Code(Struct, frozen=True):
    """A program's code, under names by which tools know its language."""

    files: Mapping[str, bytes]
    """All it has."""
    names: Mapping[str, Mapping[str, str]]
    """Language -> the name a tool is given -> the file it stands for."""
    sealed: tuple[str, ...]
    """Files that could hold code and that nothing can read."""
    unpacking: Mapping[str, str] = {}
    """Files that make code of something else, and how: what they run is not what is read."""

    def written(self, language: str) -> dict[str, bytes]:
        """What is written in one language, by the names that tools are given."""
        return {name: self.files[path] for name, path in self.names[language].items()}

    def without_tests(self) -> Code:
        """The program's own: all but the tests that nothing else in it names."""
        paths = {*self.sealed, *self.unpacking, *(path for names in self.names.values() for path in names.values())}
        own = without_tests({path: self.files[path] for path in sorted(paths)})
        kept = {
            language: {name: path for name, path in names.items() if path in own}
            for language, names in self.names.items()
        }
        unpacking = {path: why for path, why in self.unpacking.items() if path in own}
        return replace(self, names=kept, sealed=tuple(path for path in self.sealed if path in own), unpacking=unpacking)

    @property
    def unreadable(self) -> str:
        """Why nobody can say what the program does; empty when it can be read."""
        if self.sealed:
            return f"{self.sealed[0]} cannot be read"
        return next((f"{path} unpacks code: {why}" for path, why in sorted(self.unpacking.items())), "")

    def original(self, finding: Mapping[str, Json]) -> dict[str, Json]:
        """The same with the file as the program's author knows it, and not as a tool was told."""
        return {**finding, **({"file": self._path(str(finding["file"]))} if "file" in finding else {})}

    def _path(self, name: str) -> str:
        return next((names[name] for names in self.names.values() if name in names), name)


async def code_of(files: Mapping[str, bytes]) -> Code:
    """Read every file to tell what it is; ToolError where that cannot be told."""
    kinds = await _told(files)
    looks_alike = [path for path, told in kinds.items() if JAVASCRIPT in told]
    disguised = {
        PYTHON: [path for path, told in kinds.items() if PYTHON in told],
        JAVASCRIPT: await _parsed(files, looks_alike),
    }
    code = named(files, disguised, [path for path, told in kinds.items() if "sealed" in told])
    return replace(code, unpacking=await _unpacking(code))


def named(files: Mapping[str, bytes], disguised: Mapping[str, Iterable[str]], sealed: Iterable[str]) -> Code:
    """Names for tools: its own for a file that is called what it is, a plain new one for any other."""
    free = (f"read_{number}" for number in itertools.count())
    plain = (stem for stem in free if not any(path.startswith(stem) for path in files))
    names = {
        language: {path: path for path in sorted(files) if path.endswith(suffixes)}
        | {next(plain) + _suffix(path, language): path for path in sorted(disguised[language])}
        for language, suffixes in SUFFIXES.items()
    }
    return Code(files, names, tuple(sorted(sealed)))


def _suffix(path: str, language: str) -> str:
    return ".ts" if language == JAVASCRIPT and path.endswith(_TYPED) else SUFFIXES[language][0]


async def _told(files: Mapping[str, bytes]) -> dict[str, list[str]]:
    with copied(files) as copy:
        code, out, err = await run_tool(script("telling.py", *copy.files), copy.folder)
    if code != 0:
        raise ToolError(err.decode("utf-8", "replace")[-300:])
    answer: dict[str, list[str]] = json.loads(out)
    return answer


async def _unpacking(code: Code) -> dict[str, str]:
    kinds = dict.fromkeys(code.files, "data")
    kinds |= {path: language for language, names in code.names.items() for path in names.values()}
    with copied(code.files) as copy, copied({"kinds.json": json.dumps(kinds).encode()}) as order:
        done, out, err = await run_tool(script("unpacking.py", str(order.folder / "kinds.json")), copy.folder)
    if done != 0:
        raise ToolError(err.decode("utf-8", "replace")[-300:])
    answer: dict[str, str] = json.loads(out)
    return answer


async def _parsed(files: Mapping[str, bytes], paths: Iterable[str]) -> list[str]:
    """Those that a parser takes for JavaScript, whose comments cannot tell it to look away."""
    names = {f"{number}{_suffix(path, JAVASCRIPT)}": path for number, path in enumerate(paths)}
    if not names:
        return []
    with copied({name: javascript.unsilenced(files[path]) for name, path in names.items()}) as copy:
        return [names[name] for name in await javascript.parsed(copy)]
