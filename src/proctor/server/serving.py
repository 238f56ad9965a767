"""A server on an address of this machine, from its start to its end."""

from __future__ import annotations

import asyncio
import signal
import socket
import webbrowser
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from urllib.parse import urlsplit

import uvicorn
from msgspec import Struct
from msgspec.structs import replace

from proctor.accounts.counters import MemoryCounters, RedisCounters
from proctor.accounts.guessing import GuessLimit
from proctor.accounts.people import invite_first_admin
from proctor.accounts.provider_keys import ProjectKeys
from proctor.accounts.sealing import ServerSecret, require_secret
from proctor.accounts.single_sign_on import read_ways
from proctor.domain.errors import UserError
from proctor.offline import is_loopback_host
from proctor.runs.playground.live import Playground
from proctor.runs.resolve import PlanContext
from proctor.server.access import local_person
from proctor.server.app import create_app
from proctor.server.certificate import make_context
from proctor.server.document_cache import open_cache
from proctor.server.execution import choose_executor
from proctor.server.headers import hosts_of
from proctor.server.request_limit import CallerLimit
from proctor.server.service import Service
from proctor.server.sign_in import identify
from proctor.settings import Settings
from proctor.stores.accounts.users import UserStore
from proctor.stores.database import Database, open_database
from proctor.stores.model_lists import ModelListStore
from proctor.telemetry.logs import announce
from proctor.telemetry.starting import start_telemetry

DRAIN_SECONDS = 10
BACKLOG = 2048


