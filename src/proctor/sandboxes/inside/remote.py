"""The judge's hold on the submission: objects whose every use is a request to the other process."""

from __future__ import annotations

import types
from collections.abc import Callable
from functools import cache
from typing import Any

from .codec import BUILTIN_ERRORS, CodecError, Decoder, Encoder, dumps, loads
from .frames import Channel, ChannelClosedError, FrameTooLargeError
from .objects import callback_handle, handle_of
from .showing import describe_error

_PREDICATES = frozenset(
    name
    for kind in (str, bytes, float, set)
    for name in dir(kind)
    if name.startswith("is") or name in ("startswith", "endswith")
)


class SubmissionLostError(BaseException):
    """The submission's process ended or broke the protocol; no test can catch this and carry on unnoticed."""


class UnjudgeableError(BaseException):
    """The tests need something that cannot cross between processes; says nothing about the submission."""


class SubmissionObject:
    """An object that lives in the submission's process."""

    __slots__ = ("_proctor_link", "_proctor_number", "_proctor_type")

    def __init__(self, link: SubmissionLink, number: int, kind: str) -> None:
        object.__setattr__(self, "_proctor_link", link)
        object.__setattr__(self, "_proctor_number", number)
        object.__setattr__(self, "_proctor_type", kind)

    def __getattr__(self, name: str) -> Any:
        if name in _PREDICATES and not self._proctor_link.is_live:
            # What plain values are asked for: an object in place of one would answer for the test.
            raise AttributeError(f"the tests ask plain values for {name!r}, and this is an object of the submission")
        if name.startswith("__array"):
            raise AttributeError(name)  # NumPy would read the judge's memory wherever the answer points
        return self._proctor_link.ask("get", self, name)

    def __setattr__(self, name: str, value: Any) -> None:
        self._proctor_link.ask("set", self, name, value)

    def __delattr__(self, name: str) -> None:
        self._proctor_link.ask("del", self, name)

    def __getitem__(self, key: Any) -> Any:
        return self._proctor_link.ask("getitem", self, key)

    def __setitem__(self, key: Any, value: Any) -> None:
        self._proctor_link.ask("setitem", self, key, value)

    def __delitem__(self, key: Any) -> None:
        self._proctor_link.ask("delitem", self, key)

    def __contains__(self, item: Any) -> bool:
        if not self._proctor_link.is_live:
            # Its own answer to "is this in you?" would be a verdict written by the submission.
            raise TypeError(f"argument of type {self._proctor_type!r} is not iterable")
        return bool(self._proctor_link.ask("contains", self, item))

    def __enter__(self) -> Any:
        return self._proctor_link.ask("enter", self)

    def __exit__(self, *_: object) -> bool:
        return bool(self._proctor_link.ask("exit", self))

    def __instancecheck__(self, value: Any) -> bool:
        return isinstance(value, SubmissionObject) and bool(self._proctor_link.ask("isinstance", value, self))

    def __str__(self) -> str:
        return _text(self._proctor_link.ask("str", self))

    def __repr__(self) -> str:
        return f"<{self._proctor_type} object of the submission>"

    def __hash__(self) -> int:
        return hash(self._proctor_number)

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        link = self._proctor_link
        return (isinstance(other, SubmissionObject) or link.is_live) and bool(link.ask("eq", self, other))

    def __ne__(self, other: object) -> bool:
        return not self == other


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _operator(name: str, is_reflected: bool = False) -> Callable[[SubmissionObject, Any], Any]:
    def operate(self: SubmissionObject, other: Any) -> Any:
        # Against a value of the tests, an object of the submission could answer whatever makes the test pass.
        if not (isinstance(other, SubmissionObject) or self._proctor_link.is_live):
            return NotImplemented
        return self._proctor_link.ask(name, *((other, self) if is_reflected else (self, other)))

    return operate


for _name in ("lt", "le", "gt", "ge"):
    setattr(SubmissionObject, f"__{_name}__", _operator(_name))
for _name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "lshift", "rshift", "xor"):
    setattr(SubmissionObject, f"__{_name}__", _operator(_name))
    setattr(SubmissionObject, f"__r{_name}__", _operator(_name, is_reflected=True))
for _name in ("and", "or"):
    setattr(SubmissionObject, f"__{_name}__", _operator(f"{_name}_"))
    setattr(SubmissionObject, f"__r{_name}__", _operator(f"{_name}_", is_reflected=True))
