"""Where a request goes: an address taken apart into what a connection and a request line need."""

from __future__ import annotations

import re
from ipaddress import ip_address
from urllib.parse import quote, urlsplit

from msgspec import Struct

SCHEMES = {"http": 80, "https": 443}

_AS_WRITTEN = re.compile(r"https?://[A-Za-z0-9.:\[\]_-]+(?:[/?][!$%&'()*+,./0-9:;=?@A-Z_a-z~-]*)?")
_HOST = re.compile(r"[A-Za-z0-9._:-]+")
_KEPT = "!$%&'()*+,/:;=?@~"
_UNSEEN = re.compile(r"[\x00-\x1f\x7f]")


class UnsendableError(Exception):
    """The request cannot be written as HTTP; says why."""


class Destination(Struct, frozen=True):
    """Where an address leads."""

    host: str
    port: int
    netloc: str
    """Host and port as the request names them."""
    path: str
    is_secure: bool = False


def place_of(url: str) -> Destination:
    """The parts of an address; what a request cannot hold is escaped, as browsers do. Raises UnsendableError."""
    if _UNSEEN.search(url):
        raise UnsendableError("the address holds a control character")
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:
        raise UnsendableError("the address cannot be read") from None
    if parts.scheme not in SCHEMES or not host:
        raise UnsendableError("the address must start with http:// or https:// and name a host")
    if "@" in parts.netloc:
        raise UnsendableError("the address holds a user name or password")
    path, query, netloc = parts.path, parts.query, parts.netloc
    if _AS_WRITTEN.fullmatch(url) is None:
        path, query, host = _escaped(path), _escaped(query), _ascii(host)
        netloc = f"[{host}]" if ":" in host else host
        netloc = netloc if port is None else f"{netloc}:{port}"
    target = f"{path or '/'}?{query}" if query else path or "/"
    return Destination(host, port or SCHEMES[parts.scheme], netloc, target, parts.scheme == "https")


def is_loopback(url: str) -> bool:
    """Whether an address is on this machine."""
    host = urlsplit(url).hostname or ""
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def _escaped(text: str) -> str:
    try:
        return quote(text, _KEPT)
    except UnicodeError:
        raise UnsendableError("the address holds half a character") from None


def _ascii(host: str) -> str:
    """A host as it is looked up."""
    try:
        name = host if host.isascii() else host.encode("idna").decode()
    except UnicodeError:
        name = ""
    if _HOST.fullmatch(name) is None:
        raise UnsendableError("its host is no name that can be looked up")
    return name
