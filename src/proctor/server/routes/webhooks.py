"""Webhooks: made, rotated, deleted; what was delivered to them, and sent again."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import Depends, Path, Query
from msgspec import Meta, Struct
from pydantic import BaseModel, ConfigDict, Field
from starlette.requests import Request
from starlette.responses import Response

from proctor.accounts.webhooks import (
    create_webhook,
    delete_webhook,
    list_deliveries,
    list_webhooks,
    read_delivery,
    read_webhook,
    resend_delivery,
    rotate_secret,
)
from proctor.domain.documents.webhook import CreatedWebhook, DeliveryPage, Webhook, WholeDelivery
from proctor.server.access import V1, Me, Store
from proctor.server.addresses import address_of
from proctor.server.bodies import body_of, takes
from proctor.server.documents import answers, json_answer
from proctor.server.pages import next_link
from proctor.server.routes.resource import resource
from proctor.server.service import service_of
from proctor.stores.webhooks import WebhookStore

router = resource("webhooks")
Id = Annotated[str, Path(max_length=64)]


class NewWebhook(Struct, frozen=True, forbid_unknown_fields=True):
    url: Annotated[str, Meta(min_length=1, max_length=2_000)]
    """A public https:// address, or one of a host that the operator lists."""
    events: Annotated[list[Annotated[str, Meta(max_length=100)]], Meta(max_length=10)] = []
    """run.finished, run.failed, run.cancelled; all of them where none is named."""


class DeliveryQuery(BaseModel):
    model_config = ConfigDict(extra="forbid")

    state: Literal["waiting", "delivered", "failed"] | None = None
    after: str | None = Field(None, max_length=64)
    limit: int = Field(50, ge=1, le=500)


def _named_webhook(webhook_id: Id, database: Store) -> str:
    return WebhookStore(database).get(webhook_id).id


NamedWebhook = Annotated[str, Depends(_named_webhook)]


@router.post(
    "/webhooks",
    status_code=201,
    operation_id="createWebhook",
    openapi_extra=takes(NewWebhook, {"url": "https://hooks.example/proctor", "events": ["run.finished"]}),
    responses=answers(
        CreatedWebhook,
        status=201,
        description="Its secret is shown once.",
        headers={"Location": "The webhook's address."},
        has_body=True,
    ),
)
def create_one(
    request: Request, caller: Me, database: Store, body: Annotated[NewWebhook, Depends(body_of(NewWebhook))]
) -> Response:
    """Tell an address how runs of the project end, from now on."""
    environment = service_of(request).context.environment
    made = create_webhook(
        database, environment, body.url, body.events, by=caller.who, address=address_of(request)
    )  # fmt: skip
    return json_answer(made, 201, {"Location": f"{V1}/webhooks/{made.webhook_id}"})


@router.get("/webhooks", operation_id="listWebhooks", responses=answers(Webhook, is_list=True))
def list_all(database: Store) -> Response:
    """The project's webhooks, of which there are at most 20; never a secret."""
    return json_answer(list_webhooks(database))


@router.get("/webhooks/{webhook_id}", operation_id="readWebhook", responses=answers(Webhook, problems=(404,)))
def get_one(webhook_id: NamedWebhook, database: Store) -> Response:
    """A webhook, without its secret."""
    return json_answer(read_webhook(database, webhook_id))


@router.delete(
    "/webhooks/{webhook_id}",
    status_code=204,
    operation_id="deleteWebhook",
    responses=answers(status=204, description="It is told nothing more.", problems=(404,)),
)
def delete_one(request: Request, webhook_id: NamedWebhook, caller: Me, database: Store) -> Response:
    """Delete a webhook with its deliveries."""
    delete_webhook(database, webhook_id, by=caller.who, address=address_of(request))
    return Response(status_code=204)


@router.post(
    "/webhooks/{webhook_id}/rotate",
    operation_id="rotateWebhook",
    responses=answers(CreatedWebhook, description="The new secret is shown once.", problems=(404,)),
)
def rotate_one(request: Request, webhook_id: NamedWebhook, caller: Me, database: Store) -> Response:
    """Give a webhook another secret; for a day messages are signed with the former one as well."""
    environment = service_of(request).context.environment
    return json_answer(rotate_secret(database, environment, webhook_id, by=caller.who, address=address_of(request)))


@router.get(
    "/webhooks/{webhook_id}/deliveries",
    operation_id="listDeliveries",
    responses=answers(DeliveryPage, description="Newest first.", headers={"Link": "The next page."}, problems=(404,)),
)
def list_sent(
    request: Request, webhook_id: NamedWebhook, database: Store, query: Annotated[DeliveryQuery, Query()]
) -> Response:
    """What a webhook was told, and how often it was tried."""
    page = list_deliveries(database, webhook_id, after=query.after, limit=query.limit, state=query.state)
    return json_answer(page, headers=next_link(request, page.next))


@router.get(
    "/webhooks/{webhook_id}/deliveries/{delivery_id}",
    operation_id="readDelivery",
    responses=answers(WholeDelivery, problems=(404,)),
)
def get_sent(webhook_id: NamedWebhook, delivery_id: Id, database: Store) -> Response:
    """A message with its body, and the first 64 kB of what was answered last."""
    return json_answer(read_delivery(database, webhook_id, delivery_id))


@router.post(
    "/webhooks/{webhook_id}/deliveries/{delivery_id}/resend",
    status_code=202,
    operation_id="resendDelivery",
    responses=answers(WholeDelivery, status=202, description="It is sent within seconds.", problems=(404,)),
)
def resend_one(webhook_id: NamedWebhook, delivery_id: Id, database: Store) -> Response:
    """Send a message again, with the same id and the same body."""
    return json_answer(resend_delivery(database, webhook_id, delivery_id), 202)
