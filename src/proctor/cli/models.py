"""`proctor models`: what can answer a prompt, and what is known about it."""

from __future__ import annotations

import os
from collections.abc import Callable
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import click
from msgspec.structs import asdict

from proctor.cli.completing import complete_model
from proctor.cli.options import as_json, offline_option

if TYPE_CHECKING:
    from proctor.domain.model import Model
    from proctor.domain.plan import ModelSpec

INFO_SECONDS = 5.0


@click.command(short_help="List providers and models, with prices and limits.")
@click.argument("model", required=False, shell_complete=complete_model)
@click.option("--list", "provider", metavar="PROVIDER", help="List the models of a provider; cached for 24 hours.")
@click.option("--refresh", is_flag=True, help="Ignore the cached list.")
@offline_option
@as_json
def models(model: str | None, provider: str | None, refresh: bool, offline: bool, as_json: bool) -> None:
    """List the providers and their API keys; with MODEL, show its context window, price and limits.

    \b
    proctor models openai/gpt-5-mini
    proctor models --list openrouter
    proctor models --list "vllm?base_url=http://127.0.0.1:8000/v1"
    """
    from proctor.cli.context import print_json
    from proctor.offline import confined
    from proctor.settings import Settings

    if model and provider:
        raise click.UsageError("Give a model or --list PROVIDER, not both.")
    settings = Settings.from_environment()
    with confined(offline or settings.is_offline):
        document: Any = _live(provider, settings, refresh) if provider else _one(model, settings) if model else _all()
    if as_json:
        print_json(document)
    elif provider:
        _print_live(document)
    elif model:
        _print_one(document)
    else:
        _print_all(document)


def _print_all(document: list[dict[str, Any]]) -> None:
    from proctor.cli.terminal import cell, console, plain_table

    out = console()
    table = plain_table(("Provider", "Description", "API key", "Capabilities"))
    for item in document:
        table.add_row(item["provider"], cell(item["description"]), _key_text(item), _can_do(item["capabilities"]))
    out.print(table)
    out.print("\nA model is written provider/name?option=value. Details: proctor models MODEL")


def _print_one(document: dict[str, Any]) -> None:
    from proctor.cli.terminal import cell, console

    out = console()
    told: dict[str, Callable[[Any], str]] = {"capabilities": _can_do, "price": _price_text, "listed_at": _time_text}
    for name, value in document.items():
        if name == "key_variable":
            out.print(f"[bold]key:[/] {_key_text(document)}")
        elif name != "has_key" and (name != "listed_at" or document["endpoint"] is not None):
            out.print(f"[bold]{name}:[/] {cell(told.get(name, _shown)(value))}")


def _print_live(document: dict[str, Any]) -> None:
    from proctor.cli.figures import plural
    from proctor.cli.terminal import cell, console, plain_table

    out = console()
    table = plain_table(("Model",), ("Context", "$ in / million", "$ out / million"))
    for item in document["models"]:
        context = "–" if item["context_tokens"] is None else f"{item['context_tokens']:,}"
        prices = (item[f"{side}_usd_per_million"] or "–" for side in ("input", "output"))
        table.add_row(cell(item["name"]), context, *prices)
    out.print(table)
    count, when = plural(len(document["models"]), "model"), _time_text(document["fetched_at"])
    out.print(f"\n{count} of {cell(document['provider'])}, listed at {when}; update with --refresh.")


def _shown(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name}={part}" for name, part in value.items() if part is not None) or "none"
    if isinstance(value, int):
        return f"{value:,}"
    return "not known" if value is None else str(value)


def _can_do(capabilities: dict[str, bool | None]) -> str:
    """`text, images; unknown: tools`; what cannot be asked for is left out."""
    known = ["text", *(name.replace("_", " ") for name, value in capabilities.items() if value)]
    unknown = [name.replace("_", " ") for name, value in capabilities.items() if value is None]
    return ", ".join(known) + (f"; unknown: {', '.join(unknown)}" if unknown else "")


def _price_text(price: dict[str, Any] | None) -> str:
    if price is None:
        return "not known; give one with --assume-price or in a prices file"
    cached = f", ${price['cached']} for cached input" if price["cached"] else ""
    rest = [price["source"], f"in force since {price['since']}" if price["since"] else None, price["note"]]
    told = "; ".join(part for part in rest if part)
    return f"${price['input']} in, ${price['output']} out{cached}, for a million tokens ({told})"


