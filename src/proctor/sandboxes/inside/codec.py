"""Values as tagged plain JSON: the only thing that crosses between judge and judged.

None, booleans, strings, numbers and lists are themselves; everything else is an object with one key, its tag. Values of
a subclass are reduced to their base type, so no method of the sender's ever runs at the receiver's. Containers that
can be changed are numbered in the order they are met, which keeps sharing, cycles and changes made in place.
"""

from __future__ import annotations

import builtins
import json
import math
import operator
from array import array
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterable, Iterator
from datetime import date, datetime, time, timedelta, timezone
from decimal import Decimal
from fractions import Fraction
from itertools import chain
from typing import Any

from .packing import MIN_LENGTH, packed, unpacked

MAX_DEPTH = 150
_BIG_INT_BITS = 10_000  # Python refuses to write longer ones in decimal
_PLAIN = frozenset({type(None), bool, int, float, str})
_MUTABLE = (list, dict, set, bytearray, deque)
_VIEWS = {type({}.keys()): "keys", type({}.values()): "values", type({}.items()): "items"}
_NAMED_TYPES: dict[str, type] = {
    kind.__name__: kind
    for kind in (
        *(bool, int, float, complex, str, bytes, bytearray, list, tuple, dict, set, frozenset, range, slice, object),
        *(
            type,
            type(None),
            Counter,
            OrderedDict,
            defaultdict,
            deque,
            Decimal,
            Fraction,
            date,
            datetime,
            time,
            timedelta,
            array,
        ),
    )
}
_TYPE_NAMES = {kind: name for name, kind in _NAMED_TYPES.items()}
BUILTIN_ERRORS: dict[str, type[BaseException]] = {
    name: kind for name, kind in vars(builtins).items() if isinstance(kind, type) and issubclass(kind, BaseException)
}
_ERROR_NAMES = {kind: kind.__name__ for kind in BUILTIN_ERRORS.values()}
_FUNCTIONS = {
    f"{module.__name__}.{name}": value
    for module in (builtins, math, operator)
    for name, value in vars(module).items()
    if callable(value) and not isinstance(value, type)
}


class CodecError(Exception):
    """A value that cannot cross, or a message that says nothing sensible."""


class Encoder:
    """Turns values into JSON; `known` are containers the other side already has, by number."""

    def __init__(
        self, export: Callable[[Any], Any], known: Iterable[Any] = (), *, is_naming_functions: bool = True
    ) -> None:
        self._export = export
        self.is_naming_functions = is_naming_functions
        """Whether the other side knows `len` by its name: only one that trusts this side does."""
        self.known = list(known)
        self._numbers = {id(container): number for number, container in enumerate(self.known)}

    def encode(self, value: Any, depth: int = 0) -> Any:
        kind = type(value)
        if kind in _PLAIN:
            if kind is int and value.bit_length() > _BIG_INT_BITS:
                return {"i": hex(value)}
            return value
        if depth > MAX_DEPTH:
            raise CodecError(f"a value nested more than {MAX_DEPTH} deep cannot be compared")
        if isinstance(value, _MUTABLE):
            number = self._numbers.get(id(value))
            if number is not None:
                return {"r": number}
            self._numbers[id(value)] = len(self.known)
            self.known.append(value)  # keeps it alive, so its id stays its own
            return self.content(value, depth)
        encode = _ENCODERS.get(kind)
        if encode is not None:
            return encode(self, value, depth + 1)
        return self._reduced(value, depth)

    def content(self, value: Any, depth: int = 0) -> Any:
        """A container's inside, written out even if the other side knows the container."""
        if isinstance(value, list):
            form = packed(value) if len(value) >= MIN_LENGTH and type(value) is list else None
            return self._items(list.__iter__(value), depth) if form is None else {"z": form}
        if isinstance(value, dict):
            pairs = self._items(chain.from_iterable(dict.items(value)), depth)
            if isinstance(value, Counter):
                return {"C": pairs}
            if isinstance(value, defaultdict):
                return {"D": pairs, "f": _TYPE_NAMES.get(value.default_factory)}  # type: ignore[call-overload]
            return {"O" if isinstance(value, OrderedDict) else "d": pairs}
        if isinstance(value, set):
            return {"s": self._items(set.__iter__(value), depth)}
        if isinstance(value, deque):
            return {"q": self._items(deque.__iter__(value), depth), "n": value.maxlen}
        return {"B": bytes(value).decode("latin-1")}

    def _items(self, items: Iterator[Any], depth: int) -> list[Any]:
        values = list(items)
        if _PLAIN.issuperset(map(type, values)):
            return [self.encode(value) for value in values] if _has_big(values) else values
        return [self.encode(value, depth + 1) for value in values]

    def _reduced(self, value: Any, depth: int) -> Any:
        """What a value of another type comes down to: its base type's value, or a handle."""
        for base, read in _BASES:
            if isinstance(value, base):
                return self.encode(read(value), depth + 1)
        if type(value).__module__ == "numpy":
            return self._numpy(value, depth)
        if isinstance(value, type):
            return self._type(value)
        return self._export(value)

    def _type(self, value: type) -> Any:
        if value in _TYPE_NAMES:
            return {"y": _TYPE_NAMES[value]}
        if value in _ERROR_NAMES:
            return {"E": _ERROR_NAMES[value]}
        return self._export(value)

    def _numpy(self, value: Any, depth: int) -> Any:
        if hasattr(value, "tolist") and getattr(value, "dtype", None) is not None and value.dtype.kind in "biufcSU":
            if getattr(value, "shape", ()) == ():
                return self.encode(value.item(), depth + 1)
            return {"n": [value.dtype.str, self.encode(value.tolist(), depth + 1)]}
        return self._export(value)


