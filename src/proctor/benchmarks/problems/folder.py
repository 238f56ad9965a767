"""A problem folder becomes a Problem: everything checked that can be without running anything."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import blake2b
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from proctor.benchmarks.problems.checks import FoundCheck, find_checks
from proctor.benchmarks.problems.schema import LoadEntry, MutantEntry, ProblemFile, RequestEntry, ThresholdEntry
from proctor.benchmarks.problems.units import GOLD, MEASURES, convert, parse_quantity, seconds, whole_bytes
from proctor.domain.errors import BenchmarkError, NotFoundError, did_you_mean
from proctor.domain.identity import digest
from proctor.domain.problem import Interface, InterfaceKind, Level, Mutant, Problem, Requirement, Threshold
from proctor.yaml_document import LocatedDocument, as_mapping, explain, load_yaml

FILE = "problem.yaml"
WORK = "tests/load/work.py"
MAX_FILES = 2_000
MAX_BYTES = 32 * 1024 * 1024
_PASSING = ("__pycache__", ".hypothesis", ".pytest_cache", ".ruff_cache", ".mypy_cache")


def read_problem(folder: Path) -> Problem:
    """The problem in a folder; a mistake is a BenchmarkError with file, line and field."""
    folder = folder.resolve()
    if not (folder / FILE).is_file():
        raise NotFoundError(f"There is no {FILE} in {folder.name}: a problem is a folder with that file in it.")
    document = load_yaml(folder / FILE, name=f"{folder.name}/{FILE}", error=BenchmarkError)
    values = as_mapping(document, "a problem")
    try:
        entry = ProblemFile.model_validate(values)
    except ValidationError as mistake:
        raise BenchmarkError(explain(mistake, document, ProblemFile)) from mistake
    if entry.id != folder.name:
        raise _at(document, ("id",), f"the id {entry.id!r} is not the name of its folder, {folder.name!r}.")
    files = read_files(folder)
    checks = find_checks(folder)
    _refuse_unknown_checks(entry, checks, document)
    solution = _below(files, "solution/")
    _refuse_no_entry(entry, solution, document)
    return Problem(
        id=entry.id,
        title=entry.title,
        version=entry.version,
        difficulty=entry.difficulty,
        area=entry.area,
        brief=entry.brief.strip(),
        interface=_interface(entry),
        requirements=tuple(
            Requirement(one.id, Level(one.level), " ".join(one.text.split()), tuple(one.checks))
            for one in entry.requirements
        ),
        thresholds=tuple(map(_threshold, entry.thresholds)),
        weights=entry.weights.model_dump(),
        pass_score=entry.pass_rule.score,
        limits=_limits(entry),
        dependencies=tuple(entry.dependencies),
        load=_load(entry, files, document),
        folder=folder,
        digest=_digest(files),
        solution=solution,
        mutants=_mutants(entry, files, solution, document),
        visible={path: _as_text(path, content) for path, content in _below(files, "tests/visible/").items()},
        checks={name: check.kind for name, check in checks.items()},
    )


def read_files(folder: Path) -> dict[str, bytes]:
    """Every file of a problem by its path; links are refused, what tools left behind is passed over."""
    found: dict[str, bytes] = {}
    size = 0
    for path in sorted(folder.rglob("*")):
        relative = path.relative_to(folder)
        if any(part in _PASSING for part in relative.parts) or path.suffix == ".pyc":
            continue
        if path.is_symlink():
            raise BenchmarkError(f"{folder.name}/{relative}: this is a link; a problem holds its files itself.")
        if not path.is_file():
            continue
        size += path.stat().st_size
        if len(found) >= MAX_FILES or size > MAX_BYTES:
            raise BenchmarkError(f"{folder.name} holds more than {MAX_FILES:,} files or {MAX_BYTES // 2**20} MiB.")
        found[relative.as_posix()] = path.read_bytes()
    return found


def _digest(files: Mapping[str, bytes]) -> str:
    return digest([[path, blake2b(content, digest_size=16).hexdigest()] for path, content in sorted(files.items())])


def _at(document: LocatedDocument, location: tuple[int | str, ...], message: str) -> BenchmarkError:
    path = document.path_of(location)
    return BenchmarkError(f"{document.name}:{document.line_of(location)}: {f'{path}: ' if path else ''}{message}")


def _below(files: Mapping[str, bytes], folder: str) -> dict[str, bytes]:
    return {path.removeprefix(folder): content for path, content in files.items() if path.startswith(folder)}


def _as_text(path: str, content: bytes) -> str:
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as wrong:
        raise BenchmarkError(f"tests/visible/{path} is not UTF-8 text: a model could not be shown it.") from wrong


def _interface(entry: ProblemFile) -> Interface:
    given = entry.interface
    kind, languages = InterfaceKind(given.kind), tuple(given.languages)
    if given.ready is None:
        return Interface(kind, languages, given.module)
    return Interface(kind, languages, given.module, given.ready.path, seconds(given.ready.within))


def _threshold(entry: ThresholdEntry) -> Threshold:
    """Kept in the unit its measure is taken in, so that nobody converts twice."""
    kind, unit, is_upper = MEASURES[entry.measure]
    value, given = parse_quantity(entry.bound)
    if given == GOLD:
        return Threshold(entry.measure, value, GOLD, is_upper, entry.requirement)
    return Threshold(entry.measure, convert(entry.bound, kind, unit), unit, is_upper, entry.requirement)


def _limits(entry: ProblemFile) -> dict[str, int | float]:
    given = entry.limits
    found: dict[str, int | float | None] = {
        "memory_bytes": whole_bytes(given.memory) if given.memory else None,
        "disk_bytes": whole_bytes(given.disk) if given.disk else None,
        "processes": given.processes,
        "seconds": given.seconds,
    }
    return {name: value for name, value in found.items() if value is not None}


def _load(entry: ProblemFile, files: Mapping[str, bytes], document: LocatedDocument) -> dict[str, Any] | None:
    needs_work = any(threshold.measure == "work_seconds" for threshold in entry.thresholds)
    if needs_work and WORK not in files:
        raise _at(document, ("thresholds",), f"work_seconds is measured with {WORK}, which is not there.")
    if entry.load is None:
        return {"work": WORK} if WORK in files else None
    return _profile(entry.load)


def _profile(load: LoadEntry) -> dict[str, Any]:
    def plain(request: RequestEntry) -> dict[str, Any]:
        return request.model_dump(exclude_none=True)

    return {
        "connections": load.connections,
        "seconds": seconds(load.duration),
        "requests": [plain(request) for request in load.requests],
        "setup": [plain(request) for request in load.setup],
    }


def _refuse_unknown_checks(entry: ProblemFile, checks: Mapping[str, FoundCheck], document: LocatedDocument) -> None:
    for place, requirement in enumerate(entry.requirements):
        for index, name in enumerate(requirement.checks):
            if name not in checks:
                hint = did_you_mean(name, checks)
                message = f"there is no test function test_{name} in tests/visible or tests/hidden.{hint}"
                raise _at(document, ("requirements", place, "checks", index), message)


def entry_files(interface: Interface) -> tuple[str, ...]:
    """What an answer must have one of: the file it is started or imported by."""
    if interface.kind is InterfaceKind.LIBRARY:
        return (f"{interface.module}.py", f"{interface.module}/__init__.py")
    names = {"python": "main.py", "javascript": "main.js"}
    return tuple(names[language] for language in interface.languages)


def _refuse_no_entry(entry: ProblemFile, solution: Mapping[str, bytes], document: LocatedDocument) -> None:
    wanted = entry_files(_interface(entry))
    if not any(name in solution for name in wanted):
        raise _at(document, ("interface",), f"the gold solution has no {' or '.join(wanted)} in solution/.")


def _refuse_unknown_breaks(entry: ProblemFile, document: LocatedDocument) -> None:
    ids = [one.id for one in entry.requirements]
    for place, mutant in enumerate(entry.mutants):
        for index, broken in enumerate(mutant.breaks):
            if broken not in ids:
                hint = did_you_mean(broken, ids)
                message = f"the mutant {mutant.name!r} breaks {broken!r}, which is no requirement.{hint}"
                raise _at(document, ("mutants", place, "breaks", index), message)


def _mutants(
    entry: ProblemFile, files: Mapping[str, bytes], solution: Mapping[str, bytes], document: LocatedDocument
) -> tuple[Mutant, ...]:
    _refuse_unknown_breaks(entry, document)
    there = {path.split("/")[1] for path in files if path.startswith("mutants/")}
    listed = {mutant.name for mutant in entry.mutants}
    if stray := sorted(there - listed):
        hint = did_you_mean(stray[0], listed)
        raise _at(document, ("mutants",), f"mutants/{stray[0]} is there, but not listed here.{hint}")
    return tuple(_mutant(place, one, files, solution, document) for place, one in enumerate(entry.mutants))


def _mutant(
    place: int,
    entry: MutantEntry,
    files: Mapping[str, bytes],
    solution: Mapping[str, bytes],
    document: LocatedDocument,
) -> Mutant:
    """The whole program: the gold solution with the mutant's files laid over it."""
    changed = _below(files, f"mutants/{entry.name}/")
    location = ("mutants", place, "name")
    if not changed:
        raise _at(document, location, f"there are no files in mutants/{entry.name}.")
    same = [path for path, content in changed.items() if solution.get(path) == content]
    if len(same) == len(changed):
        raise _at(document, location, f"mutants/{entry.name} is the gold solution, unchanged.")
    return Mutant(entry.name, tuple(entry.breaks), entry.note, {**solution, **changed})
