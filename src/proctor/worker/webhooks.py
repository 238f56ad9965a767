"""Delivers what webhooks are told: signed, to public addresses only, again and again for a day."""

from __future__ import annotations

import asyncio
import http.client
import random
import socket
import threading
from collections.abc import Collection, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from msgspec import Struct

from proctor.accounts.sealing import Sealer, require_secret
from proctor.accounts.webhooks import WHAT, listed_hosts, signed_headers
from proctor.domain.errors import ProctorError
from proctor.models.trust import UntrustedError, trusted
from proctor.offline import confined
from proctor.public_address import PrivateAddressError, connect
from proctor.stores.webhooks import DeliveryQueue, DeliveryRow, WebhookRow
from proctor.version import __version__

if TYPE_CHECKING:
    from proctor.runs.resolve import PlanContext
    from proctor.stores.database import Database

SECONDS = 10.0
"""For one message, from the look-up of the name to the last byte of the answer."""
KEPT_BYTES = 64_000
AT_ONCE = 8
AGAIN_SECONDS = (10, 30, 120, 300, 900, 1_800, 3_600, 7_200, 14_400, 21_600, 28_800)
"""After the first attempt, the second, …: 22 hours in all."""


class _Answer(Struct, frozen=True):
    status: int
    text: str


class _SendError(Exception):
    """Why a message did not get there."""


async def deliver_webhooks(database: Database, context: PlanContext, *, seconds: float = SECONDS) -> int:
    """Announce the runs that ended, and deliver what is due; gives how many messages were sent or tried."""
    queue = DeliveryQueue(database)
    await asyncio.to_thread(queue.announce)
    due = await asyncio.to_thread(queue.due, AT_ONCE)
    await asyncio.gather(*(asyncio.to_thread(_deliver, queue, context, *one, seconds) for one in due))
    return len(due)


def _deliver(
    queue: DeliveryQueue, context: PlanContext, delivery: DeliveryRow, hook: WebhookRow, seconds: float
) -> None:  # fmt: skip
    status, answer = None, None
    try:
        with confined(context.is_offline):
            found = _send(context.environment, delivery, hook, seconds)
        if 200 <= found.status < 300:
            queue.delivered(delivery, found.status, found.text)
            return
        status, answer = found.status, found.text
        moved = ": redirects are not followed" if 300 <= found.status < 400 else ""
        error = f"It answered {found.status}{moved}."
    except (_SendError, ProctorError) as fault:
        error = str(fault)
    # Each waits a little longer or shorter: those of many runs do not come back at once.
    pauses = dict(enumerate(AGAIN_SECONDS))
    pause = pauses.get(delivery.attempts)
    again = None if pause is None else pause * random.uniform(0.9, 1.1)
    queue.not_delivered(delivery, error, again_seconds=again, status=status, answer=answer)


def _send(environment: Mapping[str, str], delivery: DeliveryRow, hook: WebhookRow, seconds: float) -> _Answer:
    headers = signed_headers(hook, Sealer(require_secret(environment, WHAT)), delivery)
    headers |= {
        "Content-Type": "application/json",
        "User-Agent": f"Proctor/{__version__}",
        "Accept-Encoding": "identity",
        "Connection": "close",
    }
    try:
        return _post(hook.url, delivery.body.encode(), headers, listed_hosts(environment), seconds)
    except PrivateAddressError as fault:
        raise _SendError(f"Address not allowed: {fault}.") from None
    except TimeoutError:
        raise _SendError(f"Nothing was answered within {seconds:g} s.") from None
    except UntrustedError as fault:
        raise _SendError(f"No certificate can be checked {fault}") from None
    except (OSError, http.client.HTTPException, ValueError) as fault:
        said = getattr(fault, "strerror", None) or str(fault) or type(fault).__name__
        raise _SendError(f"It could not be reached: {said}.") from None


def _post(url: str, body: bytes, headers: Mapping[str, str], listed: Collection[str], seconds: float) -> _Answer:
    parts = urlsplit(url)
    host, is_secure = str(parts.hostname), parts.scheme == "https"
    port = parts.port or (443 if is_secure else 80)
    opened = connect(host, port, listed, seconds)
    line = opened.dup()  # TLS takes the socket over, and leaves nothing in `opened` that could be shut down
    cut = threading.Event()

    def end() -> None:
        cut.set()
        with suppress(OSError):
            line.shutdown(socket.SHUT_RDWR)

    # A server that sends a byte now and then would pass every time limit of a single read.
    timer = threading.Timer(seconds, end)
    timer.start()
    connection = http.client.HTTPConnection(host, port, timeout=seconds)
    try:
        connection.sock = trusted().wrap_socket(opened, server_hostname=host) if is_secure else opened
        target = f"{parts.path or '/'}?{parts.query}" if parts.query else parts.path or "/"
        connection.request("POST", target, body, {"Host": parts.netloc, **headers})
        answer = connection.getresponse()
        return _Answer(answer.status, answer.read(KEPT_BYTES).decode("utf-8", "replace"))
    except (OSError, http.client.HTTPException):
        if cut.is_set():
            raise TimeoutError from None
        raise
    finally:
        timer.cancel()
        connection.close()
        opened.close()
        line.close()
