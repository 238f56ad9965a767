"""YAML that people write: read safely, with the line of everything, so that a mistake can be shown where it is."""

from __future__ import annotations

import typing
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from proctor.domain.errors import UserError, did_you_mean
from proctor.domain.text import storable

if TYPE_CHECKING:
    import pydantic
    import yaml

    from proctor.domain.fields import Frozen, InvalidValueError

    Mistakes = InvalidValueError | pydantic.ValidationError
    Form = type[Frozen] | type[pydantic.BaseModel]

MAX_BYTES = 4_000_000
MAX_LINES = 5
"""Of further mistakes that are named."""
MAX_DEPTH = 60
MAX_VALUES = 100_000
"""Values a document may have once its aliases are followed: an alias bomb has billions."""

Location = tuple[int | str, ...]


@dataclass(frozen=True, slots=True)
class LocatedDocument:
    """A document's value, its name for messages, and where its parts stand."""

    value: Any
    name: str
    error: type[UserError] = UserError
    _node: yaml.Node | None = field(default=None, repr=False, compare=False)

    def line_of(self, location: Sequence[int | str]) -> int:
        """The line, from 1, of the nearest part of the document on the way to `location`."""
        return self._follow(location)[0]

    def path_of(self, location: Sequence[int | str]) -> str:
        """`location` as people write it, without the steps that are not in the document."""
        return self._follow(location)[1]

    def _follow(self, location: Sequence[int | str]) -> tuple[int, str]:
        node, path = self._node, ""
        line = node.start_mark.line + 1 if node is not None else 1
        for last, step in zip(range(len(location), 0, -1), location, strict=True):
            found = _child(node, step)
            if found is None and last > 1:
                continue  # a step of the validator's own, such as the arm of a union
            if isinstance(step, int):
                path += f"[{step}]" if found is not None else ""
            elif found is not None or (_is_mapping(node) and step.isidentifier()):
                path += f".{step}" if path else step
            if found is not None:
                line, node = found
        return line, path


def load_yaml(source: Path | str, *, name: str | None = None, error: type[UserError] = UserError) -> LocatedDocument:
    """Read a file (a Path) or a text (a str); anything wrong is raised as `error`, with the line."""
    import yaml

    label = name or (str(source) if isinstance(source, Path) else "<text>")
    text = _read(source, label, error) if isinstance(source, Path) else source
    loader_class: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        _refuse_deep(text, loader_class, label, error)
        loader = loader_class(text)
        try:
            node = loader.get_single_node()
            if node is not None:
                _refuse_bombs_and_repeats(node, label, error)
            value = loader.construct_document(node) if node is not None else None
        finally:
            loader.dispose()
    except yaml.MarkedYAMLError as mistake:
        mark = mistake.problem_mark or mistake.context_mark
        where = f"{label}:{mark.line + 1}" if mark is not None else label
        reason = ", ".join(part for part in (mistake.context, mistake.problem) if part)
        raise error(f"{where}: this is not valid YAML: {' '.join(reason.split())}.") from mistake
    except (yaml.YAMLError, ValueError, OverflowError) as mistake:
        raise error(f"{label}: this is not valid YAML: {' '.join(str(mistake).split())}") from mistake
    return LocatedDocument(value, label, error, node)


_WANTED = {
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "string": "text",
    "list": "a list",
    "tuple": "a list",
    "dict": "a mapping (name: value)",
    "mapping": "a mapping (name: value)",
    "model": "a mapping (name: value)",
}
"""Kinds of values in the words of people who write YAML."""


def explain(mistake: Mistakes, document: LocatedDocument, model: Form | None = None) -> str:
    """One line about the first mistake: file, line, field, bad value, what is allowed; and where there are more."""
    (_, first), *rest = _by_line(mistake, document, model)
    if not rest:
        return first
    lines = list(dict.fromkeys(str(line) for line, _ in rest))
    where = f"line{'s' if len(lines) > 1 else ''} {', '.join(lines[:MAX_LINES])}{', …' if lines[MAX_LINES:] else ''}"
    return f"{first} ({len(rest)} more mistake{'s' if len(rest) > 1 else ''} in this file: {where}.)"


def mistakes(mistake: Mistakes, document: LocatedDocument, model: Form | None = None) -> list[str]:
    """One line for each mistake, in the order of the document, what is missing last; `model` allows suggestions."""
    return [text for _, text in _by_line(mistake, document, model)]


