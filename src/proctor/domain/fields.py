"""What the fields of a plan are made of: numbers as they were written, lists that hold something."""

import json
import math
import re
from collections.abc import Callable, Mapping
from decimal import Decimal
from functools import cache
from types import NoneType, UnionType
from typing import Annotated, Any, ClassVar, Literal, Self, TypeVar, Union, get_args, get_origin, get_type_hints

import msgspec
import orjson
from msgspec import Struct
from msgspec.structs import fields, replace

T = TypeVar("T")
MAX_NUMBER = 2**63 - 1
"""JSON of any size is not read by everybody."""
_SCALARS = (str, int, float, bool, Decimal)


class Before(Struct, frozen=True):
    """Changes what was written before it is looked at; raises ValueError for what can be nothing."""

    change: Callable[[Any], object]


class After(Struct, frozen=True):
    """Looks at a value of the right type; raises ValueError for one that will not do."""

    check: Callable[[Any], Any]


class Bounds(Struct, frozen=True):
    """What a number, a text or a list may be."""

    ge: float | None = None
    gt: float | None = None
    le: float | None = None
    min_length: int | None = None
    max_length: int | None = None
    pattern: str | None = None

    @property
    def given(self) -> dict[str, Any]:
        return {name: value for name in self.__struct_fields__ if (value := getattr(self, name)) is not None}

    def hold(self, value: Any) -> bool:
        """Whether a value is surely within them."""
        if value is None:
            return True
        if self.pattern is not None and not (value.isascii() and re.fullmatch(self.pattern, value)):
            return False
        if self.min_length is not None or self.max_length is not None:
            return (self.min_length or 0) <= len(value) <= (self.max_length or len(value))
        is_low = (self.ge is not None and not value >= self.ge) or (self.gt is not None and not value > self.gt)
        return not is_low and (self.le is None or bool(value <= self.le))


class OneOf(Struct, frozen=True):
    """Tells by what was written which of several forms was meant, so that a mistake is explained in its terms."""

    kind_of: Callable[[object], str]
    forms: tuple[tuple[str, Any], ...]


class InvalidValueError(ValueError):
    """What was written does not fit; `errors` has an entry for each mistake, as Pydantic lists them."""

    def __init__(self, errors: list[dict[str, Any]], message: str) -> None:
        super().__init__(message)
        self.errors = errors


class UnusualValueError(Exception):
    """A value is not plainly what is wanted: whether it can be, and what is wrong with it, is found out thoroughly."""


class Frozen(Struct, frozen=True, kw_only=True):
    """A part of a plan: it does not change, and has no fields beside those it names.

    Modules with such structs evaluate their annotations, which `read_plain` goes by. Its methods are called as those of
    Pydantic's models: what is written unusually, or wrongly, `form_check` reads with a model of the same fields.
    """

    HIDDEN: ClassVar[frozenset[str]] = frozenset()
    """Fields that programs fill: people are not told of them."""

    @classmethod
    def model_validate(cls, value: object) -> Self:
        """What was written, as a value of this class; raises InvalidValueError that lists all mistakes."""
        try:
            return cls.read_plain(value)
        except (UnusualValueError, ValueError, TypeError):
            from proctor.domain.form_check import read_thoroughly  # importing Pydantic takes as long as a small run

            return read_thoroughly(cls, value)

    @classmethod
    def model_validate_json(cls, text: str | bytes) -> Self:
        return cls.model_validate(orjson.loads(text))

    @classmethod
    def read_plain(cls, value: object) -> Self:
        """The same for what is exactly of the types of the fields; raises an error for anything else."""
        value = cls.prepare(value)
        if isinstance(value, cls):
            return value
        if type(value) is not dict:
            raise UnusualValueError
        hints, found = fields_of(cls), {}
        for written, part in value.items():
            if written not in hints:
                raise UnusualValueError
            name, hint = hints[written]
            found[name] = read_plain(hint, part)
        made = cls(**found)
        made.check()
        return made

    @classmethod
    def prepare(cls, value: object) -> object:
        """What was written, as a mapping of the fields; raises ValueError for what can be none."""
        return value

    def check(self) -> None:
        """Raises ValueError where the fields contradict each other."""

    def is_written(self, name: str) -> bool:  # noqa: ARG002
        """Whether a field is in what `model_dump` gives."""
        return True

    def model_copy(self, *, update: Mapping[str, Any]) -> Self:
        return replace(self, **update)

    def model_dump(
        self,
        *,
        exclude: frozenset[str] | set[str] = frozenset(),
        exclude_none: bool = False,
        exclude_defaults: bool = False,
    ) -> dict[str, Any]:
        """The fields by name, those of its parts as well; `exclude` is about its own."""
        found = {}
        for one in fields(self):
            name, value = one.name, getattr(self, one.name)
            if name in exclude or not self.is_written(name):
                continue
            if exclude_none and value is None:
                continue
            if exclude_defaults and not one.required and value == _default_of(one):
                continue
            found[name] = _dumped(value, exclude_none=exclude_none, exclude_defaults=exclude_defaults)
        return found

    def as_json(self, *, exclude_defaults: bool = False) -> dict[str, Any]:
        """The same in the types that JSON has."""
        found: dict[str, Any] = json.loads(self.model_dump_json(exclude_defaults=exclude_defaults))
        return found

    def model_dump_json(self, *, exclude_defaults: bool = False) -> str:
        values = self.model_dump(exclude_defaults=exclude_defaults)
        try:
            return msgspec.json.encode(values).decode()
        except OverflowError:  # of whole numbers beyond 64 bits
            return json.dumps(values, ensure_ascii=False, separators=(",", ":"), default=str)
        except TypeError as error:
            raise ValueError(f"it holds what JSON has no form for: {error}") from None


