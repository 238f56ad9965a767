"""The `program` of a problem whose answer is a library: its functions and objects, used from another process."""

from __future__ import annotations

import builtins
import re
import socket
import types
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from proctor.programs.checking.link import HarnessLink
from proctor.programs.checking.program import ProgramUnderTest
from proctor.programs.checking.wording import text_of
from proctor.programs.inside.peer import Peer, PeerLostError
from proctor.sandboxes.inside.codec import CodecError, Decoder, Encoder
from proctor.sandboxes.inside.objects import callback_handle, handle_of

_CONNECT_SECONDS = 10
MAX_BYTES = 128 << 20
"""That a library may hand over in one check, or in the work of one load."""


class ProgramLostError(Exception):
    """The library's process ended, was too slow or gave no sensible answer."""


class LibraryObject:
    """An object that lives with the library; every use of it is a question there."""

    __slots__ = ("_calls", "_kind", "_number")

    def __init__(self, calls: Calls, number: int, kind: str) -> None:
        object.__setattr__(self, "_calls", calls)
        object.__setattr__(self, "_number", number)
        object.__setattr__(self, "_kind", kind)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        return self._calls.do("get", self, name)

    def __setattr__(self, name: str, value: Any) -> None:
        self._calls.do("set", self, name, value)

    def __delattr__(self, name: str) -> None:
        self._calls.do("del", self, name)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._calls.do("call", self, *args, **kwargs)

    def __iter__(self) -> Iterator[Any]:
        made: Iterator[Any] = self._calls.do("iter", self)
        return made

    def __exit__(self, kind: object, value: object, trace: object) -> None:
        self._calls.do("exit", self)

    def __hash__(self) -> int:
        return int(self._calls.do("hash", self))

    def __eq__(self, other: object) -> bool:
        # An object of the program's never decides whether it equals one of the check's own values.
        return isinstance(other, LibraryObject) and self._calls.do("eq", self, other) is True

    def __ne__(self, other: object) -> bool:
        return not self == other


def _forward(operation: str) -> Callable[..., Any]:
    def method(self: LibraryObject, *args: Any) -> Any:
        return self._calls.do(operation, self, *args)

    return method


def _combine(operation: str) -> Callable[..., Any]:
    """Only with another object of the program's: told a value of the check's, it could answer what that value wants."""

    def method(self: LibraryObject, other: Any) -> Any:
        return self._calls.do(operation, self, other) if isinstance(other, LibraryObject) else NotImplemented

    return method


def _ordered(operation: str) -> Callable[..., Any]:
    def method(self: LibraryObject, other: Any) -> Any:
        return self._calls.do(operation, self, other) is True if isinstance(other, LibraryObject) else NotImplemented

    return method


# `in` is not among them: Python then asks for the elements, and they are compared here.
_FORWARDED = "len next bool str repr int float abs round reversed getitem setitem delitem enter neg pos invert"
for _name in _FORWARDED.split():
    setattr(LibraryObject, f"__{_name}__", _forward(_name))
for _name in ("lt", "le", "gt", "ge"):
    setattr(LibraryObject, f"__{_name}__", _ordered(_name))