def _by_line(mistake: Mistakes, document: LocatedDocument, model: Form | None) -> list[tuple[int, str]]:
    """The same, each with its line in the file."""
    found: dict[tuple[bool, int, str], str] = {}
    for detail in _details(mistake):
        line, path = document.line_of(detail["loc"]), document.path_of(detail["loc"])
        head = f"{document.name}:{line}: " + (f"{path}: " if path else "")
        # A field that is missing has often been misspelt: the misspelling says more.
        found.setdefault((detail["type"] == "missing", line, path), head + _describe(detail, model))
    return [(key[1], found[key]) for key in sorted(found)]


def explain_value(mistake: Mistakes, model: Form | None = None) -> str:
    """One line about the first mistake in a value that came from no file: field, bad value, what is allowed."""
    detail = min(_details(mistake), key=lambda found: found["type"] == "missing")
    path = ""
    for step in detail["loc"]:
        if isinstance(step, int):
            path += f"[{step}]"
        elif step.isidentifier() and step not in ("int", "float"):  # the arms of a union are not fields
            path += f".{step}" if path else step
    return (f"{path}: " if path else "") + _describe(detail, model)


def explain_each(mistake: Mistakes, model: Form | None = None) -> list[tuple[Location, str]]:
    """Where each mistake in a value is that came from no file, and what is wrong there."""
    return [(detail["loc"], _describe(detail, model)) for detail in _details(mistake)]


def _details(mistake: Mistakes) -> list[dict[str, Any]]:
    found = mistake.errors
    return found if isinstance(found, list) else [dict(detail) for detail in found(include_url=False)]


def _describe(detail: dict[str, Any], model: Form | None) -> str:
    kind, given, context = detail["type"], detail["input"], detail.get("ctx", {})
    if kind == "extra_forbidden":
        known = _fields_at(model, detail["loc"][:-1]) if model is not None else []
        allowed = f" Allowed here: {', '.join(known)}." if known else ""
        return f"there is no field {detail['loc'][-1]!r}.{did_you_mean(str(detail['loc'][-1]), known)}{allowed}"
    if kind == "missing":
        return f"the field {detail['loc'][-1]!r} is missing."
    if kind in ("literal_error", "enum"):
        names = [part.strip(" '") for part in context.get("expected", "").replace(" or ", ", ").split(", ")]
        return f"{_show(given)} is not one of {', '.join(names)}.{did_you_mean(str(given), names)}"
    if wanted := _WANTED.get(kind.removesuffix("_parsing").removesuffix("_type").removesuffix("_from_float")):
        return f"{_show(given)} cannot be used: it must be {wanted}."
    if limit := _limit(kind, context):
        return f"{_show(given)} cannot be used: it must {limit}."
    message = detail["msg"].removeprefix("Value error, ").removesuffix(".")
    message = message[:1].lower() + message[1:] if message.startswith("Input should") else message
    message = message.replace("input should", "it must")
    if kind == "value_error" or (isinstance(given, str) and _show(given) in message):
        return _ended(message)
    return _ended(f"{_show(given)} cannot be used: {message}")


def _limit(kind: str, context: Mapping[str, Any]) -> str | None:
    """A limit that a value breaks, in our words; None for any other mistake."""
    bounds = {"greater_than": ("gt", "be above"), "greater_than_equal": ("ge", "be at least"),
              "less_than": ("lt", "be below"), "less_than_equal": ("le", "be at most")}  # fmt: skip
    if kind in bounds:
        name, words = bounds[kind]
        bound = context[name]
        return f"{words} {bound:g}" if isinstance(bound, float) else f"{words} {bound}"
    lengths = {"string_too_short": ("min_length", "at least", "character"),
               "string_too_long": ("max_length", "at most", "character"),
               "too_short": ("min_length", "at least", "entry"),
               "too_long": ("max_length", "at most", "entry")}  # fmt: skip
    if kind in lengths:
        name, words, noun = lengths[kind]
        count = context[name]
        several = {"character": "characters", "entry": "entries"}[noun]
        return f"have {words} {count:,} {noun if count == 1 else several}"
    if kind == "string_pattern_mismatch":
        return f"match the pattern {context['pattern']}"
    return "be a finite number" if kind == "finite_number" else None


def _ended(sentence: str) -> str:
    """With its full stop, unless it ends in a question of its own: "… Did you mean 'x'?"."""
    return sentence if sentence.endswith("?") else f"{sentence}."


def _show(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}…"


