"""Text from outside, as every store and every encoder takes it."""

from __future__ import annotations

REPLACEMENT = "\ufffd"
_CONTROLS = {code: chr(0x2400 + code) for code in range(32) if chr(code) not in "\n\t"}
_HIDDEN = [*range(0x80, 0xA0), *range(0x202A, 0x202F), *range(0x2066, 0x206A)]
_VISIBLE = {**_CONTROLS, 0x7F: "\u2421", **dict.fromkeys(_HIDDEN, REPLACEMENT)}
_ESCAPED = {code: f"\\u{code:04x}" for code in (0x7F, *_HIDDEN)}
MAX_MESSAGE_LENGTH = 10_000
"""Characters kept of an error's message."""


def storable(text: str) -> str:
    """The text without half surrogate pairs, which no encoding knows, and NUL, which PostgreSQL refuses.

    Each becomes U+FFFD; two halves that belong together become the character that they stand for.
    """
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError:
            text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text.replace("\0", REPLACEMENT) if "\0" in text else text


def visible(text: str) -> str:
    """The text with controls and changes of direction made visible: it steers no terminal and no page."""
    return text if text.isprintable() else text.replace("\r\n", "\n").translate(_VISIBLE)


def visible_json(text: str) -> str:
    """The same JSON, in which nothing steers a terminal: what would is written as an escape."""
    return text if text.isascii() and "\x7f" not in text else text.translate(_ESCAPED)


def shorten(text: str, longest: int = MAX_MESSAGE_LENGTH) -> str:
    return text if len(text) <= longest else text[: longest - 1] + "…"


def message_of(error: BaseException) -> str:
    """What an exception says, storable and of bounded length, even where its own `__str__` fails."""
    try:
        said = str(error)
    except BaseException as failure:  # noqa: BLE001 - the message is somebody else's code
        said = f"its message cannot be read: __str__ raised {type(failure).__name__}"
    return storable(shorten(said))