def _default_of(one: msgspec.structs.FieldInfo) -> object:
    return one.default if one.default_factory is msgspec.NODEFAULT else one.default_factory()


def _dumped(value: Any, *, exclude_none: bool, exclude_defaults: bool) -> Any:
    if isinstance(value, Frozen):
        return value.model_dump(exclude_none=exclude_none, exclude_defaults=exclude_defaults)
    if isinstance(value, tuple):
        return tuple(_dumped(part, exclude_none=exclude_none, exclude_defaults=exclude_defaults) for part in value)
    return value


@cache
def fields_of(kind: type[Frozen]) -> dict[str, tuple[str, Any]]:
    """By what people write: each field's name and annotation."""
    hints = get_type_hints(kind, include_extras=True)
    return {one.encode_name: (one.name, hints[one.name]) for one in fields(kind)}


def read_plain(hint: Any, value: Any) -> Any:
    """The value where it is exactly of the type; raises an error for anything else."""
    if hint is Any:
        return value
    if hint in _SCALARS:
        if type(value) is not hint:
            raise UnusualValueError
        if hint is str and not value.isascii():
            value.encode()  # half a surrogate pair is no text
        if hint is Decimal and not value.is_finite():
            raise UnusualValueError
        return value
    origin = get_origin(hint)
    if origin is Annotated:
        return _read_annotated(hint, value)
    if origin in (Union, UnionType):
        return _read_arm(get_args(hint), value)
    if origin in (list, tuple) and type(value) in (list, tuple):
        inner = get_args(hint)[0]
        return origin([read_plain(inner, part) for part in value])
    if origin is dict and type(value) is dict:
        of_keys, of_values = get_args(hint)
        return {read_plain(of_keys, key): read_plain(of_values, part) for key, part in value.items()}
    if origin is Literal and type(value) is str and value in get_args(hint):
        return value
    if isinstance(hint, type) and issubclass(hint, Frozen):
        return hint.read_plain(value)
    raise UnusualValueError


def _read_annotated(hint: Any, value: Any) -> Any:
    inner, *marks = get_args(hint)
    for mark in reversed(marks):
        if isinstance(mark, Before):
            value = mark.change(value)
    value = read_plain(inner, value)
    for mark in marks:
        if isinstance(mark, Bounds) and not mark.hold(value):
            raise UnusualValueError
        if isinstance(mark, After):
            value = mark.check(value)
    return value


def _read_arm(arms: tuple[Any, ...], value: Any) -> Any:
    """As the first of several types, none of which has a value in common with another."""
    if value is None and NoneType in arms:
        return None
    for arm in arms:
        if arm is not NoneType:
            try:
                return read_plain(arm, value)
            except (UnusualValueError, ValueError, TypeError):
                continue
    raise UnusualValueError


def some(value: tuple[T, ...]) -> tuple[T, ...]:
    """The list, which must not be empty."""
    if not value:
        raise ValueError("the list is empty: at least one is needed")
    return value


def as_written(value: object) -> int | float:
    """Text comes from a query string; true is no number, whatever Python says."""
    if isinstance(value, str):
        for kind in (int, float):
            try:
                value = kind(value)
                break
            except ValueError:
                continue
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise ValueError(f"{value!r} is not a number")
    if isinstance(value, int) and abs(value) > MAX_NUMBER:
        raise ValueError(f"the number must be between -{MAX_NUMBER:,} and {MAX_NUMBER:,}")
    return value


def _whole(value: object) -> object:
    if isinstance(value, bool):
        raise ValueError(f"{value!r} is not a whole number")
    return value


Number = Annotated[int | float, Before(as_written)]
"""0 stays 0 and 0.0 stays 0.0: options are sent as they were written."""
Whole = Annotated[int, Before(_whole), Bounds(ge=-MAX_NUMBER, le=MAX_NUMBER)]
