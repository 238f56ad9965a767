"""The broker's address: what may be one, whether it answers, and whether strangers could use it."""

from __future__ import annotations

import ipaddress
import socket
from urllib.parse import SplitResult, unquote, urlsplit

from proctor.domain.errors import StoreError, UserError, did_you_mean

VARIABLE = "PROCTOR_BROKER_URL"
FORM = "redis://:PASSWORD@HOST:PORT/0"
SCHEMES = ("redis", "rediss")
CONNECT_SECONDS = 5.0
DEFAULT_PASSWORDS = frozenset(
    ("admin", "changeme", "default", "foobared", "guest", "password", "proctor", "redis", "secret", "test")
)
MIN_PASSWORD_LENGTH = 12
"""Redis checks a million passwords a second."""


class BrokerError(StoreError):
    """The broker cannot be used; what is recorded is in the database."""


def read_url(url: str) -> SplitResult:
    """The parts of the broker's address; raises UserError for one that cannot be right."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise UserError(f"{VARIABLE} has the form {FORM}: {error}.") from None
    if parts.scheme not in SCHEMES:
        hint = did_you_mean(parts.scheme, SCHEMES) or " Workers are told of runs through Redis."
        raise UserError(f"{VARIABLE} has the form {FORM}, and {parts.scheme or url!r} is not its beginning.{hint}")
    if not parts.hostname or port == 0:
        raise UserError(f"{VARIABLE} has the form {FORM}, and names no host.")
    if parts.path.strip("/") and not parts.path.strip("/").isdecimal():
        raise UserError(f"{VARIABLE} ends with the number of a database, such as /0, not with {parts.path!r}.")
    return parts


def broker_label(url: str) -> str:
    """Where it is, without its password."""
    parts = read_url(url)
    return f"{parts.hostname}:{parts.port or 6379}"


def check_broker(url: str) -> None:
    """Connect once; raises what is wrong with the address, the password, or who else could use it."""
    from redis import Redis
    from redis.backoff import NoBackoff
    from redis.exceptions import AuthenticationError, RedisError, ResponseError
    from redis.retry import Retry

    _refuse_open(url)
    where, limits = broker_label(url), {"socket_connect_timeout": CONNECT_SECONDS, "socket_timeout": CONNECT_SECONDS}
    try:
        client = Redis.from_url(url, **limits, retry=Retry(NoBackoff(), 0))
    except ValueError as error:
        raise UserError(f"{VARIABLE} cannot be read: {error}") from None
    try:
        client.ping()
    except TypeError as error:  # options after '?' become arguments of a connection
        raise UserError(f"{VARIABLE} ends with an option that there is not: {error}.") from None
    except AuthenticationError:
        raise UserError(f"Redis at {where} refused the password in {VARIABLE}.") from None
    except ResponseError as error:
        raise BrokerError(f"Redis at {where} cannot be used: {error}.") from None
    except (RedisError, OSError) as error:
        raise BrokerError(
            f"Redis at {where} cannot be reached ({error}). Start it, or correct {VARIABLE}; "
            "'proctor run --here' needs none."
        ) from None
    finally:
        client.close()


def is_answering(url: str, seconds: float = 2.0) -> bool:
    """Whether it answers now; asked again and again, so it is not waited for."""
    from redis import Redis
    from redis.backoff import NoBackoff
    from redis.exceptions import RedisError
    from redis.retry import Retry

    client = Redis.from_url(url, socket_connect_timeout=seconds, socket_timeout=seconds, retry=Retry(NoBackoff(), 0))
    try:
        return bool(client.ping())
    except (RedisError, OSError):
        return False
    finally:
        client.close()


def refuse_without_postgresql(database_url: str) -> None:
    """Workers write from several processes and machines at once."""
    if database_url.startswith("sqlite:"):
        raise UserError(
            "Workers need PostgreSQL: many of them write at once, and a file of SQLite is on one machine. "
            "Set PROCTOR_DATABASE_URL=postgresql://USER@HOST/NAME ('proctor db copy' takes your runs along). "
            "On this machine alone, 'proctor run' and 'proctor serve' execute runs without a worker."
        )


def _refuse_open(url: str) -> None:
    """Whoever can write to the broker can start work: beyond this machine it needs a password that is one."""
    parts = read_url(url)
    if _is_loopback(parts.hostname or ""):
        return
    password = unquote(parts.password or "")
    if not password:
        raise UserError(
            f"{VARIABLE} has no password, and {parts.hostname} is not this machine: whoever reaches that Redis could "
            f"start work. Set 'requirepass' there, and write {FORM}."
        )
    if password.lower() in DEFAULT_PASSWORDS or len(password) < MIN_PASSWORD_LENGTH:
        raise UserError(
            f"The password in {VARIABLE} is easily guessed, and {parts.hostname} is not this machine: "
            f"take a random one of {MIN_PASSWORD_LENGTH} characters or more."
        )


def _is_loopback(host: str) -> bool:
    try:
        found = {item[4][0] for item in socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)}
    except (OSError, UnicodeError):
        return False  # connecting says why
    return all(ipaddress.ip_address(str(address).partition("%")[0]).is_loopback for address in found)
