"""A program to build from written requirements, and what proves that it was built."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path

from msgspec import Struct, field

from proctor.domain.message import Json

DIFFICULTIES = ("basic", "intermediate", "advanced", "expert")
DEFAULT_WEIGHTS: Mapping[str, float] = {
    "functional": 0.35,
    "tests": 0.25,
    "performance": 0.15,
    "quality": 0.15,
    "security": 0.10,
}


class Level(StrEnum):
    """RFC 2119; every MUST is needed to pass."""

    MUST = "MUST"
    SHOULD = "SHOULD"
    MAY = "MAY"


class InterfaceKind(StrEnum):
    COMMAND = "command"
    LIBRARY = "library"
    SERVICE = "service"


class CheckKind(StrEnum):
    UNIT = "unit"
    INTEGRATION = "integration"
    PROPERTY = "property"
    VISIBLE = "visible"


class Requirement(Struct, frozen=True):
    id: str
    level: Level
    text: str
    checks: tuple[str, ...]
    """Names of test functions, without `test_`; none means that it is reported as untested."""


class Interface(Struct, frozen=True):
    """How a program is used. It is `main.py` or `main.js` in its top folder; a library is a module of this name."""

    kind: InterfaceKind
    languages: tuple[str, ...] = ("python",)
    module: str | None = None
    ready_path: str = "/"
    """A service is ready when this answers with any status below 500."""
    ready_seconds: float = 10.0


class Threshold(Struct, frozen=True):
    """A measure and the value it is held against; the unit `gold` means a ratio to the gold solution's."""

    measure: str
    value: float
    unit: str
    is_upper: bool
    """At most the value, or at least."""
    requirement: str | None = None


class Mutant(Struct, frozen=True):
    """The gold solution with one fault: it fails exactly the requirements it breaks."""

    name: str
    breaks: tuple[str, ...]
    note: str
    files: Mapping[str, bytes]
    """The whole program: the gold solution's files with the mutant's own laid over them."""


class Problem(Struct, frozen=True):
    id: str
    title: str
    version: str
    difficulty: str
    area: str
    brief: str
    interface: Interface
    requirements: tuple[Requirement, ...]
    thresholds: tuple[Threshold, ...]
    weights: Mapping[str, float]
    pass_score: float
    """The least total; all MUSTs are needed besides."""
    limits: Mapping[str, Json]
    """What one command may use: memory_bytes, disk_bytes, processes, seconds; only those that were given."""
    dependencies: tuple[str, ...]
    load: Mapping[str, Json] | None
    """A service's profile (connections, seconds, requests, setup), or the path of a command's or library's `work`."""
    folder: Path
    digest: str
    """Of every file of the problem: marks of different digests are not comparable."""
    solution: Mapping[str, bytes] = field(default_factory=dict)
    mutants: tuple[Mutant, ...] = ()
    visible: Mapping[str, str] = field(default_factory=dict)
    """Visible tests by path below `tests/visible`: a model is shown them."""
    checks: Mapping[str, CheckKind] = field(default_factory=dict)
    """Every authoritative test function, without `test_`, and its kind."""
