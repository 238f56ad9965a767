"""Values and errors as text for a message, whatever they are: nothing that a submission gives can make this fail."""

from __future__ import annotations

import reprlib
from typing import Any

_REPR = reprlib.Repr()
_REPR.maxstring = _REPR.maxother = _REPR.maxlong = 200
_REPR.maxlist = _REPR.maxtuple = _REPR.maxdict = _REPR.maxset = 20


def show_value(value: Any) -> str:
    """A short form of it."""
    try:
        return _REPR.repr(value)
    except Exception:  # noqa: BLE001  a whole number too long to be written, for one
        return f"<a value of type {type(value).__name__} that cannot be written>"


def describe_error(error: BaseException) -> str:
    """Its class and what it says."""
    try:
        text = str(error)
    except Exception:  # noqa: BLE001  an argument whose text cannot be made
        text = "<its text cannot be written>"
    return f"{type(error).__name__}: {text}"


def plain_text(text: str) -> str:
    """The same text with what no encoding takes written out."""
    return text.encode("utf-8", "backslashreplace").decode()
