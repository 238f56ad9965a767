"""The judged side: loads the submission and answers the judge's requests. It never sees a test or an expected value."""

from __future__ import annotations

import operator
import sys
import traceback
import types
from collections.abc import Callable
from typing import Any

from .codec import BUILTIN_ERRORS, Encoder, dumps, loads
from .frames import Channel, ChannelClosedError
from .objects import OPERATIONS, ServedObjects

_TEXT = 2_000


class SubmissionServer:
    """Serves one judge until it hangs up."""

    def __init__(self, channel: Channel, module: types.ModuleType) -> None:
        self._channel = channel
        self._module = module
        self._objects = ServedObjects(self._call_back)

    def _call_back(self, number: int, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        encoder = self._objects.encoder()
        positional = [encoder.encode(arg) for arg in args]
        self._channel.send(
            dumps({"cb": number, "a": positional, "k": {k: encoder.encode(v) for k, v in kwargs.items()}})
        )
        while True:
            message = loads(self._channel.receive())
            if message[0] == "return":
                return self._objects.decoder().decode(message[1])
            if message[0] == "raise":
                raise BUILTIN_ERRORS.get(message[1], RuntimeError)(message[2])
            self._channel.send(self._answer(message))

    def load(self, source: str) -> None:
        """Run the submission and tell the judge how that went."""
        try:
            exec(compile(source, "<submission>", "exec", dont_inherit=True), vars(self._module))  # noqa: S102  the point of it all
        except BaseException as error:  # noqa: BLE001  whatever a submission raises is its answer
            self._channel.send(dumps({"x": self._describe(error)}))
        else:
            self._channel.send(dumps({"v": None}))

    def serve(self) -> None:
        while True:
            self._channel.send(self._answer(loads(self._channel.receive())))

    def _answer(self, message: list[Any]) -> bytes:
        name, arguments, keywords = message
        if name == "names":
            return self._look_up(arguments)
        decoder = self._objects.decoder()
        args = [decoder.decode(item) for item in arguments]
        kwargs = {key: decoder.decode(item) for key, item in keywords.items()}
        before = [(container, _elements(container)) for container in decoder.known]
        encoder = self._objects.encoder(decoder.known)
        try:
            value = OPERATIONS[name](*args, **kwargs)
        except BaseException as error:  # noqa: BLE001  crosses to the judge
            answer: dict[str, Any] = {"m": self._changes(encoder, before), "x": self._describe(error)}
        else:
            try:
                answer = {"m": self._changes(encoder, before), "v": encoder.encode(value)}
                return dumps(answer)
            except Exception as error:  # noqa: BLE001  an object that cannot be written down, for whatever reason
                answer = {"x": self._describe(error)}
        return dumps(answer)

    def _changes(self, encoder: Encoder, before: list[tuple[Any, list[Any]]]) -> list[Any]:
        """Containers the call changed in place, with their new content."""
        return [
            [number, encoder.content(container)]
            for number, (container, old) in enumerate(before)
            if not _same(old, _elements(container))
        ]

    def _look_up(self, names: list[str]) -> bytes:
        encoder = self._objects.encoder()
        space = vars(self._module)
        if names == ["*"]:
            names = [
                name
                for name, value in space.items()
                if not name.startswith("_") and not isinstance(value, types.ModuleType)
            ]
        return dumps({"v": {name: encoder.encode(space[name]) for name in names if name in space}})

    def _describe(self, error: BaseException) -> dict[str, Any]:
        kind = type(error)
        text = _safely(lambda: str(error))[:_TEXT]
        number = None if kind.__name__ in BUILTIN_ERRORS else self._objects.export(kind)
        encoder = self._objects.encoder()
        args = _safely(lambda: [encoder.encode(arg) for arg in error.args], [text])
        return {
            "type": kind.__name__,
            "base": _builtin_base(kind),
            "kind": number,
            "text": text,
            "args": args,
            "at": _where(error),
        }


def _elements(container: Any) -> list[Any]:
    if isinstance(container, dict):
        return [*dict.keys(container), *dict.values(container)]
    return list(container)


def _same(old: list[Any], new: list[Any]) -> bool:
    """Nested containers are known themselves, so identity of the elements is enough."""
    return len(old) == len(new) and all(map(operator.is_, old, new))


def _safely(read: Callable[[], Any], otherwise: Any = "<unreadable>") -> Any:
    try:
        return read()
    except BaseException:  # noqa: BLE001  an error's own methods may be hostile or broken
        return otherwise


def _builtin_base(kind: type) -> str:
    return next((base.__name__ for base in kind.__mro__ if base.__name__ in BUILTIN_ERRORS), "Exception")


def _where(error: BaseException) -> str:
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename == "<submission>"]
    if isinstance(error, SyntaxError) and error.filename == "<submission>":
        return f"line {error.lineno}"
    return f"line {frames[-1].lineno}, in {frames[-1].name}" if frames else ""


def main(channel: Channel, payload: dict[str, Any]) -> None:
    name = payload["module"]
    module = types.ModuleType(name)
    sys.modules[name] = module
    candidate = SubmissionServer(channel, module)
    try:
        candidate.load(payload["submission"])
        candidate.serve()
    except ChannelClosedError:
        return  # the judge has heard enough
