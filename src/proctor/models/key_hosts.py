"""Where keys may go: to their provider's own hosts, and to hosts that the user named; never because a file said so.

A plan file may be somebody else's. Were it enough that a file names an address, running it could send any key of this
environment there.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from urllib.parse import urlsplit

from proctor.domain.errors import UserError

KEY_HOSTS = "PROCTOR_KEY_HOSTS"
"""The variable that lists further hosts keys may go to, with commas between them: host, or host:port."""
PORTS = {"http": 80, "https": 443}
_NAME = re.compile(r"[a-z0-9.-]+")


def host_of(url: str) -> str:
    """Host and port of an address as lists of hosts have them; nothing where it has none."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        return ""
    host = f"[{host}]" if ":" in host else host
    return host if port is None else f"{host}:{port}"


def origin_of(url: str) -> str:
    """Scheme, host and port of an address, always with the port; nothing where it has none of them."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port or PORTS.get(parts.scheme)
    except ValueError:
        return ""
    host = f"[{host}]" if ":" in host else host
    return f"{parts.scheme}://{host}:{port}" if host and port else ""


def bound_key(provider: str, url: str) -> str:
    """What the key is called, in the environment of a project's run, that goes to this provider at this address.

    No shell can set a variable with a space in its name.
    """
    return f"{provider} {origin_of(url)}"


def is_own(url: str, provider_url: str | None) -> bool:
    """Whether an address is a provider's own, or below it: there, its own key is at home."""
    if provider_url is None:
        return False
    asked, own = urlsplit(url), urlsplit(provider_url)
    if asked.scheme != own.scheme or asked.hostname is None or own.hostname is None:
        return False
    is_below = _NAME.fullmatch(asked.hostname) is not None and asked.hostname.endswith(f".{own.hostname}")
    return asked.hostname == own.hostname or is_below


def is_named(url: str, environment: Mapping[str, str]) -> bool:
    """Whether the user named this address's host as one that keys may go to."""
    host = host_of(url)
    listed = {item.strip().lower() for item in environment.get(KEY_HOSTS, "").split(",")} - {""}
    return bool(host) and (host in listed or (host.rpartition(":")[0] or host) in listed)


def with_key_hosts(environment: Mapping[str, str], hosts: Iterable[str]) -> Mapping[str, str]:
    """The environment in which keys may go to these hosts too."""
    added = ",".join([environment.get(KEY_HOSTS, ""), *hosts]).strip(",")
    return {**environment, KEY_HOSTS: added} if added else environment


def refuse_key(model: str, variable: str, url: str, otherwise: str = "") -> UserError:
    """The error for a key that would go where only a file says that it should; `otherwise` says how to do without."""
    host = host_of(url)
    return UserError(
        f"{model}: the key in {variable} would be sent to {host}, because a file says so and not you. "
        f"To allow that, set {KEY_HOSTS}={host}, or name the model on the command line (-m, or --judge for a judge)"
        f"{otherwise}."
    )
