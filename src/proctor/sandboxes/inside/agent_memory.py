"""What a program that waits for its agent's answer has in its memory."""

from __future__ import annotations

import ctypes
import os

MAX_BYTES = 4_096  # the longest path the kernel takes, with its end
_PEEKED_BYTES = 256


class UnseenError(Exception):
    """A program that does not let itself be looked at."""


class _Piece(ctypes.Structure):
    _fields_ = (("at", ctypes.c_void_p), ("length", ctypes.c_size_t))


# PyDLL keeps the interpreter lock: the call is short.
_read = ctypes.PyDLL(None).process_vm_readv
_read.restype = ctypes.c_ssize_t
_peeked = ctypes.create_string_buffer(_PEEKED_BYTES)
_ours, _theirs = _Piece(ctypes.addressof(_peeked), _PEEKED_BYTES), _Piece(0, _PEEKED_BYTES)
# Made once: a program that writes many files waits for every look.
_BOTH = ctypes.byref(_ours), ctypes.c_ulong(1), ctypes.byref(_theirs), ctypes.c_ulong(1), ctypes.c_ulong(0)


def peek(thread: int, address: int) -> bytes:
    """A few bytes in one quick call; nothing when they cannot be had that way, for whatever reason."""
    _theirs.at = address
    count = _read(thread, *_BOTH)
    return _peeked.raw[:count] if count > 0 else b""


def memory(thread: int, address: int, length: int) -> bytes:
    """As many of these bytes as there are; UnseenError when the program does not let us look."""
    try:
        fd = os.open(f"/proc/{thread}/mem", os.O_RDONLY | os.O_CLOEXEC)
    except PermissionError:
        raise UnseenError from None
    except OSError:
        return b""
    try:
        return os.pread(fd, length, address)
    except (OSError, OverflowError):
        return b""
    finally:
        os.close(fd)


def path_at(thread: int, address: int) -> bytes | None:
    """The path that begins there; None where the kernel finds none either: no end, too long, empty, nothing there."""
    path, end, _ = peek(thread, address).partition(b"\0")
    if not end:
        path, end, _ = memory(thread, address, MAX_BYTES).partition(b"\0")
    return path if end and path else None
