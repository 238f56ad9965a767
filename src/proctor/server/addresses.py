"""Where requests come from."""

from __future__ import annotations

from ipaddress import ip_address

from starlette.requests import HTTPConnection


def address_of(connection: HTTPConnection) -> str:
    """Where the request comes from: of IPv6 the network, since one person has a whole one."""
    host = connection.client.host if connection.client else ""
    try:
        found = ip_address(host)
    except ValueError:
        return host[:100]
    # A socket for both families shows IPv4 within IPv6: all of it would be one network.
    found = getattr(found, "ipv4_mapped", None) or found
    return str(found) if found.version == 4 else ":".join(found.exploded.split(":")[:4]) + "::/64"
