"""Providers and models described: what is known without asking a model anything."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import TYPE_CHECKING

from msgspec.structs import asdict

from proctor.domain.documents.model import (
    FoundModel,
    ModelDescription,
    ModelLimits,
    ModelList,
    ModelListEntry,
    ModelPrice,
    ProviderDescription,
)
from proctor.domain.errors import MissingKeyError, ModelError
from proctor.domain.message import Json
from proctor.domain.model import Model
from proctor.domain.plan import ModelSpec
from proctor.models.catalogue import find_capabilities, find_facts
from proctor.models.key_hosts import with_key_hosts
from proctor.models.known import find_known_models
from proctor.models.registry import create_model, list_providers, named_hosts
from proctor.planning.plan_file import model_spec

if TYPE_CHECKING:
    from proctor.runs.resolve import PlanContext
    from proctor.stores.provider_keys import ProviderKeyRow

INFO_SECONDS = 5.0


def describe_providers(environment: Mapping[str, str]) -> list[ProviderDescription]:
    """Every provider, and whether its key is set."""
    return [
        ProviderDescription(
            provider=status.provider.name,
            description=status.provider.description,
            key_variable=status.key_variable,
            has_key=status.has_key,
            capabilities=asdict(status.provider.capabilities),
            settings=status.provider.settings,
        )
        for status in list_providers(environment)
    ]


def search_models(text: str, context: PlanContext, limit: int) -> list[FoundModel]:
    """Models whose name has every word of the text, those that could be asked now first; no provider is asked here."""
    keys = {status.provider.name: status.has_key for status in list_providers(context.environment)}
    found = sorted(find_known_models(text, context.lists), key=lambda one: not keys.get(one.provider, True))
    return [
        FoundModel(
            model=one.name,
            provider=one.provider,
            has_key=keys.get(one.provider),
            context_tokens=one.context_tokens,
            input_usd_per_million=one.input_usd_per_million,
            output_usd_per_million=one.output_usd_per_million,
            capabilities=one.capabilities,
        )
        for one in found[:limit]
    ]


def describe_model(text: str, context: PlanContext, *, may_ask: bool = True) -> ModelDescription:
    """What is known about one model; only an agent that can be asked who it is is connected to, where that may be.

    Any page in a browser can make a server read an address, and an agent is sent the key that its address names.
    """
    spec = model_spec(text)
    model, missing = _create(spec, context)
    identity = model.identity
    facts = find_facts(model, prices=context.prices, lists=context.lists)
    status = next(item for item in list_providers(context.environment) if item.provider.name == identity.provider)
    named = missing or spec.settings.get("auth_variable")
    return ModelDescription(
        model=str(spec),
        provider=identity.provider,
        name=identity.name,
        endpoint=identity.endpoint,
        adapter_version=identity.adapter_version,
        options=spec.sampling.given(),
        settings=spec.settings,
        capabilities=find_capabilities(status.provider, facts.listed_capabilities, spec.settings),
        key_variable=named or status.key_variable,
        has_key=not missing if named else status.has_key,
        context_tokens=facts.context_tokens,
        price=None if facts.price is None else ModelPrice(**asdict(facts.price)),
        limits=ModelLimits(
            requests_per_minute=spec.settings.get("rpm"),
            tokens_per_minute=spec.settings.get("tpm"),
            requests_per_batch=facts.requests_per_batch,
            most_at_once=facts.max_concurrency,
        ),
        listed_at=facts.listed_at,
        agent=_said_of_itself(model) if may_ask and not missing else None,
    )


def _create(spec: ModelSpec, context: PlanContext) -> tuple[Model, str | None]:
    """The model, and the variable of the key that it lacks: what is known about it is known without one."""
    environment = with_key_hosts(context.environment, named_hosts([spec]))
    try:
        return create_model(spec, environment=environment, folder=context.folder), None
    except MissingKeyError as error:
        # Nobody is asked anything with this key.
        environment = {**environment, error.variable: "not-set"}
        return create_model(spec, environment=environment, folder=context.folder), error.variable


def _said_of_itself(model: Model) -> dict[str, Json] | None:
    """What an agent answers when it is asked who it is; None for models that cannot be asked that."""
    from proctor.models.grpc_agent import GrpcAgent

    if not isinstance(model, GrpcAgent):
        return None

    async def ask() -> dict[str, Json]:
        try:
            return asdict(await model.info(timeout_seconds=INFO_SECONDS))
        except ModelError as error:
            return {"problem": str(error)}
        finally:
            await model.close()

    return asyncio.run(ask())


def list_provider_models(text: str, context: PlanContext, *, is_refreshing: bool = False) -> ModelList:
    """The models of a provider, written `provider?setting=value`, as it lists them; asked again after a day."""
    from proctor.models.listing import list_models

    name, _, query = text.partition("?")
    spec = model_spec(f"{name.rstrip('/')}/*" + (f"?{query}" if query else ""))
    listing = asyncio.run(
        list_models(
            spec.provider,
            with_key_hosts(context.environment, named_hosts([spec])),
            base_url=spec.settings.get("base_url"),
            auth_variable=spec.settings.get("auth_variable"),
            lists=context.lists,
            is_refreshing=is_refreshing,
        )
    )
    return ModelList(spec.provider, listing.fetched_at, [ModelListEntry(**asdict(item)) for item in listing.models])


def list_connected_models(connection: ProviderKeyRow, context: PlanContext) -> None:
    """Ask again what models there are at an address that a project has a key for; they are kept for that project.

    No other key goes there.
    """
    from proctor.models.listing import list_models

    here = context.of_project(connection.project)
    provider, url = connection.provider, connection.base_url
    asyncio.run(list_models(provider, here.environment, base_url=url, lists=here.lists, is_refreshing=True))
