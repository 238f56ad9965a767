"""Whether a tool call's argument has one of the allowed values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from proctor.domain.message import Json

_KINDS: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "float": (float, int),
    "number": (float, int),
    "boolean": (bool,),
    "array": (list, tuple),
    "tuple": (list, tuple),
    "dict": (Mapping,),
    "object": (Mapping,),
}
_IGNORED = str.maketrans("", "", " ,./-_*^'\"")


def is_allowed(value: Json, allowed: Sequence[Json], schema: Mapping[str, Json]) -> bool:
    """The value has the parameter's type and is one of the allowed ones; texts are compared without case and signs."""
    options = [wanted for wanted in allowed if wanted != ""]
    # A variable's name may stand for a number: then the type of the allowed value counts, not the declared one.
    if not _has_type(value, schema) and not any(type(value) is type(option) for option in options):
        return False
    return (value == "" and "" in allowed) or any(_same(value, option) for option in options)


def _has_type(value: Json, schema: Mapping[str, Json]) -> bool:
    kinds = _KINDS.get(str(schema.get("type", "")))
    if kinds is None:  # 'any', or no type given
        return True
    if isinstance(value, bool) and bool not in kinds:
        return False
    if not isinstance(value, kinds):
        return False
    items = schema.get("items")
    if isinstance(value, list | tuple) and isinstance(items, Mapping):
        return all(_has_type(item, items) for item in value)
    return True


def _same(value: Json, wanted: Json) -> bool:
    if isinstance(value, str) and isinstance(wanted, str):
        return _folded(value) == _folded(wanted)
    if isinstance(value, Mapping) and isinstance(wanted, Mapping):
        return _same_mapping(value, wanted)
    if isinstance(value, list | tuple) and isinstance(wanted, list | tuple):
        return len(value) == len(wanted) and all(map(_same, value, wanted))
    if isinstance(value, bool) or isinstance(wanted, bool):
        return value is wanted
    return bool(value == wanted)


def _same_mapping(value: Mapping[str, Json], wanted: Mapping[str, Json]) -> bool:
    """Inside an object, too, each key has a list of allowed values, and an empty text makes it optional."""
    for key, options in wanted.items():
        listed = options if isinstance(options, list | tuple) else [options]
        if key not in value:
            if "" not in listed:
                return False
        elif not any(_same(value[key], option) for option in listed):
            return False
    return all(key in wanted for key in value)


def _folded(text: str) -> str:
    return text.translate(_IGNORED).lower()
