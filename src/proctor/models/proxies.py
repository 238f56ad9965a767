"""Which proxy a request goes through: what the environment says, or the system where it has settings of its own."""

from __future__ import annotations

import base64
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from ipaddress import ip_address, ip_network
from typing import Literal, get_args
from urllib.parse import unquote, urlsplit

from proctor.models.destinations import Destination

Kind = Literal["http", "https", "socks5", "socks5h"]
KINDS = get_args(Kind)
USUAL_PORTS = {"http": 80, "https": 443, "socks5": 1080, "socks5h": 1080}


class UnusableProxyError(Exception):
    """A proxy is wanted, and cannot be had as it was written; says why."""


@dataclass(frozen=True, slots=True)
class Proxy:
    """A proxy, and what lets us in; its name holds no password."""

    kind: Kind
    host: str
    port: int
    user: str = field(default="", repr=False)
    password: str = field(default="", repr=False)

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.kind}://{host}:{self.port}"

    @property
    def is_relay(self) -> bool:
        """Whether it is asked in HTTP; else it passes bytes on."""
        return self.kind in ("http", "https")

    @property
    def authorization(self) -> dict[str, str]:
        """The header that lets us in, for the proxy alone."""
        if not self.user:
            return {}
        token = base64.b64encode(f"{self.user}:{self.password}".encode()).decode()
        return {"proxy-authorization": f"Basic {token}"}


def proxy_for(destination: Destination, environment: Mapping[str, str], platform: str = sys.platform) -> Proxy | None:
    """The proxy for a place, or None; small names come before capital ones, as everywhere."""
    scheme = "https" if destination.is_secure else "http"
    for name in (f"{scheme}_proxy", "all_proxy"):
        for variable in (name, name.upper()):
            if value := environment.get(variable, "").strip():
                rules = environment.get("no_proxy") or environment.get("NO_PROXY") or ""
                return None if is_excepted(destination, rules) else read_proxy(value, variable)
    return _of_the_system(destination, scheme) if platform in ("darwin", "win32") else None


def _of_the_system(destination: Destination, scheme: str) -> Proxy | None:
    """What the settings of macOS or Windows say."""
    from urllib.request import getproxies, proxy_bypass

    value = getproxies().get(scheme)
    return None if value is None or proxy_bypass(destination.host) else read_proxy(value, "the system's settings")


def read_proxy(text: str, source: str) -> Proxy:
    """A proxy as it was written; without a scheme it speaks HTTP. No message shows the text: it may hold a password."""
    try:
        parts = urlsplit(text if "://" in text else f"http://{text}")
        host, port = parts.hostname, parts.port
    except ValueError:
        host, port = None, None
    if not host or parts.scheme not in KINDS:
        expected = "scheme://host:port, the scheme one of " + ", ".join(KINDS)
        raise UnusableProxyError(f"the proxy in {source} cannot be used, it must be {expected}")
    kind: Kind = parts.scheme  # type: ignore[assignment]  # one of KINDS, as was just seen
    user, password = unquote(parts.username or ""), unquote(parts.password or "")
    return Proxy(kind, host, port or USUAL_PORTS[kind], user, password)


def is_excepted(destination: Destination, rules: str) -> bool:
    """Whether NO_PROXY names the place: a host and all below it, an address, a network, each with a port or not."""
    return any(_matches(destination, rule.strip().lower()) for rule in rules.split(",") if rule.strip())


def _matches(destination: Destination, rule: str) -> bool:
    if rule == "*":
        return True
    name, colon, port = rule.rpartition(":")
    if colon and port.isdecimal() and (":" not in name or name.endswith("]")):
        if int(port) != destination.port:
            return False
        rule = name
    rule = rule.strip("[]")
    try:
        return ip_address(destination.host) in ip_network(rule, strict=False)
    except ValueError:
        name = rule.removeprefix("*").removeprefix(".")
        return bool(name) and (destination.host == name or destination.host.endswith(f".{name}"))
