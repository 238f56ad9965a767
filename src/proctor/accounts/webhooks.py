"""Webhooks of projects: made with a secret that is shown once, rotated, deleted; messages are signed as Standard
Webhooks says (https://www.standardwebhooks.com), so that any of its libraries verifies them."""

from __future__ import annotations

import base64
import hashlib
import hmac
import time
from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, datetime

import orjson

from proctor.accounts.sealing import Sealer, require_secret
from proctor.domain.documents.webhook import CreatedWebhook, Delivery, DeliveryPage, Webhook, WholeDelivery
from proctor.domain.errors import UserError, did_you_mean
from proctor.public_address import check_address
from proctor.stores.accounts.audit import AuditStore
from proctor.stores.database import Database
from proctor.stores.webhooks import EVENTS, DeliveryRow, WebhookRow, WebhookStore, new_secret

HOSTS = "PROCTOR_WEBHOOK_HOSTS"
MAX_URL = 2_000
OVERLAP_SECONDS = 86_400.0
"""For so long messages are signed with the former secret as well."""
SECRET_PREFIX = "whsec_"  # noqa: S105 - how such secrets begin
WHAT = "Webhooks"


def listed_hosts(environment: Mapping[str, str]) -> Collection[str]:
    """Hosts, or hosts with a port, that the operator lists: webhooks may go there although they are not public."""
    return frozenset(part.strip().lower() for part in environment.get(HOSTS, "").split(",") if part.strip())


def create_webhook(
    database: Database,
    environment: Mapping[str, str],
    url: str,
    events: Sequence[str],
    *,
    by: str,
    address: str = "",
) -> CreatedWebhook:
    """From now on the address is told of these events; raises UserError for one that may not be told."""
    names = _checked_events(events)
    problem = "it is too long" if len(url) > MAX_URL else check_address(url, listed_hosts(environment))
    if problem is not None:
        raise UserError(
            f"{url[:200]} cannot be a webhook: {problem}. The operator lists further hosts in {HOSTS}, in the "
            "environment of the server."
        )
    sealer, secret, project = Sealer(require_secret(environment, WHAT)), _text(new_secret()), database.scope.owner
    row = WebhookStore(database).add(url, names, by, lambda name: sealer.seal(secret, (project, name)))
    AuditStore(database).add(by, "create-webhook", of=f"{row.id} {url}", project=project, address=address)
    return _created(row, secret)


def rotate_secret(
    database: Database, environment: Mapping[str, str], webhook_id: str, *, by: str, address: str = ""
) -> CreatedWebhook:
    """Another secret; for a day messages are signed with the former one as well."""
    store, secret = WebhookStore(database), _text(new_secret())
    row = store.get(webhook_id)
    sealer = Sealer(require_secret(environment, WHAT))
    until = time.time() + OVERLAP_SECONDS
    store.rotate(row.id, sealer.seal(secret, (row.project, row.id)), until)
    AuditStore(database).add(by, "rotate-webhook", of=row.id, project=row.project, address=address)
    return _created(row, secret, until)


def delete_webhook(database: Database, webhook_id: str, *, by: str, address: str = "") -> None:
    """It is told nothing more, not even what waits."""
    store = WebhookStore(database)
    row = store.get(webhook_id)
    store.delete(row.id)
    AuditStore(database).add(by, "delete-webhook", of=row.id, project=row.project, address=address)


def list_webhooks(database: Database) -> list[Webhook]:
    """Never a secret."""
    return [show_webhook(row) for row in WebhookStore(database).listed()]


def read_webhook(database: Database, webhook_id: str) -> Webhook:
    return show_webhook(WebhookStore(database).get(webhook_id))


def list_deliveries(
    database: Database, webhook_id: str, *, after: str | None, limit: int, state: str | None
) -> DeliveryPage:
    """Newest first."""
    rows = WebhookStore(database).deliveries(webhook_id, after=after, limit=limit + 1, state=state)
    shown = rows[:limit]
    return DeliveryPage([_shown(row) for row in shown], shown[-1].id if len(rows) > limit else None)


def read_delivery(database: Database, webhook_id: str, delivery_id: str) -> WholeDelivery:
    return _whole(WebhookStore(database).delivery(webhook_id, delivery_id))


def resend_delivery(database: Database, webhook_id: str, delivery_id: str) -> WholeDelivery:
    """It is sent again within seconds, with the same id."""
    return _whole(WebhookStore(database).resend(webhook_id, delivery_id))


def signed_headers(row: WebhookRow, sealer: Sealer, delivery: DeliveryRow) -> dict[str, str]:
    """What a message is sent with: its id, the time, and a signature by each secret that holds now."""
    now = int(time.time())
    sealed = [row.sealed, *([row.former] if row.former and row.former_until > now else [])]
    signatures = [_signature(sealer.open(one, (row.project, row.id)), delivery, now) for one in sealed]
    return {
        "webhook-id": delivery.id,
        "webhook-timestamp": str(now),
        "webhook-signature": " ".join(f"v1,{one}" for one in signatures),
    }


def _signature(secret: str, delivery: DeliveryRow, now: int) -> str:
    key = base64.b64decode(secret.removeprefix(SECRET_PREFIX))
    signed = f"{delivery.id}.{now}.{delivery.body}".encode()
    return base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()


def show_webhook(row: WebhookRow) -> Webhook:
    return Webhook(
        webhook_id=row.id, url=row.url, events=row.events, author=row.author, created_at=_moment(row.created_at)
    )


def _created(row: WebhookRow, secret: str, former_until: float | None = None) -> CreatedWebhook:
    return CreatedWebhook(
        webhook_id=row.id,
        url=row.url,
        events=row.events,
        author=row.author,
        created_at=_moment(row.created_at),
        secret=secret,
        former_until=None if former_until is None else _moment(former_until),
    )


def _checked_events(events: Sequence[str]) -> list[str]:
    known = list(EVENTS.values())
    for name in events:
        if name not in known:
            raise UserError(f"There is no event {name!r}.{did_you_mean(name, known)} There are: {', '.join(known)}.")
    return [name for name in known if name in events] or known


def _shown(row: DeliveryRow) -> Delivery:
    return Delivery(
        delivery_id=row.id,
        run_id=row.run_id,
        event=row.event,
        state=row.state,
        attempts=row.attempts,
        created_at=_moment(row.created_at),
        next_at=_moment(max(row.next_at, row.created_at)) if row.state == "waiting" else None,
        ended_at=None if row.ended_at is None else _moment(row.ended_at),
        status=row.status,
        error=row.error,
    )


def _whole(row: DeliveryRow) -> WholeDelivery:
    shown = _shown(row)
    told = {name: getattr(shown, name) for name in Delivery.__struct_fields__}
    return WholeDelivery(**told, body=orjson.loads(row.body), answer=row.answer)


def _text(secret: bytes) -> str:
    return SECRET_PREFIX + base64.b64encode(secret).decode()


def _moment(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")