def _has_big(values: list[Any]) -> bool:
    return any(type(value) is int and value.bit_length() > _BIG_INT_BITS for value in values)


def _encode_zoned(encoder: Encoder, value: Any, _: int) -> Any:
    kind = type(value)
    if value.tzinfo is not None and type(value.tzinfo) is not timezone:
        return encoder._export(value)  # noqa: SLF001  a zone has rules, which an offset has not
    offset = value.utcoffset()
    seconds = None if offset is None else offset.total_seconds()
    return {"T": [kind.__name__, value.replace(tzinfo=None).isoformat(), seconds, value.fold]}


def _encode_function(encoder: Encoder, value: Any, _: int) -> Any:
    name = f"{getattr(value, '__module__', '')}.{getattr(value, '__name__', '')}".replace("_operator.", "operator.")
    if encoder.is_naming_functions and _FUNCTIONS.get(name) is value:
        return {"o": name}
    return encoder._export(value)  # noqa: SLF001


def _encode_view(encoder: Encoder, value: Any, depth: int) -> Any:
    kind = _VIEWS[type(value)]
    items = chain.from_iterable(value) if kind == "items" else iter(value)
    return {"v": [kind, encoder._items(items, depth)]}  # noqa: SLF001


_ENCODERS: dict[type, Callable[[Encoder, Any, int], Any]] = {
    tuple: lambda e, v, d: {"t": e._items(iter(v), d)},  # noqa: SLF001
    frozenset: lambda e, v, d: {"F": e._items(iter(v), d)},  # noqa: SLF001
    bytes: lambda _, v, __: {"b": v.decode("latin-1")},
    complex: lambda _, v, __: {"c": [v.real, v.imag]},
    range: lambda e, v, d: {"R": e._items(iter((v.start, v.stop, v.step)), d)},  # noqa: SLF001
    slice: lambda e, v, d: {"l": e._items(iter((v.start, v.stop, v.step)), d)},  # noqa: SLF001
    type(Ellipsis): lambda *_: {"e": "..."},
    type(NotImplemented): lambda *_: {"e": "NotImplemented"},
    Decimal: lambda _, v, __: {"m": str(v)},
    Fraction: lambda e, v, d: {"q2": e._items(iter((v.numerator, v.denominator)), d)},  # noqa: SLF001
    date: lambda _, v, __: {"T": ["date", v.isoformat(), None, 0]},
    datetime: _encode_zoned,
    time: _encode_zoned,
    timedelta: lambda _, v, __: {"u": [v.days, v.seconds, v.microseconds]},
    array: lambda e, v, d: {"a": [v.typecode, e._items(iter(v.tolist()), d)]},  # noqa: SLF001
    type(len): _encode_function,
    **dict.fromkeys(_VIEWS, _encode_view),
}

# Read through the base type's own methods: a subclass may have replaced them.
_BASES: tuple[tuple[type, Callable[[Any], Any]], ...] = (
    (int, int.__int__),
    (float, float.__float__),
    (str, str.__str__),
    (bytes, lambda v: bytes.__getitem__(v, slice(None))),
    (tuple, lambda v: tuple(tuple.__iter__(v))),
    (frozenset, lambda v: frozenset(frozenset.__iter__(v))),
    (complex, lambda v: complex.__add__(v, 0)),
    (datetime, lambda v: datetime.combine(datetime.date(v), datetime.timetz(v))),
    (date, lambda v: date.fromordinal(date.toordinal(v))),
    (timedelta, lambda v: timedelta(v.days, v.seconds, v.microseconds)),
    (Decimal, Decimal),
    (Fraction, lambda v: Fraction(int(v.numerator), int(v.denominator))),
)