for _name in ("neg", "pos", "invert", "abs"):
    setattr(SubmissionObject, f"__{_name}__", lambda self, _name=_name: self._proctor_link.ask(_name, self))

_TRAITS: dict[str, tuple[str, Callable[..., Any]]] = {
    "c": ("__call__", lambda self, *args, **kwargs: self._proctor_link.ask("call", self, *args, **kwargs)),
    "i": ("__iter__", lambda self: self if "n" in type(self).__name__ else self._proctor_link.ask("iter", self)),
    "n": ("__next__", lambda self: self._proctor_link.ask("next", self)),
    "l": ("__len__", lambda self: self._proctor_link.ask("len", self)),
    "b": ("__bool__", lambda self: bool(self._proctor_link.ask("bool", self))),
}


@cache
def _remote_type(traits: str) -> type[SubmissionObject]:
    """A class with just the abilities the object has, so that `callable` and `iter` say the right thing."""
    methods = dict(_TRAITS[letter] for letter in traits if letter in _TRAITS)
    return type(f"Remote_{traits}", (SubmissionObject,), {"__slots__": (), **methods})


class RemoteModule(types.ModuleType):
    """What `from solution import f` finds on the judge's side."""

    def __init__(self, name: str, link: SubmissionLink, is_trusted: Callable[[str], bool]) -> None:
        super().__init__(name)
        self._proctor_link = link
        self._proctor_is_trusted = is_trusted

    def __getattr__(self, name: str) -> Any:
        if name == "__all__":
            # What the tests have under a name of their own, or Python under one of its own, a star does not replace.
            return sorted(key for key in self._proctor_link.look_up(["*"]) if not self._proctor_is_trusted(key))
        if name.startswith("__"):
            raise AttributeError(name)
        found = self._proctor_link.look_up([name])
        if name not in found:
            raise AttributeError(f"the submission has no {name!r}")
        setattr(self, name, found[name])
        return found[name]


