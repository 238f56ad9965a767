"""An adapter's own settings: from a plan or a query string into a typed value, with mistakes named."""

from __future__ import annotations

import json
import shlex
import types
from collections.abc import Mapping
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints
from urllib.parse import urlsplit

from msgspec import Struct

from proctor.domain.errors import PlanError, did_you_mean
from proctor.domain.identity import digest
from proctor.domain.plan import Sampling

T = TypeVar("T", bound=Struct)
TRUE = frozenset({"true", "yes", "on", "1"})
FALSE = frozenset({"false", "no", "off", "0"})


class NoSettings(Struct, frozen=True):
    """For an adapter that has none."""


def read_settings(kind: type[T], given: Mapping[str, Any], provider: str) -> T:
    """The settings as a value of `kind`, a struct whose fields all have defaults."""
    hints = get_type_hints(kind)
    known = kind.__struct_fields__
    values = {}
    for name, value in given.items():
        if name not in known:
            hint = did_you_mean(name, [*known, *Sampling.__struct_fields__])
            has = f"It has: {', '.join(known)}." if known else "It has none."
            raise PlanError(f"{provider} has no setting {name!r}.{hint} {has}")
        values[name] = _converted(value, hints[name], f"{provider}: the setting {name!r}")
    return kind(**values)


def _converted(value: Any, hint: Any, where: str) -> Any:
    """The value as its type; text is converted, because a query string holds nothing else."""
    if get_origin(hint) in (Union, types.UnionType):
        if value is None:
            return None
        hint = next(arm for arm in get_args(hint) if arm is not type(None))
    if get_origin(hint) is Literal:
        if value in get_args(hint):
            return value
        allowed = ", ".join(repr(choice) for choice in get_args(hint))
        raise PlanError(f"{where} must be one of {allowed}, not {value!r}.{did_you_mean(str(value), get_args(hint))}")
    converter = _CONVERTERS.get(get_origin(hint) or hint)
    try:
        if converter is not None:
            return converter(value)
    except (TypeError, ValueError):
        pass
    words = {
        bool: "true or false",
        int: "a whole number",
        float: "a number",
        str: "text",
        tuple: "a list",
        list: "a list",
    }
    expected = words.get(get_origin(hint) or hint, "a mapping")
    raise PlanError(f"{where} must be {expected}, not {value!r}.")


def _boolean(value: Any) -> bool:
    text = str(value).lower()
    if text in TRUE or text in FALSE:
        return text in TRUE
    raise ValueError(text)


def _integer(value: Any) -> int:
    if isinstance(value, bool) or (isinstance(value, float) and value != int(value)):
        raise ValueError(value)
    return int(value)


def _number(value: Any) -> float:
    if isinstance(value, bool):
        raise ValueError(value)
    return float(value)


def _text(value: Any) -> str:
    if isinstance(value, (dict, list, bool)) or value is None:
        raise ValueError(value)
    return str(value)


def _mapping(value: Any) -> dict[str, Any]:
    found = json.loads(value) if isinstance(value, str) else value  # a query string holds it as JSON
    if not isinstance(found, Mapping):
        raise ValueError(value)
    return dict(found)


def _texts(value: Any) -> tuple[str, ...]:
    """A list, also as JSON, or text with commas."""
    items = value
    if isinstance(value, str):
        items = json.loads(value) if value.startswith("[") else value.split(",")
    if not isinstance(items, (list, tuple)):
        raise ValueError(value)
    return tuple(_text(item).strip() for item in items)


def _arguments(value: Any) -> list[str]:
    """A list, or text as a shell would split it."""
    items = shlex.split(value) if isinstance(value, str) else value
    if not isinstance(items, (list, tuple)):
        raise ValueError(value)
    return [_text(item) for item in items]


_CONVERTERS: dict[Any, Any] = {
    bool: _boolean,
    int: _integer,
    float: _number,
    str: _text,
    dict: _mapping,
    tuple: _texts,
    list: _arguments,
}


def version_of(version: str, settings: object, *deciding: str) -> str:
    """An adapter's version, with those of the settings that can change an answer and were not left alone."""
    usual = type(settings)()
    changed = [name for name in deciding if getattr(settings, name) != getattr(usual, name)]
    return ";".join([version, *(f"{name}={_brief(getattr(settings, name))}" for name in changed)])


def _brief(value: Any) -> str:
    return str(value) if isinstance(value, (str, int, float)) else digest(value)


def clean_url(url: str, provider: str, setting: str = "base_url") -> str:
    """The address without a trailing slash; one that cannot be used, or that holds a password, is refused."""
    try:
        parts = urlsplit(url.strip())
        is_usable = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        is_usable = False
    if not is_usable:
        raise PlanError(f"{provider}: {setting} must start with http:// or https:// and name a host, not {url!r}.")
    if parts.username is not None or parts.password is not None:
        raise PlanError(f"{provider}: {setting} must hold no user name or password; keys come from the environment.")
    return url.strip().rstrip("/")
