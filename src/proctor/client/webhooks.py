"""Webhooks of a server, and what they were told."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import quote

from proctor.client.connection import ServerConnection
from proctor.domain.documents.webhook import CreatedWebhook, DeliveryPage, Webhook, WholeDelivery


class ServedWebhooks(ServerConnection):
    """Addresses that are told how runs end."""

    def create_webhook(self, url: str, events: Sequence[str] = ()) -> CreatedWebhook:
        """Tell an address how runs end: run.finished, run.failed, run.cancelled. Its secret is shown once."""
        body = {"url": url, "events": list(events)}
        return self._convert(self._ask("POST", "/webhooks", body=body), CreatedWebhook)

    def webhooks(self) -> list[Webhook]:
        """The project's webhooks, without their secrets."""
        return self._convert(self._ask("GET", "/webhooks"), list[Webhook])

    def rotate_webhook(self, webhook: str) -> CreatedWebhook:
        """Another secret; for a day messages are signed with the former one as well."""
        return self._convert(self._ask("POST", f"/webhooks/{quote(webhook, safe='')}/rotate"), CreatedWebhook)

    def delete_webhook(self, webhook: str) -> None:
        """Delete a webhook with its deliveries."""
        self._ask("DELETE", f"/webhooks/{quote(webhook, safe='')}")

    def deliveries(
        self, webhook: str, *, limit: int = 50, after: str | None = None, state: str | None = None
    ) -> DeliveryPage:
        """A page of what a webhook was told, newest first; the state is waiting, delivered or failed."""
        query = {"limit": limit, "after": after, "state": state}
        return self._convert(self._ask("GET", f"/webhooks/{quote(webhook, safe='')}/deliveries", query), DeliveryPage)

    def delivery(self, webhook: str, delivery: str) -> WholeDelivery:
        """A message with its body and what was answered to it last."""
        path = f"/webhooks/{quote(webhook, safe='')}/deliveries/{quote(delivery, safe='')}"
        return self._convert(self._ask("GET", path), WholeDelivery)

    def resend(self, webhook: str, delivery: str) -> WholeDelivery:
        """Send a message again, with the same id."""
        path = f"/webhooks/{quote(webhook, safe='')}/deliveries/{quote(delivery, safe='')}/resend"
        return self._convert(self._ask("POST", path), WholeDelivery)