class Decoder:
    """Turns JSON into values made of base types only; `adopt` gives a face to the other side's handles."""

    def __init__(self, adopt: Callable[[Any], Any], known: Iterable[Any] = (), *, is_trusting: bool = False) -> None:
        self._adopt = adopt
        self.known = list(known)
        self.is_trusting = is_trusting

    def decode(self, data: Any) -> Any:
        kind = type(data)
        if kind in _PLAIN:
            return data
        if kind is list:
            made: list[Any] = []
            self.known.append(made)
            made.extend(self._items(data))
            return made
        return self._tagged(data)

    def _items(self, data: Any) -> list[Any]:
        if type(data) is not list:
            raise CodecError("a list was expected")
        if _PLAIN.issuperset(map(type, data)):
            return data
        return [self.decode(item) for item in data]

    def _tagged(self, data: dict[str, Any]) -> Any:
        tag = next(iter(data), "")
        body = data.get(tag)
        if tag == "r":
            return self.known[_index(body, len(self.known))]
        if tag in ("h", "X"):
            return self._adopt(data)
        if tag == "o":
            if self.is_trusting and body in _FUNCTIONS:
                return _FUNCTIONS[body]
            raise CodecError("functions cross as handles")
        made = self._container(tag, data)
        if made is not None:
            return made
        decode = _DECODERS.get(tag)
        if decode is None:
            raise CodecError(f"unknown tag {tag!r}")
        return decode(self, body)

    def _container(self, tag: str, data: dict[str, Any]) -> Any:
        make = _CONTAINERS.get(tag)
        if make is None:
            return None
        made = make(data)
        self.known.append(made)
        self.fill(made, data)
        return made

    def fill(self, container: Any, data: Any) -> None:
        """Give a container this content, in place."""
        if type(data) is list:
            container[:] = self._items(data)
            return
        tag = next(iter(data))
        if tag == "z":
            container[:] = unpacked(data[tag])
            return
        if tag == "B":
            container[:] = data[tag].encode("latin-1")
            return
        items = self._items(data[tag])
        container.clear()
        if tag == "s":
            container.update(items)
        elif tag == "q":
            container.extend(items)
        else:
            # One by one: Counter's update adds, and dict's loses the order of an OrderedDict.
            for key, value in zip(items[::2], items[1::2], strict=True):
                container[key] = value


def _index(value: Any, count: int) -> int:
    if type(value) is not int or not 0 <= value < count:
        raise CodecError("a reference to nothing")
    return value


_CONTAINERS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "d": lambda _: {},
    "O": lambda _: OrderedDict(),
    "C": lambda _: Counter(),
    "D": lambda data: defaultdict(_NAMED_TYPES.get(data.get("f") or "")),
    "s": lambda _: set(),
    "q": lambda data: deque(maxlen=data.get("n")),
    "B": lambda _: bytearray(),
    "z": lambda _: [],
}


def _moment(_: Decoder, body: Any) -> Any:
    name, text, seconds, fold = body
    if name == "date":
        return date.fromisoformat(text)
    zone = None if seconds is None else timezone(timedelta(seconds=seconds))
    made = (datetime if name == "datetime" else time).fromisoformat(text)
    return made.replace(tzinfo=zone, fold=fold)


def _view(decoder: Decoder, body: Any) -> Any:
    kind, data = body
    items = decoder._items(data)  # noqa: SLF001
    if kind == "keys":
        return dict.fromkeys(items).keys()
    if kind == "values":
        return dict(enumerate(items)).values()
    return dict(zip(items[::2], items[1::2], strict=True)).items()


def _array(decoder: Decoder, body: Any) -> Any:
    dtype, data = body
    values = decoder.decode(data)
    try:
        import numpy
    except ImportError:
        return values
    return numpy.array(values, dtype=dtype)


_DECODERS: dict[str, Callable[[Decoder, Any], Any]] = {
    "i": lambda _, body: int(body, 16),
    "t": lambda d, body: tuple(d._items(body)),  # noqa: SLF001
    "F": lambda d, body: frozenset(d._items(body)),  # noqa: SLF001
    "b": lambda _, body: body.encode("latin-1"),
    "c": lambda _, body: complex(float(body[0]), float(body[1])),
    "R": lambda d, body: range(*d._items(body)),  # noqa: SLF001
    "l": lambda d, body: slice(*d._items(body)),  # noqa: SLF001
    "e": lambda _, body: Ellipsis if body == "..." else NotImplemented,
    "m": lambda _, body: Decimal(body),
    "q2": lambda d, body: Fraction(*d._items(body)),  # noqa: SLF001
    "T": _moment,
    "u": lambda _, body: timedelta(*map(int, body)),
    "a": lambda d, body: array(body[0], d._items(body[1])),  # noqa: SLF001
    "v": _view,
    "n": _array,
    "y": lambda _, body: _NAMED_TYPES[body],
    "E": lambda _, body: BUILTIN_ERRORS[body],
}


def dumps(message: Any) -> bytes:
    return json.dumps(message, separators=(",", ":")).encode()


def loads(frame: bytes) -> Any:
    """Parse a message; anything unreadable is a CodecError."""
    try:
        return json.loads(frame)
    except (ValueError, RecursionError, MemoryError) as error:
        raise CodecError(f"not JSON: {type(error).__name__}") from error
