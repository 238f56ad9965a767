"""Names that a reader can guess: one class to a name, and limits by the words that everybody greps for."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from pathlib import Path

import proctor

SOURCE = Path(proctor.__file__).parent
FILES = [path for path in sorted(SOURCE.rglob("*.py")) if "catalog" not in path.relative_to(SOURCE).parts]
GUESSED_BY_NOBODY = re.compile(r"(^|_)(MOST|LARGEST|LONGEST|DEEPEST|FEWEST)(_|$)")


def test_limits_are_called_max_and_min() -> None:
    named = (
        (path, node.id)
        for path in FILES
        for node in ast.walk(ast.parse(path.read_bytes()))
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    )
    assert [(path, name) for path, name in named if GUESSED_BY_NOBODY.search(name)] == []


def test_a_public_class_has_its_name_alone() -> None:
    found: dict[str, list[Path]] = defaultdict(list)
    for path in FILES:
        for node in ast.walk(ast.parse(path.read_bytes())):
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                found[node.name].append(path)
    assert {name: paths for name, paths in found.items() if len(paths) > 1} == {}
