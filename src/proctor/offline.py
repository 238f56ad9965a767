"""Staying on this machine: while confined, nothing of ours connects beyond loopback.

Adapters are refused by their address before a run begins; this is the second line of defence, and the only one for
Python code of others (functions as models, clients of data hubs), whose sockets are watched.
"""

from __future__ import annotations

import errno
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from ipaddress import ip_address
from typing import Any

_is_confined: ContextVar[bool] = ContextVar("is_confined", default=False)


@contextmanager
def confined(is_wanted: bool = True) -> Iterator[None]:
    """Stay on this machine inside the block and in every task it starts; not wanted, it changes nothing."""
    if is_wanted:
        _watch_sockets()
    token = _is_confined.set(is_wanted or _is_confined.get())
    try:
        yield
    finally:
        _is_confined.reset(token)


def is_confined() -> bool:
    return _is_confined.get()


def is_loopback_host(host: str) -> bool:
    """Whether a name or an address means this machine; a name is asked for only when it is 'localhost'."""
    if host == "localhost":
        return _means_loopback_here(host)
    return _is_loopback_address(host)


def _is_loopback_address(text: str) -> bool:
    try:
        return ip_address(text.strip("[]").partition("%")[0]).is_loopback
    except ValueError:
        return False


def _means_loopback_here(name: str) -> bool:
    """A hosts file can send any name anywhere."""
    try:
        found = socket.getaddrinfo(name, None, type=socket.SOCK_STREAM)
    except OSError:
        return False
    return all(_is_loopback_address(str(item[4][0])) for item in found)


@cache
def _watch_sockets() -> None:
    """Look at every connection that Python code makes, from now on; an audit hook cannot be taken away again."""
    sys.addaudithook(_audit)


def _audit(event: str, arguments: tuple[Any, ...]) -> None:
    if event in ("socket.connect", "socket.sendto", "socket.sendmsg") and _is_confined.get():
        kind, address = arguments[0].family, arguments[1]
        if kind in (socket.AF_INET, socket.AF_INET6) and address and not _is_loopback_address(str(address[0])):
            raise OSError(errno.ENETUNREACH, f"offline: no connection is made to {address[0]}")
    elif event == "socket.getaddrinfo" and _is_confined.get():
        host = arguments[0].decode() if isinstance(arguments[0], bytes) else arguments[0]
        if host not in (None, "", "localhost") and not _is_address(str(host)):
            raise OSError(errno.ENETUNREACH, f"offline: the name {host!r} is not looked up")


def _is_address(text: str) -> bool:
    try:
        ip_address(text.partition("%")[0])
    except ValueError:
        return False
    return True
