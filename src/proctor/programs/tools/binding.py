"""What a name in a Python file means: the built-in function, one of the file's own, or a type that is asked for."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Mapping

_UNDOING_NAMES = frozenset({"globals", "vars", "locals", "delattr"})
_UNDOING_ATTRIBUTES = frozenset({"__dict__", "__globals__", "f_globals", "f_locals"})
_PLAIN = (ast.Name, ast.Attribute, ast.Tuple, ast.BinOp, ast.BitOr, ast.Subscript, ast.Constant, ast.expr_context)


def own_names(tree: ast.Module, builtin: Collection[str]) -> set[str]:
    """Those of the built-in names that always mean something of the file's own.

    Bound at the top level before any use, in a file that nowhere takes a name away: the built-in one would be back.
    """
    if any(_may_undo(node, builtin) for node in ast.walk(tree)):
        return set()
    bound = {name: node.lineno for node in reversed(tree.body) for name in _bound_by(node) if name in builtin}
    uses = [(node.id, node.lineno) for node in ast.walk(tree) if isinstance(node, ast.Name)]
    return {name for name, line in bound.items() if all(used > line for other, used in uses if other == name)}


def _bound_by(node: ast.stmt) -> Iterator[str]:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        yield node.name
    elif isinstance(node, ast.ImportFrom) and node.module != "builtins":
        yield from (alias.asname or alias.name for alias in node.names)


def _may_undo(node: ast.AST, names: Collection[str]) -> bool:
    if isinstance(node, ast.Delete):
        taken = [getattr(target, "id", getattr(target, "attr", None)) for target in node.targets]
        return any(name in names for name in taken)
    if isinstance(node, ast.ExceptHandler):  # its name is gone when it ends
        return node.name in names
    if isinstance(node, ast.Attribute):
        return node.attr in _UNDOING_ATTRIBUTES
    return isinstance(node, ast.Name) and node.id in _UNDOING_NAMES


def names_from(tree: ast.Module, modules: Mapping[str, Collection[str]]) -> dict[str, str]:
    """Names here -> what they are of these modules' members; a star brings all of them."""
    return {
        alias.asname or name: f"{node.module}.{name}"
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
        for name in modules.get(node.module or "", ())
        if alias.name in (name, "*")
    }


def asked_types(tree: ast.Module) -> set[int]:
    """The nodes of types that a value is only compared with, or that an annotation names: they make nothing."""
    found: set[int] = set()
    for node in ast.walk(tree):
        for part in filter(None, _types_in(node)):
            inner = list(ast.walk(part))
            if all(isinstance(one, _PLAIN) for one in inner):
                found.update(map(id, inner))
    return found


def _types_in(node: ast.AST) -> list[ast.expr | None]:
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("isinstance", "issubclass"):
        return [*node.args[1:2]]
    if isinstance(node, ast.arg | ast.AnnAssign):
        return [node.annotation]
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        return [node.returns]
    return []