def _fields_at(model: Form, location: Location) -> list[str]:
    """The fields that people may write at a place inside a model; those that are hidden are for programs."""
    from pydantic import BaseModel

    from proctor.domain.fields import Frozen
    from proctor.domain.form_check import model_of

    models: list[Any] = [model_of(model) if issubclass(model, Frozen) else model]
    for step in location:
        found: list[Any] = []
        for candidate in models:
            fields = candidate.model_fields if issubclass(candidate, BaseModel) else {}
            if isinstance(step, str) and step in fields:
                found += _models_in(fields[step].annotation)
            elif isinstance(step, int) or candidate.__name__ == step:
                found.append(candidate)
        models = found or models
    found_fields = [one.model_fields for one in models[:1] if issubclass(one, BaseModel)]
    return [field.alias or name for fields in found_fields for name, field in fields.items() if field.repr]


def _models_in(annotation: Any) -> list[Any]:
    if hasattr(annotation, "model_fields"):
        return [annotation]
    return [model for argument in typing.get_args(annotation) for model in _models_in(argument)]


def _read(path: Path, label: str, error: type[UserError]) -> str:
    try:
        with path.open("rb") as file:
            content = file.read(MAX_BYTES + 1)
    except FileNotFoundError as missing:
        raise error(f"There is no file {label}.") from missing
    except OSError as fault:
        raise error(f"{label} cannot be read: {fault.strerror or fault}.") from fault
    if len(content) > MAX_BYTES:
        raise error(f"{label} is larger than {MAX_BYTES:,} bytes; that is too much for a file people write.")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as wrong:
        line = content.count(b"\n", 0, wrong.start) + 1
        raise error(f"{label}:{line}: this is not UTF-8 text; save the file as UTF-8.") from wrong


def _refuse_deep(text: str, loader: Any, label: str, error: type[UserError]) -> None:
    """Events come one by one, so this stays safe where building the tree would exhaust the stack."""
    import yaml

    depth = 0
    for event in yaml.parse(text, Loader=loader):
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
            if depth > MAX_DEPTH:
                line = event.start_mark.line + 1 if event.start_mark else 1
                raise error(f"{label}:{line}: nested more than {MAX_DEPTH} levels deep.")
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1


def _refuse_bombs_and_repeats(root: yaml.Node, label: str, error: type[UserError]) -> None:
    sizes: dict[int, int] = {}

    def size(node: yaml.Node) -> int:
        known = sizes.get(id(node))
        line = node.start_mark.line + 1
        if known == 0:
            raise error(f"{label}:{line}: an alias refers to the very part it stands in.")
        if known is not None:
            return known
        sizes[id(node)] = 0  # being counted: meeting it again is a loop
        _refuse_repeated_keys(node, label, error)
        if isinstance(node.value, str) and storable(node.value) is not node.value:
            raise error(f"{label}:{line}: a text holds NUL or half a surrogate pair, which cannot be stored.")
        total = 1 + sum(size(child) for child in _children(node))
        if total > MAX_VALUES:
            raise error(f"{label}:{line}: more than {MAX_VALUES:,} values once its aliases are followed.")
        sizes[id(node)] = total
        return total

    size(root)


def _refuse_repeated_keys(node: yaml.Node, label: str, error: type[UserError]) -> None:
    if not _is_mapping(node):
        return
    seen: dict[str, int] = {}
    for key, _ in node.value:
        line = key.start_mark.line + 1
        if isinstance(key.value, str) and key.value != "<<":
            if key.value in seen:
                raise error(f"{label}:{line}: {key.value!r} is given twice (first on line {seen[key.value]}).")
            seen[key.value] = line


def _children(node: yaml.Node) -> Iterator[yaml.Node]:
    if _is_mapping(node):
        for key, value in node.value:
            yield key
            yield value
    elif isinstance(node.value, list):
        yield from node.value


def _is_mapping(node: yaml.Node | None) -> bool:
    return getattr(node, "id", None) == "mapping"


def _child(node: yaml.Node | None, step: int | str) -> tuple[int, yaml.Node] | None:
    """The part one step further, with the line to show for it."""
    if node is None:
        return None
    if _is_mapping(node):
        for key, value in node.value:
            if key.value == str(step):
                return key.start_mark.line + 1, value
    elif getattr(node, "id", None) == "sequence" and isinstance(step, int) and step < len(node.value):
        child = node.value[step]
        return child.start_mark.line + 1, child
    return None


def as_mapping(document: LocatedDocument, what: str) -> Mapping[str, Any]:
    """The document's value when it is a mapping with text keys; `what` names what was expected."""
    value = document.value
    if not isinstance(value, Mapping):
        if value is None:
            raise document.error(f"{document.name}:1: the file is empty; {what} is a mapping (name: value).")
        raise document.error(f"{document.name}:1: {what} is a mapping (name: value), not {_show(value)}.")
    for key in value:
        if not isinstance(key, str):
            raise document.error(f"{document.name}:{document.line_of((str(key),))}: the key {key!r} is not text.")
    return value
