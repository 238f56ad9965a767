"""What an error says, as text that can be sent and stored: a value of the program's in it may have none."""

from __future__ import annotations


def text_of(error: BaseException) -> str:
    """Never fails, whatever the error holds."""
    try:
        text = str(error)
    except Exception as again:  # noqa: BLE001  a whole number too long to be written, for one
        return f"<its text cannot be written: {type(again).__name__}>"
    return text.encode("utf-8", "backslashreplace").decode()
