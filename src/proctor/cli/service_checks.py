"""What `proctor doctor` looks at for a service: broker, workers, clocks, disks and certificates."""

from __future__ import annotations

import shutil
import ssl
import time
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from msgspec import Struct

from proctor.domain.errors import ProctorError
from proctor.offline import is_loopback_host

if TYPE_CHECKING:
    from proctor.settings import Settings
    from proctor.stores.monitoring import ServiceFigures

MIN_FREE_BYTES = 100 * 2**20
MAX_SKEW_SECONDS = 5.0
MAX_WAIT_SECONDS = 60.0
MIN_CERTIFICATE_DAYS = 14.0
CONNECT_SECONDS = 5.0


class DoctorFinding(Struct, frozen=True):
    name: str
    state: str  # ok, note, problem
    detail: str


def check_service(settings: Settings) -> Iterator[DoctorFinding]:
    """The disk, the broker, clocks and workers; what cannot be read of the database is told by its own line."""
    from proctor.cli.context import database
    from proctor.stores.monitoring import clock_of, read_queue_figures

    yield from _disks(settings)
    yield from _broker(settings)
    try:
        with database() as opened:
            skew = abs(clock_of(opened) - time.time())
            figures = read_queue_figures(opened)
    except ProctorError:
        return
    is_right = skew < MAX_SKEW_SECONDS
    advice = (
        "" if is_right else ": leases end too early or too late; synchronise the clocks (chrony, systemd-timesyncd)"
    )
    yield DoctorFinding("clock", "ok" if is_right else "problem", f"{skew:.1f} s from the database's{advice}")
    yield from _workers(figures, settings)


def _disks(settings: Settings) -> Iterator[DoctorFinding]:
    """Where the home is, and where logs are kept if that is another disk."""
    places = {"disk": settings.home}
    if settings.log_folder is not None and _device(settings.log_folder) != _device(settings.home):
        places["disk of logs"] = settings.log_folder
    for name, folder in places.items():
        if not folder.exists():
            continue
        free = shutil.disk_usage(folder).free
        is_full = free <= MIN_FREE_BYTES
        advice = ": 'proctor retention --dry-run' and 'proctor cache prune --dry-run' show what can go"
        room = f"{free / 2**30:.1f} GiB free{advice if is_full else ''}"
        yield DoctorFinding(name, "problem" if is_full else "ok", room)


def _device(folder: Path) -> int | None:
    return folder.stat().st_dev if folder.exists() else None


def _broker(settings: Settings) -> Iterator[DoctorFinding]:
    if settings.broker_url is None:
        return
    if find_spec("redis") is None:
        detail = "PROCTOR_BROKER_URL is set and redis is not installed: pip install 'proctor[worker]'"
        yield DoctorFinding("broker", "problem", detail)
        return
    from proctor.worker.broker import broker_label, check_broker

    try:
        check_broker(settings.broker_url)
    except ProctorError as error:  # says itself what to do
        yield DoctorFinding("broker", "problem", str(error))
    else:
        yield DoctorFinding("broker", "ok", f"Redis at {broker_label(settings.broker_url)} answers")


def _workers(figures: ServiceFigures, settings: Settings) -> Iterator[DoctorFinding]:
    from proctor.cli.figures import plural

    start = "proctor worker" if settings.broker_url else "proctor serve"
    for pool, seconds in figures.oldest_waiting_seconds.items():
        if seconds > MAX_WAIT_SECONDS and not figures.pool_workers.get(pool):
            named = f" --pools {pool}" if settings.broker_url else ""
            detail = f"work for the pool {pool} waits for {seconds / 60:.0f} min and no worker takes it: {start}{named}"
            yield DoctorFinding("workers", "problem", detail)
    if figures.workers:
        yield DoctorFinding("workers", "ok", f"{plural(figures.workers, 'worker')} seen in the last minute")
    elif settings.broker_url:
        yield DoctorFinding("workers", "note", "none was seen in the last minute: start one with 'proctor worker'")


def check_certificates(files: Sequence[str], settings: Settings) -> Iterator[DoctorFinding]:
    """Those of the files, and the one that the server in PROCTOR_SERVER shows."""
    for file in files:
        yield _certificate(f"certificate {file}", *_read_certificate(Path(file)))
    parts = urlsplit(settings.server or "")
    if parts.scheme != "https" or not parts.hostname:
        return
    if settings.is_offline and not is_loopback_host(parts.hostname):
        detail = "not looked at: PROCTOR_OFFLINE keeps connections on this machine"
        yield DoctorFinding(f"certificate of {parts.hostname}", "note", detail)
    else:
        yield _server_certificate(parts.hostname, parts.port or 443)


def _read_certificate(path: Path) -> tuple[float | None, str]:
    """When it ends, in seconds since 1970; or why that is not known."""
    if find_spec("cryptography") is None:
        return None, "cannot be read without cryptography: pip install 'proctor[server]'"
    from cryptography import x509

    try:
        return x509.load_pem_x509_certificate(path.read_bytes()).not_valid_after_utc.timestamp(), ""
    except OSError as error:
        return None, f"cannot be read: {error.strerror}"
    except ValueError:
        return None, "has no certificate in it: give the PEM file of --tls-certificate"


def _server_certificate(host: str, port: int) -> DoctorFinding:
    import socket

    name = f"certificate of {host}"
    try:
        with (
            socket.create_connection((host, port), timeout=CONNECT_SECONDS) as plain,
            ssl.create_default_context().wrap_socket(plain, server_hostname=host) as secure,
        ):
            shown = secure.getpeercert() or {}
    except ssl.SSLCertVerificationError as error:
        return DoctorFinding(name, "problem", f"is not trusted here: {error.verify_message}; SSL_CERT_FILE names yours")
    except OSError as error:
        return DoctorFinding(name, "problem", f"{host}:{port} does not answer: {error.strerror or error}")
    return _certificate(name, ssl.cert_time_to_seconds(str(shown["notAfter"])), "")


def _certificate(name: str, expiry: float | None, fault: str) -> DoctorFinding:
    if expiry is None:
        return DoctorFinding(name, "problem", fault)
    days = (expiry - time.time()) / 86_400
    if days < 0:
        return DoctorFinding(name, "problem", f"ended {-days:.0f} days ago: put a new one in its place and start again")
    if days < MIN_CERTIFICATE_DAYS:
        return DoctorFinding(name, "note", f"ends in {days:.0f} days: renew it, and start the server again")
    return DoctorFinding(name, "ok", f"ends in {days:.0f} days")
