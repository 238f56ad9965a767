"""Which checks a problem has: its test functions, found by reading the files, never by running them."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from pathlib import Path

from msgspec import Struct

from proctor.domain.errors import BenchmarkError
from proctor.domain.problem import CheckKind

FOLDERS: Mapping[CheckKind, str] = {
    CheckKind.VISIBLE: "tests/visible",
    CheckKind.UNIT: "tests/hidden/unit",
    CheckKind.INTEGRATION: "tests/hidden/integration",
    CheckKind.PROPERTY: "tests/hidden/property",
}


class FoundCheck(Struct, frozen=True):
    """A test function and where it stands."""

    name: str
    kind: CheckKind
    path: str
    line: int
    uses_program: bool


def find_checks(folder: Path) -> dict[str, FoundCheck]:
    """Every test function of a problem by its name without `test_`; a name that is there twice is refused."""
    found: dict[str, FoundCheck] = {}
    for kind, below in FOLDERS.items():
        for path in sorted((folder / below).glob("**/test_*.py")):
            for check in _checks_in(path, path.relative_to(folder).as_posix(), kind):
                if (other := found.get(check.name)) is not None:
                    raise BenchmarkError(
                        f"{folder.name}/{check.path}:{check.line}: there is already a test_{check.name}, in "
                        f"{other.path}:{other.line}; each check has a name of its own."
                    )
                found[check.name] = check
    return found


def _checks_in(path: Path, name: str, kind: CheckKind) -> Iterator[FoundCheck]:
    label = f"{path.parents[len(Path(name).parts) - 1].name}/{name}"
    try:
        tree = ast.parse(path.read_bytes(), filename=name)
    except (SyntaxError, ValueError) as fault:
        line = getattr(fault, "lineno", None) or 1
        raise BenchmarkError(f"{label}:{line}: this is not Python: {getattr(fault, 'msg', fault)}.") from fault
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and node.name.startswith("Test"):
            raise BenchmarkError(f"{label}:{node.lineno}: {node.name}: checks are plain functions, not classes.")
        if isinstance(node, ast.AsyncFunctionDef) and node.name.startswith("test_"):
            raise BenchmarkError(f"{label}:{node.lineno}: {node.name}: checks are plain functions, not async ones.")
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
            arguments = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
            has_program = any(argument.arg == "program" for argument in arguments)
            yield FoundCheck(node.name.removeprefix("test_"), kind, name, node.lineno, has_program)
