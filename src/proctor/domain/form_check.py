"""What is written unusually or wrongly, read with Pydantic: it knows what can be meant, and says what cannot."""

from __future__ import annotations

from functools import cache, reduce
from operator import or_
from types import UnionType
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin

import msgspec
import pydantic
from msgspec.structs import FieldInfo, fields

from proctor.domain.fields import After, Before, Bounds, Frozen, InvalidValueError, OneOf, fields_of

F = TypeVar("F", bound=Frozen)
_KINDS: dict[type[pydantic.BaseModel], type[Frozen]] = {}
"""The class that a model was made for."""


def read_thoroughly(kind: type[F], value: object) -> F:
    """What was written, as a value of the class; raises InvalidValueError that lists all mistakes."""
    try:
        read = model_of(kind).model_validate(value)
    except pydantic.ValidationError as error:
        found = [dict(detail) for detail in error.errors(include_url=False)]
        raise InvalidValueError(found, "; ".join(str(detail["msg"]) for detail in found)) from None
    return _value_of(kind, read)


@cache
def model_of(kind: type[Frozen]) -> type[pydantic.BaseModel]:
    """A Pydantic model with the fields of a class, their bounds and their checks."""
    hints = dict(fields_of(kind).values())

    def prepare(value: object) -> object:
        value = kind.prepare(value)
        if isinstance(value, kind):
            return {one.encode_name: getattr(value, one.name) for one in fields(kind)}
        return value

    def check(read: pydantic.BaseModel) -> pydantic.BaseModel:
        _value_of(kind, read).check()
        return read

    validators: dict[str, Any] = {
        "prepare": pydantic.model_validator(mode="before")(prepare),
        "check": pydantic.model_validator(mode="after")(check),
    }
    definitions: dict[str, Any] = {one.name: (_hint_of(hints[one.name]), _field_of(one, kind)) for one in fields(kind)}
    model: type[pydantic.BaseModel] = pydantic.create_model(
        kind.__name__,
        __config__=pydantic.ConfigDict(frozen=True, extra="forbid", protected_namespaces=()),
        __validators__=validators,
        **definitions,
    )
    _KINDS[model] = kind
    return model


def _field_of(one: FieldInfo, kind: type[Frozen]) -> Any:
    alias = None if one.encode_name == one.name else one.encode_name
    named: dict[str, Any] = {"alias": alias, "repr": one.name not in kind.HIDDEN}
    if one.required:
        return pydantic.Field(**named)
    if one.default_factory is msgspec.NODEFAULT:
        return pydantic.Field(default=one.default, **named)
    return pydantic.Field(default_factory=one.default_factory, **named)


def _hint_of(hint: Any) -> Any:
    """The annotation with Pydantic's models and marks in the place of ours."""
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Annotated:
        inner, *marks = arguments
        named = next((mark for mark in marks if isinstance(mark, OneOf)), None)
        if named is not None:
            return _one_of(named)
        bounds = {name: value for mark in marks if isinstance(mark, Bounds) for name, value in mark.given.items()}
        made = Annotated[_hint_of(inner), pydantic.Field(**bounds)] if bounds else _hint_of(inner)
        for mark in marks:
            if not isinstance(mark, Bounds):
                made = Annotated[made, _mark_of(mark)]
        return made
    if origin in (Union, UnionType):
        return reduce(or_, map(_hint_of, arguments))
    if origin is None or origin is Literal:
        return model_of(hint) if isinstance(hint, type) and issubclass(hint, Frozen) else hint
    return origin[tuple(_hint_of(part) for part in arguments)]


def _mark_of(mark: Before | After) -> Any:
    return pydantic.BeforeValidator(mark.change) if isinstance(mark, Before) else pydantic.AfterValidator(mark.check)


def _one_of(mark: OneOf) -> Any:
    arms = [Annotated[_hint_of(form), pydantic.Tag(name)] for name, form in mark.forms]
    return Annotated[reduce(or_, arms), pydantic.Discriminator(mark.kind_of)]


def _value_of(kind: type[F], read: pydantic.BaseModel) -> F:
    return kind(**{one.name: _converted(getattr(read, one.name)) for one in fields(kind)})


def _converted(part: Any) -> Any:
    if isinstance(part, pydantic.BaseModel):
        return _value_of(_KINDS[type(part)], part)
    if isinstance(part, list | tuple):
        return type(part)(_converted(one) for one in part)
    return part
