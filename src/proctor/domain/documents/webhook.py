"""Webhooks: addresses that are told how runs ended, and the messages to them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from proctor.domain.documents.document import Document


class Webhook(Document, frozen=True, kw_only=True):
    webhook_id: str
    url: str
    events: Sequence[str]
    author: str
    created_at: str


class CreatedWebhook(Document, frozen=True, kw_only=True):
    """A webhook, and the secret that its messages are signed with: it is shown once."""

    webhook_id: str
    url: str
    events: Sequence[str]
    author: str
    created_at: str
    secret: str
    former_until: str | None = None
    """Until then messages are signed with the secret before, too."""


class Delivery(Document, frozen=True, kw_only=True):
    """A message to a webhook: sent at least once, always with the same id."""

    delivery_id: str
    run_id: str
    event: str
    state: str
    """waiting, delivered or failed."""
    attempts: int
    created_at: str
    next_at: str | None
    """When it is sent again; null where it is not."""
    ended_at: str | None
    status: int | None
    """Of the last answer."""
    error: str | None


class WholeDelivery(Document, frozen=True, kw_only=True):
    """A message with its body, and what was answered to it last."""

    delivery_id: str
    run_id: str
    event: str
    state: str
    attempts: int
    created_at: str
    next_at: str | None
    ended_at: str | None
    status: int | None
    error: str | None
    body: dict[str, Any]
    answer: str | None
    """Its first 64 kB."""


class DeliveryPage(Document, frozen=True):
    """Deliveries, newest first."""

    items: Sequence[Delivery]
    next: str | None