class Server(uvicorn.Server):
    """Says where it is once it can be asked; told to end, it first tells its streams."""

    def __init__(self, config: uvicorn.Config, service: Service, address: str, *, is_opening: bool) -> None:
        super().__init__(config)
        self._service, self._address, self._is_opening = service, address, is_opening

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            announce(f"Proctor is at {self._address} (Ctrl-C ends it)")
            if self._is_opening:
                await asyncio.to_thread(webbrowser.open, self._address)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        self._service.ending.set()
        super().handle_exit(sig, frame)

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """As uvicorn does it, but the signal that ended the server is not sent again: its end is no failure."""
        before = {number: signal.signal(number, self.handle_exit) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


class ListenAddress(Struct, frozen=True):
    """Where a server listens, and how it is reached."""

    host: str
    port: int
    origin: str | None = None
    """The address people use, where it is another: behind a proxy, or a name."""
    certificate: str | None = None
    key: str | None = None
    """Files for TLS."""
    proxies: tuple[str, ...] = ()
    """Whose X-Forwarded-For and X-Forwarded-Proto are believed."""
    has_accounts: bool = False
    """Whether everybody has to sign in, also before there is a user."""
    client_authorities: str | None = None
    """A file with the authorities of clients: whoever shows no certificate of theirs is not answered."""
    names: tuple[str, ...] = ()
    """Further names it may be called by, such as the one that probes and Prometheus use inside a cluster."""

    @property
    def is_public(self) -> bool:
        """Whether others than the person at this machine can reach it: by its own address, or through a proxy."""
        named = urlsplit(self.origin).hostname if self.origin else None
        return not is_loopback_host(self.host) or bool(self.proxies) or not is_loopback_host(named or self.host)


def serve_until_told(
    settings: Settings, context: PlanContext, place: ListenAddress, *, is_opening: bool = False
) -> None:  # fmt: skip
    """Serve until SIGINT or SIGTERM; raises UserError for an address that cannot be used."""
    host = place.host
    _refuse_unreachable(place)
    start_telemetry(settings, "server")
    ServerSecret.read(context.environment)  # one that can be guessed is refused wherever it is
    if place.is_public:
        require_secret(context.environment, "A server that others can reach")
    ways = read_ways(context.environment)
    encryption = (
        None if place.certificate is None else make_context(place.certificate, place.key, place.client_authorities)
    )
    listening = _listen(host, place.port)
    scheme = "https" if place.certificate else "http"
    address = f"{scheme}://{f'[{host}]' if ':' in host else host}:{listening.getsockname()[1]}"
    database = open_database(settings.database_url, settings.database_read_url)
    context = replace(context, project_keys=ProjectKeys(database, context.environment), lists=ModelListStore(database))
    counters = MemoryCounters() if settings.broker_url is None else RedisCounters(settings.broker_url)
    executor = choose_executor(settings, context.folder)
    has_accounts = place.has_accounts or place.is_public or bool(UserStore(database).all())
    has_limit = has_accounts and settings.requests_per_minute > 0
    service = Service(
        settings, database, context, identify if has_accounts else local_person, executor,
        hosts_of(host, place.origin, place.names), place.origin,
        certificate=None if place.certificate is None else Path(place.certificate),
        ways=ways if has_accounts else {},
        guesses=GuessLimit(counters),
        requests=CallerLimit(counters, settings.requests_per_minute) if has_limit else None,
        playground=Playground(executor.limits),
        documents=open_cache(settings.cache_bytes, settings.broker_url),
    )  # fmt: skip
    if has_accounts:
        _tell_accounts(database, (place.origin or address).rstrip("/"))
    config = uvicorn.Config(
        create_app(service),
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=DRAIN_SECONDS,
        h11_max_incomplete_event_size=64 * 1024,
        ws="websockets-sansio",
        proxy_headers=bool(place.proxies),
        forwarded_allow_ips=list(place.proxies),
        ssl_context_factory=None if encryption is None else lambda *_: encryption,
    )
    try:
        Server(config, service, address, is_opening=is_opening).run([listening])
    finally:
        listening.close()


def _refuse_unreachable(place: ListenAddress) -> None:
    if place.key is not None and place.certificate is None:
        raise UserError("--tls-key needs --tls-certificate.")
    if place.client_authorities is not None and place.certificate is None:
        raise UserError("--tls-client-ca needs --tls-certificate: a proxy in front asks for certificates by itself.")
    for file in (place.certificate, place.key, place.client_authorities):
        if file is not None and not Path(file).is_file():
            raise UserError(f"There is no file {file}.")
    if place.origin is not None:
        parts = urlsplit(place.origin)
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.path not in ("", "/"):
            raise UserError(f"--origin is an address such as https://proctor.example, not {place.origin!r}.")
    if not place.is_public:
        return
    is_encrypted = place.certificate is not None or (place.origin or "").startswith("https://")
    if not is_encrypted:
        reached = place.host if not is_loopback_host(place.host) else place.origin or "A server behind a proxy"
        raise UserError(
            f"{reached} can be reached from other machines, and passwords and keys would cross the network in the "
            "clear. Give --tls-certificate and --tls-key, or --origin https://… of the proxy that has them."
        )
    if place.host in ("0.0.0.0", "::") and place.origin is None:  # noqa: S104 - compared
        raise UserError(f"{place.host} is no name to be called by: give --origin, the address that people use.")


def _tell_accounts(database: Database, address: str) -> None:
    """The way in for the first administrator; and a wall that is not there."""
    first = invite_first_admin(database)
    if first is not None:
        announce(f"Nobody can sign in yet. The first administrator ({first.user.name}) sets a password at")
        announce(f"{address}{first.path}", is_kept=False)
        announce("(shown once, good for three days; every start makes a new one)")
    if not database.is_second_wall():
        announce(
            "The database's user passes row-level security (a superuser, or BYPASSRLS): projects are kept apart by "
            "Proctor's queries alone. Give it an ordinary user that owns the tables."
        )


def _listen(host: str, port: int) -> socket.socket:
    """The socket, before anything else is done: a port that is taken is said at once."""
    try:
        family, kind, protocol, _, place = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listening = socket.socket(family, kind, protocol)
        try:
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listening.bind(place)
            listening.listen(BACKLOG)
        except OSError:
            listening.close()
            raise
    except OSError as error:
        raise UserError(
            f"Cannot listen on {host}, port {port}: {error.strerror or error}. Choose another with --port."
        ) from None
    return listening