def _time_text(moment: float | None) -> str:
    if moment is None:
        return "not looked up; 'proctor models --list PROVIDER' does"
    return datetime.fromtimestamp(moment, UTC).strftime("%Y-%m-%d %H:%M UTC")


def _key_text(item: dict[str, Any]) -> str:
    if item["key_variable"] is None:
        return "none needed"
    return f"[green]{item['key_variable']} is set[/]" if item["has_key"] else f"{item['key_variable']} is not set"


def _all() -> list[dict[str, Any]]:
    from proctor.models.registry import list_providers

    return [
        {
            "provider": status.provider.name,
            "description": status.provider.description,
            "key_variable": status.key_variable,
            "has_key": status.has_key,
            "capabilities": asdict(status.provider.capabilities),
            "settings": list(status.provider.settings),
        }
        for status in list_providers(os.environ)
    ]


def _one(text: str, settings: Any) -> dict[str, Any]:
    from proctor.models.catalogue import find_capabilities, find_facts
    from proctor.models.registry import list_providers
    from proctor.planning.plan_file import model_spec

    spec = model_spec(text)
    model, missing = _created(spec)
    identity = model.identity
    facts = find_facts(model, prices=settings.prices, lists=settings.lists)
    status = next(item for item in list_providers(os.environ) if item.provider.name == identity.provider)
    named = missing or spec.settings.get("auth_variable")
    return {
        "model": str(spec),
        "provider": identity.provider,
        "name": identity.name,
        "endpoint": identity.endpoint,
        "adapter_version": identity.adapter_version,
        "options": spec.sampling.given(),
        "settings": spec.settings,
        "capabilities": find_capabilities(status.provider, facts.listed_capabilities, spec.settings),
        "key_variable": named or status.key_variable,
        "has_key": not missing if named else status.has_key,
        "context_tokens": facts.context_tokens,
        "price": None if facts.price is None else asdict(facts.price),
        "limits": {
            "requests_per_minute": spec.settings.get("rpm"),
            "tokens_per_minute": spec.settings.get("tpm"),
            "requests_per_batch": facts.requests_per_batch,
            "most_at_once": facts.max_concurrency,
        },
        "listed_at": facts.listed_at,
        **({} if missing else _said_of_itself(model)),
    }


def _created(spec: ModelSpec) -> tuple[Model, str | None]:
    """The model, and the variable of the key that it lacks: what is known about it is known without one."""
    from pathlib import Path

    from proctor.domain.errors import MissingKeyError
    from proctor.models.key_hosts import with_key_hosts
    from proctor.models.registry import create_model, named_hosts

    environment = with_key_hosts(os.environ, named_hosts([spec]))
    try:
        return create_model(spec, environment=environment, folder=Path.cwd()), None
    except MissingKeyError as error:
        # Nobody is asked anything with this key.
        environment = {**environment, error.variable: "not-set"}
        return create_model(spec, environment=environment, folder=Path.cwd()), error.variable


def _said_of_itself(model: Any) -> dict[str, Any]:
    """What an agent answers when it is asked who it is; nothing for models that cannot be asked that."""
    from proctor.models.grpc_agent import GrpcAgent

    if not isinstance(model, GrpcAgent):
        return {}
    import asyncio

    from proctor.domain.errors import ModelError

    async def ask() -> dict[str, Any]:
        try:
            return asdict(await model.info(timeout_seconds=INFO_SECONDS))
        except ModelError as error:
            return {"problem": str(error)}
        finally:
            await model.close()

    return {"agent": asyncio.run(ask())}


def _live(text: str, settings: Any, refresh: bool) -> dict[str, Any]:
    import asyncio

    from proctor.models.key_hosts import with_key_hosts
    from proctor.models.listing import list_models
    from proctor.models.registry import named_hosts
    from proctor.planning.plan_file import model_spec

    name, _, query = text.partition("?")
    spec = model_spec(f"{name.rstrip('/')}/*" + (f"?{query}" if query else ""))
    listing = asyncio.run(
        list_models(
            spec.provider,
            with_key_hosts(os.environ, named_hosts([spec])),
            base_url=spec.settings.get("base_url"),
            auth_variable=spec.settings.get("auth_variable"),
            cache=settings.lists,
            is_refreshing=refresh,
        )
    )
    return {
        "provider": spec.provider,
        "fetched_at": listing.fetched_at,
        "models": [asdict(item) for item in listing.models],
    }
