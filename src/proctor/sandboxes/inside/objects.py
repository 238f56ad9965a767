"""Objects that another process uses through numbers: what can be done with them, and what is told of them."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from .codec import Decoder, Encoder

_OPERATORS = """eq ne lt le gt ge add sub mul truediv floordiv mod pow matmul and_ or_ xor lshift rshift neg pos invert
iadd isub imul getitem setitem delitem contains"""
_TRAITS = (("c", "__call__"), ("i", "__iter__"), ("n", "__next__"), ("l", "__len__"), ("b", "__bool__"))
CALLBACK, YOURS = "callback", "yours"
"""What a handle from the other side stands for: a function there, or an object of ours."""

OPERATIONS: dict[str, Callable[..., Any]] = {
    "call": lambda function, *args, **kwargs: function(*args, **kwargs),
    "get": getattr,
    "set": setattr,
    "del": delattr,
    "isinstance": isinstance,
    "enter": lambda manager: type(manager).__enter__(manager),
    "exit": lambda manager: type(manager).__exit__(manager, None, None, None),
    **{
        kind.__name__: kind
        for kind in (len, iter, next, bool, str, repr, int, float, complex, hash, abs, round, dir, reversed)
    },
    **{name: getattr(operator, name) for name in _OPERATORS.split()},
}


class ServedObjects:
    """The objects of this process that the other one has handles of; `call_back` calls a function over there."""

    def __init__(self, call_back: Callable[[int, tuple[Any, ...], dict[str, Any]], Any]) -> None:
        self._call_back = call_back
        self._objects: list[Any] = []
        self._numbers: dict[int, int] = {}

    def encoder(self, known: list[Any] | None = None) -> Encoder:
        """For what is told: functions go as handles, because the other side believes no name."""
        return Encoder(self.export, known or (), is_naming_functions=False)

    def decoder(self) -> Decoder:
        """For what was asked: whoever asks is trusted."""
        return Decoder(self._adopt, is_trusting=True)

    def export(self, value: Any) -> Any:
        """A handle: a number and what the object can do, nothing of the object itself."""
        number = self._numbers.get(id(value))
        if number is None:
            number = self._numbers[id(value)] = len(self._objects)
            self._objects.append(value)  # keeps it alive, so its id stays its own
        if isinstance(value, type) and issubclass(value, BaseException):
            return {"X": [number, [base.__name__ for base in value.__mro__]]}
        kind = type(value)
        return {"h": [number, "".join(letter for letter, method in _TRAITS if hasattr(kind, method)), kind.__name__]}

    def _adopt(self, data: dict[str, Any]) -> Any:
        ((number, what),) = data.values()
        if what != CALLBACK:
            return self._objects[number]
        return lambda *args, **kwargs: self._call_back(number, args, kwargs)


def handle_of(number: int, *, is_error_class: bool = False) -> dict[str, Any]:
    """How an object of the other side is named to it."""
    return {"X" if is_error_class else "h": [number, YOURS]}


def callback_handle(number: int) -> dict[str, Any]:
    """How a function of this side is named to the other."""
    return {"h": [number, CALLBACK]}
