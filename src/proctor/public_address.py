"""Connections that strangers ask for go to public addresses only, whatever a name means when it is connected to."""

from __future__ import annotations

import socket
import time
from collections.abc import Collection
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from urllib.parse import urlsplit

_NAT64 = ip_network("64:ff9b::/96")


class PrivateAddressError(Exception):
    """The address is none of the public ones, and its host is not among those that the operator lists."""


def is_public(text: str) -> bool:
    """Whether an IP address is anybody's to reach; what carries another address within is looked into."""
    found = ip_address(text.partition("%")[0])
    inner = _inner(found)
    return is_public(str(inner)) if inner is not None else found.is_global and not found.is_multicast


def _inner(found: IPv4Address | IPv6Address) -> IPv4Address | None:
    if isinstance(found, IPv4Address):
        return None
    if found.ipv4_mapped is not None:
        return found.ipv4_mapped
    if found.sixtofour is not None:
        return found.sixtofour
    if found.teredo is not None:
        return found.teredo[1]
    return IPv4Address(int(found) & 0xFFFFFFFF) if found in _NAT64 else None


def is_listed(host: str, port: int, listed: Collection[str]) -> bool:
    """Whether the operator lists the host, or the host with this port."""
    return host.lower() in listed or f"{host.lower()}:{port}" in listed


def check_address(url: str, listed: Collection[str]) -> str | None:
    """Why an address may not be connected to, as far as can be told now; None where nothing speaks against it."""
    try:
        parts = urlsplit(url)
        # A dot at the end says that a name is whole; behind an address of numbers it only hides it.
        host, port = (parts.hostname or "").rstrip("."), parts.port or (443 if parts.scheme == "https" else 80)
    except ValueError:
        return "it cannot be read"
    if parts.scheme not in ("http", "https") or not host or not url.isascii() or not url.isprintable() or " " in url:
        return "it is no address such as https://hooks.example/proctor"
    if parts.username is not None or parts.password is not None or parts.fragment:
        return "it has a user name, a password or a fragment"
    if is_listed(host, port, listed):
        return None
    if parts.scheme == "http":
        return "it is not encrypted: give an https:// address"
    try:
        _resolved(host, port, listed)
    except PrivateAddressError as fault:
        return str(fault)
    except OSError:
        return None  # it may be there when it is needed, and is looked at again then
    return None


def connect(host: str, port: int, listed: Collection[str], seconds: float) -> socket.socket:
    """A connection to the very address that was looked at; raises PrivateAddressError or OSError."""
    until, last = time.monotonic() + seconds, OSError(f"{host} has no address")
    for family, kind, protocol, place in _resolved(host, port, listed):
        made = socket.socket(family, kind, protocol)
        try:
            made.settimeout(max(0.001, until - time.monotonic()))
            made.connect(place)
            _refuse_private(host, port, str(made.getpeername()[0]), listed)
        except OSError as fault:
            made.close()
            last = fault
            continue
        except BaseException:
            made.close()
            raise
        return made
    raise last


def _refuse_private(host: str, port: int, peer: str, listed: Collection[str]) -> None:
    if not is_listed(host, port, listed) and not is_public(peer):
        raise PrivateAddressError(_refusal(host))


def _resolved(
    host: str, port: int, listed: Collection[str]
) -> list[tuple[socket.AddressFamily, socket.SocketKind, int, tuple[str, int] | tuple[str, int, int, int]]]:
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    # One that is not public is enough: which of them is connected to would be whoever's who answers for the name.
    for item in found:
        _refuse_private(host, port, str(item[4][0]), listed)
    return [(item[0], item[1], item[2], item[4]) for item in found]  # type: ignore[misc]


def _refusal(host: str) -> str:
    return f"{host} is not a public address"
