"""Docstrings and repeated code, by reading; run as a script of its own, because a parser can be made to crash.

Duplication is counted here and not by a tool, because none that is maintained reads Python and JavaScript alike:
pylint's reads Python only, jscpd needs a package registry.
"""

from __future__ import annotations

import ast
import json
import re
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

WINDOW = 60
"""Tokens that must be the same, one after the other, to be called a repetition."""
VARIED = 8
"""Fewer different tokens than this in a row are a table or a list of zeros, and repeat by nature."""
_TOKEN = re.compile(
    r"""(?P<comment>\#[^\n]*|//[^\n]*|/\*.*?\*/)|(?P<text>\"\"\".*?\"\"\"|'''.*?'''|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'"""
    r"""|`(?:\\.|[^`\\])*`)|(?P<other>\w+|[^\w\s])""",
    re.DOTALL,
)
_PYTHON_TOKEN = re.compile(_TOKEN.pattern.replace("|//[^\\n]*|/\\*.*?\\*/", ""), re.DOTALL)


def tokens(text: str, *, is_python: bool) -> list[tuple[str, int]]:
    """Every token but comments, with its line."""
    pattern = _PYTHON_TOKEN if is_python else re.compile(_TOKEN.pattern.replace(r"\#[^\n]*|", ""), re.DOTALL)
    found, line, at = [], 1, 0
    for match in pattern.finditer(text):
        line += text.count("\n", at, match.start())
        at = match.start()
        if match.lastgroup != "comment":
            found.append((match.group(), line))
    return found


def repeated(files: dict[str, str]) -> dict[str, Any]:
    """Lines that belong to a run of tokens which stands somewhere else as well."""
    workspaces: dict[tuple[str, ...], list[tuple[str, int]]] = defaultdict(list)
    read = {path: tokens(text, is_python=path.endswith(".py")) for path, text in files.items()}
    for path, stream in read.items():
        row = [word for word, _ in stream]
        for start in range(len(row) - WINDOW + 1):
            workspaces[tuple(row[start : start + WINDOW])].append((path, start))
    lines: set[tuple[str, int]] = set()
    for words, spots in workspaces.items():
        if len(spots) > 1 and len(set(words)) >= VARIED and _are_apart(spots):
            for path, start in spots:
                stream = read[path][start : start + WINDOW]
                lines.update((path, line) for _, line in stream)
    all_lines = {(path, line) for path, stream in read.items() for _, line in stream}
    worst: dict[str, int] = defaultdict(int)
    for path, _ in lines:
        worst[path] += 1
    return {"lines": len(all_lines), "repeated": len(lines), "by_file": dict(worst)}


def _are_apart(spots: list[tuple[str, int]]) -> bool:
    """Not one run that overlaps itself."""
    first_path, first = spots[0]
    return any(path != first_path or start - first >= WINDOW for path, start in spots[1:])


def docstrings(files: dict[str, str]) -> dict[str, Any]:
    """How many of the modules, public classes, functions and methods say what they are."""
    public = documented = 0
    missing = []
    for path, text in files.items():
        try:
            tree = ast.parse(text)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue
        for name, line, node in _described(tree):
            public += 1
            if ast.get_docstring(node, clean=False):
                documented += 1
            else:
                missing.append([path, line, name])
    return {"public": public, "documented": documented, "missing": missing}


def _described(tree: ast.Module) -> list[tuple[str, int, Any]]:
    found: list[tuple[str, int, Any]] = [("module", 1, tree)] if tree.body else []
    owners: list[Any] = [tree]
    while owners:
        for node in owners.pop().body:
            if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and not node.name.startswith(
                "_"
            ):
                found.append((node.name, node.lineno, node))
                if isinstance(node, ast.ClassDef):
                    owners.append(node)
    return found


def main(*paths: str) -> None:
    files = {path: Path(path).read_text(encoding="utf-8", errors="replace") for path in paths}
    python = {path: text for path, text in files.items() if path.endswith(".py")}
    print(json.dumps({"docstrings": docstrings(python), "duplication": repeated(files)}))  # noqa: T201  its answer


if __name__ == "__main__":
    main(*sys.argv[1:])
