"""Jinja2 for templates that strangers wrote: its environments, and which templates cannot grow out of hand."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from importlib import import_module
from typing import Any, Literal

from proctor.domain.errors import TemplateLimitError
from proctor.prompts.json_input import JsonObject

Flavour = Literal["benchmark", "harness", "request"]
"""What a template is for: a benchmark file, a task file of the evaluation harness, an HTTP request."""
PATTERN_SECONDS = 2.0
MAX_LOOPS_DEEP = 1
MAX_TEXT_LENGTH = 10_000_000
"""Characters of what a template may become."""
_PLAIN_FILTERS = frozenset({
    "capitalize", "d", "default", "e", "escape", "first", "float", "int", "last", "length", "list", "lower", "string",
    "title", "tojson", "trim", "upper",
})  # fmt: skip
_FILTERS_WITH_CONSTANTS = frozenset({"d", "default", "join"})
_PLAIN_METHODS = frozenset({
    "capitalize", "endswith", "get", "index", "isdigit", "items", "keys", "lower", "lstrip", "rstrip", "split",
    "startswith", "strip", "title", "upper", "values",
})  # fmt: skip


@cache
def environment_of(flavour: Flavour) -> Any:
    """Nothing with underscores is reached, nothing is changed, and nothing undefined is left out."""
    from jinja2 import StrictUndefined

    made = _environment_type()(undefined=StrictUndefined, keep_trailing_newline=flavour == "harness")
    if flavour == "benchmark":
        made.globals.clear()
    made.globals.pop("lipsum", None)  # rendering depends on nothing but the variables
    if flavour == "harness":
        made.filters["regex_replace"] = _replace
    return made


@cache
def _environment_type() -> Any:
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    class Environment(ImmutableSandboxedEnvironment):
        def getattr(self, obj: Any, attribute: str) -> Any:
            """A field of a JSON input goes before a method of its name (`items`)."""
            if isinstance(obj, JsonObject):
                if attribute in obj:
                    return obj[attribute]
                if not hasattr(obj, attribute):
                    fields = ", ".join(list(obj)[:15]) or "none"
                    hint = f"the object has no field {attribute!r}; it has: {fields}"
                    return self.undefined(hint, obj=obj, name=attribute)
            return super().getattr(obj, attribute)

    return Environment


def _replace(text: str, pattern: str, new: str = "", count: int = 0) -> str:
    """The harness's own filter, with the `regex` package's time limit: a stranger's pattern may not hang the run."""
    regex = import_module("regex")
    try:
        return str(regex.sub(pattern, new, text, count=count, timeout=PATTERN_SECONDS))
    except (TimeoutError, regex.error) as fault:
        raise ValueError(f"the pattern {pattern!r:.60} cannot be used: {fault}") from fault


def unknown_names(tree: Any, flavour: Flavour) -> list[str]:
    """Filters and tests that there are none of."""
    from jinja2 import nodes

    known = environment_of(flavour)
    filters = [f"filter {node.name!r}" for node in tree.find_all(nodes.Filter) if node.name not in known.filters]
    return filters + [f"test {node.name!r}" for node in tree.find_all(nodes.Test) if node.name not in known.tests]


def is_bounded(tree: Any) -> bool:
    """Whether what it takes to fill in a template grows no faster than the template and its data.

    Only a few parts of the language are known to be so; whatever else is used, it is filled in elsewhere.
    """
    return all(_is_plain(node, deep=0) for node in tree.body)


def _is_plain(node: Any, deep: int) -> bool:
    from jinja2 import nodes

    if isinstance(node, nodes.For):
        if deep == MAX_LOOPS_DEEP or node.recursive:
            return False
        return all(_is_plain(child, deep + 1) for child in node.iter_child_nodes())
    if isinstance(node, nodes.Assign):
        # Of values that are put together again and again, the length doubles each time.
        return _is_constant(node.node) or isinstance(node.node, nodes.Name | nodes.Getattr | nodes.Getitem)
    if isinstance(node, nodes.Filter):
        known = _FILTERS_WITH_CONSTANTS if node.args else _PLAIN_FILTERS
        is_known = node.name in known and all(map(_is_constant, node.args))
        return is_known and not node.kwargs and _children(node, deep)
    if isinstance(node, nodes.Call):
        return _is_plain_call(node, deep)
    if isinstance(node, nodes.Test):
        return node.name in ("defined", "undefined", "none", "string", "number") and _children(node, deep)
    return isinstance(node, _plain_nodes()) and _children(node, deep)


def _children(node: Any, deep: int) -> bool:
    return all(_is_plain(child, deep) for child in node.iter_child_nodes())


def _is_plain_call(node: Any, deep: int) -> bool:
    from jinja2 import nodes

    called = node.node
    if not isinstance(called, nodes.Getattr) or node.kwargs or node.dyn_args or node.dyn_kwargs:
        return False
    if called.attr == "join" and isinstance(called.node, nodes.Const):
        return all(_is_plain(argument, deep) for argument in node.args)
    is_known = called.attr in _PLAIN_METHODS and all(isinstance(argument, nodes.Const) for argument in node.args)
    return is_known and _is_plain(called.node, deep)


def _is_constant(node: Any) -> bool:
    from jinja2 import nodes

    kinds = (nodes.Const, nodes.List, nodes.Tuple, nodes.Dict, nodes.Pair)
    return isinstance(node, kinds) and all(_is_constant(child) for child in node.iter_child_nodes())


@cache
def _plain_nodes() -> tuple[type, ...]:
    from jinja2 import nodes

    return (
        nodes.Add, nodes.And, nodes.Compare, nodes.Concat, nodes.CondExpr, nodes.Const, nodes.Dict, nodes.Getattr,
        nodes.Getitem, nodes.If, nodes.Keyword, nodes.List, nodes.Name, nodes.Neg, nodes.Not, nodes.Operand, nodes.Or,
        nodes.Output, nodes.Pair, nodes.Slice, nodes.Sub, nodes.TemplateData, nodes.Tuple,
    )  # fmt: skip


def join_pieces(pieces: Iterable[str]) -> str:
    """The text that a template becomes; raises TemplateLimitError when it is too long."""
    joined, length = [], 0
    for piece in pieces:
        length += len(piece)
        if length > MAX_TEXT_LENGTH:
            raise TemplateLimitError(f"it becomes longer than {MAX_TEXT_LENGTH:,} characters")
        joined.append(piece)
    return "".join(joined)
