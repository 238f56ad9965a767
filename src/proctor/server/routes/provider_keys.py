"""Keys of the caller's project for providers: set, listed without the keys, removed; read by nobody."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends
from msgspec import Meta, Struct
from starlette.requests import Request
from starlette.responses import Response

from proctor.accounts.provider_keys import list_provider_keys, remove_provider_key, set_provider_key
from proctor.domain.documents.provider_keys import ListedProviderKey
from proctor.domain.scope import Scope
from proctor.server.access import Caller, Me
from proctor.server.addresses import address_of
from proctor.server.bodies import body_of, takes
from proctor.server.documents import answers, json_answer
from proctor.server.routes.resource import resource
from proctor.server.service import service_of
from proctor.stores.database import Database

router = resource("accounts")


class ProviderKey(Struct, frozen=True, forbid_unknown_fields=True):
    provider: Annotated[str, Meta(min_length=1, max_length=100)]
    key: Annotated[str, Meta(min_length=1, max_length=10_000)] | None = None
    """None for a server that wants none. It is given back to nobody."""
    base_url: Annotated[str, Meta(max_length=2_000)] | None = None
    """Where it goes, if not to the provider's own address: a host that the operator allows."""


@router.get("/provider-keys", operation_id="listProviderKeys", responses=answers(ListedProviderKey, is_list=True))
def provider_keys(caller: Me) -> Response:
    """List which keys for providers the project has, and where they go: never a key."""
    return json_answer(list_provider_keys(_own(caller)))


@router.post(
    "/provider-keys",
    status_code=201,
    operation_id="setProviderKey",
    openapi_extra=takes(ProviderKey, {"provider": "openai", "key": "sk-not-a-key"}),
    responses=answers(ListedProviderKey, status=201, description="It is kept encrypted.", has_body=True),
)
def set_one(request: Request, caller: Me, body: Annotated[ProviderKey, Depends(body_of(ProviderKey))]) -> Response:
    """Keep a provider's key for the project, or replace the one for the same address."""
    found = set_provider_key(
        _own(caller),
        service_of(request).context.environment,
        body.provider,
        body.key,
        base_url=body.base_url,
        is_operator=caller.is_operator,
        by=caller.who,
        address=address_of(request),
    )
    return json_answer(found, 201)


@router.delete(
    "/provider-keys/{connection_id}", status_code=204, operation_id="removeProviderKey",
    responses=answers(status=204, problems=(404,)),
)  # fmt: skip
def remove_one(request: Request, connection_id: str, caller: Me) -> Response:
    """Remove a key: runs that begin later do not have it."""
    remove_provider_key(_own(caller), connection_id, by=caller.who, address=address_of(request))
    return Response(status_code=204)


def _own(caller: Caller) -> Database:
    """The person at the machine has everything in view, and sets keys of the project that is his."""
    database = caller.database
    return database if database.scope.project is not None else database.within(Scope(caller.project))
