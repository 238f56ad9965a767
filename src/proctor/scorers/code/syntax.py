"""What a piece of Python text defines and uses, without running it."""

from __future__ import annotations

import ast
import builtins
import warnings
from collections.abc import Iterator, Sequence

MAX_PARSED = 512 * 1024
_FREE_CHARACTERS, _TIMES = 4_000_000, 32
MAX_TRIMS = 400


def parse(text: str) -> ast.Module | None:
    """The syntax tree, or None for anything that is not Python."""
    return _parse(text)[0]


def _parse(text: str) -> tuple[ast.Module | None, int | None]:
    """The syntax tree, or the line of the first mistake where that is known."""
    if len(text) > MAX_PARSED or "\0" in text:
        return None, None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # an odd escape in an answer is not our business
            return ast.parse(text), None
    except SyntaxError as error:
        return None, error.lineno
    except (ValueError, RecursionError, MemoryError):
        return None, None


class PrefixParser:
    """Looks for the lines of an answer that parse; reads no more, in all, than a multiple of the answer's length."""

    def __init__(self, length: int) -> None:
        self._left = _FREE_CHARACTERS + _TIMES * length

    def prefixes(self, lines: Sequence[str], before: str = "") -> Iterator[tuple[int, str, ast.Module]]:
        """The prefixes that parse with the text before them, longest first: how many lines, the text, and its tree.

        As many lines may be left out as `MAX_TRIMS`.
        """
        ahead = before.count("\n")
        end, least = len(lines), max(0, len(lines) - MAX_TRIMS)
        while end > least:
            text = before + "\n".join(lines[:end])
            self._left -= len(text)
            if self._left < 0:
                return
            tree, mistake = _parse(text)
            if tree is not None:
                yield end, text, tree
            # A parser reads from the start: whatever still has the line of the first mistake fails at it again.
            end = min(end - 1, mistake - ahead - 1) if mistake is not None else end - 1


def _targets(node: ast.expr) -> list[str]:
    if isinstance(node, ast.Name):
        return [node.id]
    if isinstance(node, ast.Tuple | ast.List):
        return [name for element in node.elts for name in _targets(element)]
    return []


def defined_names(tree: ast.Module) -> set[str]:
    """Names bound at the top level."""
    names: set[str] = set()
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.Assign):
            names.update(name for target in node.targets for name in _targets(target))
        elif isinstance(node, ast.AnnAssign):
            names.update(_targets(node.target))
        elif isinstance(node, ast.Import | ast.ImportFrom):
            names.update((alias.asname or alias.name).partition(".")[0] for alias in node.names)
    return names


def functions_and_classes(tree: ast.Module) -> list[str]:
    return [node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)]


def only_defines(tree: ast.Module) -> bool:
    """Whether running it only defines functions and classes, and calls none of them."""
    ignored = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    body = [node for node in tree.body if not (isinstance(node, ast.If) and "__name__" in used_names(node.test))]
    return bool(functions_and_classes(tree)) and all(isinstance(node, ignored) for node in body)


def imported_names(tree: ast.Module | None) -> dict[str, str]:
    """Names that imports at the top level bind, each with the statement that binds it alone."""
    found: dict[str, str] = {}
    for node in tree.body if tree is not None else ():
        if isinstance(node, ast.Import):
            for alias in node.names:
                found[(alias.asname or alias.name).partition(".")[0]] = ast.unparse(ast.Import([alias]))
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                one = ast.ImportFrom(node.module, [alias], node.level)
                found[alias.asname or alias.name] = ast.unparse(one)
    return found


def used_names(tree: ast.AST) -> set[str]:
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}


def missing_names(tree: ast.Module) -> set[str]:
    """Names used and bound nowhere in the text."""
    bound = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    bound |= {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}
    return used_names(tree) - bound - defined_names(tree) - set(dir(builtins))


def method_owner(tree: ast.Module, name: str) -> str | None:
    """The top-level class that has this method: answers written for a site that wants `class Solution`."""
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            for inner in node.body:
                if isinstance(inner, ast.FunctionDef) and inner.name == name:
                    return node.name
    return None


def has_stray_return(tree: ast.Module) -> bool:
    """A `return` outside every function: the sign that a body was cut from its function."""
    waiting: list[ast.AST] = list(tree.body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Return):
            return True
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            waiting += ast.iter_child_nodes(node)
    return False