class SubmissionLink:
    """Requests to one submission, in turn; remembers the last call as evidence."""

    def __init__(self, channel: Channel, *, is_live: bool = False) -> None:
        self._channel = channel
        self.is_live = is_live
        self.is_lost = False
        self.is_used = False
        """Whether the submission failed to load, or was asked anything: what happens then may be its doing."""
        self.last: tuple[Any, ...] | None = None
        self._objects: dict[int, Any] = {}
        self._callbacks: list[Callable[..., Any]] = []

    def wait_until_loaded(self) -> None:
        self.is_used = True
        self._result(self._receive(), Decoder(self._adopt))
        self.is_used = False

    def look_up(self, names: list[str]) -> dict[str, Any]:
        """The submission's values under these names, where it has them."""
        self._send(["names", names, {}])
        answer = self._receive()
        values = answer.get("v")
        if not isinstance(values, dict):
            raise self._lost("an answer that makes no sense")
        decoder = Decoder(self._adopt)
        wanted = {name: value for name, value in values.items() if name in names or names == ["*"]}
        found: dict[str, Any] = self._guarded(lambda: {name: decoder.decode(wanted[name]) for name in wanted})
        return found

    def ask(self, operation: str, /, *args: Any, **kwargs: Any) -> Any:
        encoder = Encoder(self._export)
        try:
            positional = [encoder.encode(arg) for arg in args]
            keywords = {key: encoder.encode(value) for key, value in kwargs.items()}
        except CodecError as error:
            raise UnjudgeableError(str(error)) from error
        if operation == "call":
            self.last = (args[1:], kwargs)
        self._send([operation, positional, keywords])
        decoder = Decoder(self._adopt, encoder.known)
        try:
            value = self._result(self._receive(), decoder)
        except (StopIteration, StopAsyncIteration) as error:
            if operation == "next":
                raise
            # Raised by a call within `all(map(…))`, it would end the test's own loop and skip the rest of its checks.
            raise RuntimeError(f"the submission raised {type(error).__name__}") from error
        if operation == "call":
            self.last = (args[1:], kwargs, value)
        return value

    def _result(self, answer: dict[str, Any], decoder: Decoder) -> Any:
        while "cb" in answer:
            self._run_callback(answer)
            answer = self._receive()
        known = list(decoder.known)
        self._guarded(lambda: _apply(answer.get("m") or (), decoder, known))
        if "x" in answer:
            raise self._guarded(lambda: self._error(answer["x"]))
        return self._guarded(lambda: decoder.decode(answer["v"]))

    def _guarded(self, decode: Callable[[], Any]) -> Any:
        try:
            return decode()
        except (
            CodecError,
            ValueError,
            TypeError,
            LookupError,
            ArithmeticError,
            AttributeError,
            RecursionError,
            MemoryError,
        ) as error:
            raise self._lost(f"an answer that makes no sense ({describe_error(error)})") from error

    def _error(self, data: dict[str, Any]) -> BaseException:
        base = BUILTIN_ERRORS[data["base"]]
        kind = self._adopt(data["kind"]) if data.get("kind") else base
        if not (isinstance(kind, type) and issubclass(kind, BaseException)):
            raise CodecError("an error of a class that is none")
        decoder = Decoder(self._adopt)
        try:
            error: BaseException = kind(*[decoder.decode(arg) for arg in data["args"]])
        except TypeError:
            error = kind.__new__(kind)
            error.args = (str(data["text"]),)
        error.__notes__ = [f"raised by the submission{', ' if data['at'] else ''}{data['at']}"]
        return error

    def _run_callback(self, request: dict[str, Any]) -> None:
        decoder = Decoder(self._adopt)
        callback = self._guarded(lambda: self._callbacks[_number(request["cb"], self._callbacks)])
        args = self._guarded(lambda: [decoder.decode(arg) for arg in request["a"]])
        kwargs = self._guarded(lambda: {key: decoder.decode(value) for key, value in request["k"].items()})
        try:
            answer = ["return", Encoder(self._export).encode(callback(*args, **kwargs))]
        except Exception as error:  # noqa: BLE001  the tests' own function raised: the submission may handle it
            name, _, text = describe_error(error).partition(": ")
            answer = ["raise", name, text]
        self._send(answer)

    def _export(self, value: Any) -> Any:
        if isinstance(value, SubmissionObject):
            return handle_of(value._proctor_number)  # noqa: SLF001  ours
        number = getattr(value, "_proctor_class", None)
        if number is not None:
            return handle_of(number, is_error_class=True)
        # Functions only: they can be called, and nothing of theirs can be read.
        if isinstance(value, types.FunctionType | types.BuiltinFunctionType | types.MethodType):
            self._callbacks.append(value)
            return callback_handle(len(self._callbacks) - 1)
        raise UnjudgeableError(
            f"the tests pass an object of type {type(value).__name__}, which cannot cross to the submission"
        )

    def _adopt(self, data: dict[str, Any]) -> Any:
        if "X" in data:
            number, names = data["X"]
            if number not in self._objects:
                base = next((name for name in names if name in BUILTIN_ERRORS), "Exception")
                made = type(str(names[0]), (BUILTIN_ERRORS[base],), {"_proctor_class": int(number)})
                self._objects[int(number)] = made
            return self._objects[number]
        number, traits, kind = data["h"]
        if number not in self._objects:
            made = _remote_type("".join(sorted(set(str(traits)) & set(_TRAITS))))
            self._objects[int(number)] = made(self, int(number), str(kind)[:80])
        return self._objects[number]

    def _send(self, message: list[Any]) -> None:
        self.is_used = True
        if self.is_lost:
            raise self._lost("nothing: it is gone")
        try:
            self._channel.send(dumps(message))
        except ChannelClosedError:
            raise self._lost("nothing: its process ended") from None

    def _receive(self) -> dict[str, Any]:
        try:
            answer = loads(self._channel.receive())
        except ChannelClosedError:
            raise self._lost("nothing: its process ended") from None
        except (CodecError, FrameTooLargeError, MemoryError) as error:
            raise self._lost(f"an answer that cannot be read ({error})") from error
        if not isinstance(answer, dict):
            raise self._lost("an answer that makes no sense")
        return answer

    def _lost(self, what: str) -> SubmissionLostError:
        self.is_lost = True
        return SubmissionLostError(f"the submission sent {what}")


def _apply(changes: Any, decoder: Decoder, known: list[Any]) -> None:
    """What a call changed in place, changed here as well."""
    for number, content in changes:
        decoder.fill(known[_number(number, known)], content)


def _number(value: Any, of: list[Any]) -> int:
    if type(value) is not int or not 0 <= value < len(of):
        raise CodecError("a number of nothing")
    return value