for _name in ["add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "lshift", "rshift", "xor"]:
    setattr(LibraryObject, f"__{_name}__", _combine(_name))
for _name, _method in (("and_", "__and__"), ("or_", "__or__")):
    setattr(LibraryObject, _method, _combine(_name))


class Calls:
    """A connection to a library: questions there, and its calls of the check's own functions."""

    def __init__(self, host: str, port: int, timeout: float, most_bytes: int = MAX_BYTES) -> None:
        sock = socket.create_connection((host, port), _CONNECT_SECONDS)
        sock.settimeout(None)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._objects: dict[int, Any] = {}
        self._callbacks: list[Callable[..., Any]] = []
        self._peer = Peer(sock, self._called_back, "c", timeout, most_bytes)
        self._peer.begin()
        self.module = self.do("module")

    def close(self) -> None:
        self._peer.close()

    def do(self, operation: str, *args: Any, **kwargs: Any) -> Any:
        encoder = Encoder(self._export)
        positional = [encoder.encode(item) for item in args]
        named = {key: encoder.encode(item) for key, item in kwargs.items()}
        try:
            answer = self._peer.ask([operation, positional, named])
            if "x" in answer:
                error = self._error(answer["x"])
            else:
                return Decoder(self._adopt).decode(answer["v"])
        except (
            PeerLostError,
            CodecError,
            AttributeError,
            LookupError,
            TypeError,
            ValueError,
            ArithmeticError,
            RecursionError,
            MemoryError,
        ) as lost:
            raise ProgramLostError(f"no answer from the library: {text_of(lost) or type(lost).__name__}") from lost
        if operation == "next" and error.names[:1] == ("StopIteration",):
            raise StopIteration
        raise error

    def _called_back(self, message: Any) -> Any:
        number, args, kwargs = message
        try:
            callback = self._callbacks[number]
            decoder = Decoder(self._adopt)
            positional = [decoder.decode(item) for item in args]
            named = {key: decoder.decode(item) for key, item in kwargs.items()}
            return {"v": Encoder(self._export).encode(callback(*positional, **named))}
        except Exception as error:  # noqa: BLE001  the check's own function raised: the library may handle it
            return {"x": [type(error).__name__, Encoder(str).encode(list(error.args))]}

    def _export(self, value: Any) -> Any:
        if isinstance(value, LibraryObject):
            return handle_of(value._number)  # noqa: SLF001  ours
        number = getattr(value, "_proctor_number", None)
        if isinstance(value, type) and isinstance(number, int):
            return handle_of(number, is_error_class=True)
        if isinstance(value, types.FunctionType | types.BuiltinFunctionType | types.MethodType):
            self._callbacks.append(value)
            return callback_handle(len(self._callbacks) - 1)
        raise TypeError(f"a {type(value).__name__} cannot be given to the library: plain values and functions can")

    def _adopt(self, data: dict[str, Any]) -> Any:
        if "X" in data:
            number, names = int(data["X"][0]), [str(name) for name in data["X"][1]]
            if number not in self._objects:
                self._objects[number] = _error_class(number, names)
            return self._objects[number]
        number, _, kind = data["h"]
        return self._objects.setdefault(int(number), LibraryObject(self, int(number), str(kind)))

    def _error(self, data: Mapping[str, Any]) -> RaisedError:
        decoder = Decoder(self._adopt)
        kind, value = decoder.decode(data["class"]), decoder.decode(data["value"])
        if not (isinstance(kind, type) and issubclass(kind, RaisedError)):
            raise CodecError("an error without a class")
        error = kind(str(data["text"]))
        error.remote = value if isinstance(value, LibraryObject) else None
        return error


class RaisedError(Exception):
    """What the library raised; `names` are its class and that class' bases, `remote` the error itself."""

    names: tuple[str, ...] = ()
    remote: LibraryObject | None = None

    def __str__(self) -> str:
        return str(self.args[0]) if self.args else ""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or self.remote is None:
            raise AttributeError(name)
        return getattr(self.remote, name)


_NEVER_A_BASE = (UnicodeError, BaseExceptionGroup, StopIteration, StopAsyncIteration)
"""What cannot be made from a text, and what would end a loop of the check's own."""


def _error_class(number: int, names: list[str]) -> type[RaisedError]:
    """A class for `except` and `pytest.raises`; only ordinary built-in errors become a base of it."""
    ordinary = (kind for kind in _builtin_errors(names) if issubclass(kind, Exception))
    base = next((kind for kind in ordinary if not issubclass(kind, _NEVER_A_BASE)), Exception)
    bases = (RaisedError,) if base is Exception else (RaisedError, base)
    space = {"names": tuple(names), "_proctor_number": number}
    try:
        made = type(names[0] if names else "Error", bases, space)
    except TypeError:  # a built-in error whose memory is laid out otherwise
        made = type(names[0] if names else "Error", (RaisedError,), space)
    return made


def _builtin_errors(names: Iterable[str]) -> list[type[BaseException]]:
    found = [getattr(builtins, name, None) for name in names]
    return [kind for kind in found if isinstance(kind, type) and issubclass(kind, BaseException)]


def is_raised_as(name: str, names: Sequence[str]) -> bool:
    """Whether an error of these classes, its own first, counts as one of that name.

    Its own name does, and the built-in errors its class comes from in one line. A base of the program's own does not,
    nor do several unrelated built-in ones: a class derived from all of them would be whatever a check asks for.
    """
    if names and names[0] == name:
        return True
    line = _builtin_errors(names)
    is_one_line = all(issubclass(line[0], kind) for kind in line)
    return is_one_line and any(kind.__name__ == name for kind in line)


class Caught:
    """What `program.raises` saw, once its block is over."""

    value: RaisedError | None = None


class Library(ProgramUnderTest):
    """Each check has a new process with the module freshly imported."""

    def __init__(self, link: HarnessLink, setup: Mapping[str, Any]) -> None:
        super().__init__(link, setup)
        self._calls: Calls | None = None

    @property
    def module(self) -> Any:
        if self._calls is None:
            at = self._link.ask("connect")
            if at.get("problem"):
                raise AssertionError(f"the library is not there: {at['problem']}")
            self._calls = Calls(at["host"], at["port"], float(self._setup["call_seconds"]))
        return self._calls.module

    def end_check(self) -> None:
        calls, self._calls = self._calls, None
        if calls is not None:
            calls.close()

    @contextmanager
    def raises(self, name: str, match: str | None = None) -> Iterator[Caught]:
        """The block must raise a class of that name, or one from that built-in error; the pattern is in its text."""
        caught = Caught()
        try:
            yield caught
        except RaisedError as error:
            if not is_raised_as(name, error.names):
                raised = error.names[0] if error.names else "an error without a name"
                raise AssertionError(f"{name} was expected, {raised} was raised: {error}") from error
            if match is not None and not re.search(match, str(error)):
                raise AssertionError(f"{match!r} is not found in {str(error)!r}") from error
            caught.value = error
        else:
            raise AssertionError(f"{name} was not raised")
