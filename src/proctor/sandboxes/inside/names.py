"""Whose names the tests use: their own and Python's come from the judge's side, whatever the submission defines."""

from __future__ import annotations

import ast
import builtins
import importlib
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

_ALIASES = {"np": "numpy", "pd": "pandas"}


class TestNames:
    """The names in these test texts; `remote` are those that are meant to come from the submission."""

    __test__ = False  # no test, whatever collects them

    def __init__(self, sources: Sequence[str], remote: Mapping[str, str]) -> None:
        trees = [ast.parse(source) for source in sources]
        self._remote = remote
        self._bound = {name for tree in trees for node in tree.body for name in _bound_by(node)}
        self._modules: set[str] = set().union(*map(_used_as_modules, trees)) - set(remote)

    def is_trusted(self, name: str) -> bool:
        """Whether `from solution import *` must leave this name alone."""
        is_ours = name in self._bound or name in self._modules or hasattr(builtins, name)
        return is_ours and name not in self._remote

    def modules(self, space: Mapping[str, Any]) -> dict[str, Any]:
        """The modules of Python that the tests use without importing them, where nothing of theirs has the name."""
        found = {}
        for name in self._modules - self._bound - set(space):
            try:
                found[name] = importlib.import_module(_ALIASES.get(name, name))
            except ImportError:
                continue
        return found


def _bound_by(node: ast.stmt) -> Iterator[str]:
    """The names a statement at the top level binds; a star binds none by name."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        yield node.name
    elif isinstance(node, ast.Import | ast.ImportFrom):
        yield from ((alias.asname or alias.name).partition(".")[0] for alias in node.names if alias.name != "*")
    elif isinstance(node, ast.Assign | ast.AnnAssign):
        for inner in ast.walk(node):
            if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Store):
                yield inner.id


def _used_as_modules(tree: ast.Module) -> set[str]:
    """Names of Python's own modules that are only ever used as `name.something`."""
    uses = [node for node in ast.walk(tree) if isinstance(node, ast.Name)]
    owners = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    known = {node.id for node in uses if node.id in sys.stdlib_module_names or node.id in _ALIASES}
    return known - {node.id for node in uses if id(node) not in owners}
