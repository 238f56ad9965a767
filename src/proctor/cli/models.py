"""`proctor models`: what can answer a prompt, and what is known about it."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, TypeVar

import click

from proctor.cli.completing import complete_model
from proctor.cli.options import as_json, offline_option

if TYPE_CHECKING:
    from proctor.domain.documents.model import ModelDescription, ModelList, ModelPrice, ProviderDescription

T = TypeVar("T")


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
    from proctor.cli.context import context
    from proctor.offline import confined
    from proctor.runs.models import describe_model, describe_providers, list_provider_models
    from proctor.settings import Settings

    if model and provider:
        raise click.UsageError("Give a model or --list PROVIDER, not both.")
    settings = Settings.from_environment()
    with confined(offline or settings.is_offline):
        if provider:
            _show(list_provider_models(provider, context(), is_refreshing=refresh), _print_live, as_json)
        elif model:
            _show(describe_model(model, context()), _print_one, as_json)
        else:
            _show(describe_providers(os.environ), _print_all, as_json)


def _show(document: T, show: Callable[[T], None], as_json: bool) -> None:
    from proctor.cli.context import print_json

    if as_json:
        print_json(document)
    else:
        show(document)


def _print_all(providers: Sequence[ProviderDescription]) -> None:
    from proctor.cli.terminal import cell, console, plain_table

    out = console()
    table = plain_table(("Provider", "Description", "API key", "Capabilities"))
    for item in providers:
        table.add_row(item.provider, cell(item.description), _key_text(item), _can_do(item.capabilities))
    out.print(table)
    out.print("\nA model is written provider/name?option=value. Details: proctor models MODEL")


def _print_one(model: ModelDescription) -> None:
    from proctor.cli.terminal import cell, console

    out = console()
    told = {
        "capabilities": _can_do(model.capabilities),
        "price": _price_text(model.price),
        "listed_at": _time_text(model.listed_at),
    }
    for name, value in model.document.items():
        if name == "key_variable":
            out.print(f"[bold]key:[/] {_key_text(model)}")
        elif name != "has_key" and (name != "listed_at" or model.endpoint is not None):
            out.print(f"[bold]{name}:[/] {cell(told.get(name) or _shown(value))}")


def _print_live(listing: ModelList) -> None:
    from proctor.cli.figures import plural
    from proctor.cli.terminal import cell, console, plain_table

    out = console()
    table = plain_table(("Model",), ("Context", "$ in / million", "$ out / million"))
    for item in listing.models:
        context = "–" if item.context_tokens is None else f"{item.context_tokens:,}"
        prices = (price or "–" for price in (item.input_usd_per_million, item.output_usd_per_million))
        table.add_row(cell(item.name), context, *prices)
    out.print(table)
    count, when = plural(len(listing.models), "model"), _time_text(listing.fetched_at)
    out.print(f"\n{count} of {cell(listing.provider)}, listed at {when}; update with --refresh.")


def _shown(value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name}={part}" for name, part in value.items() if part is not None) or "none"
    if isinstance(value, int):
        return f"{value:,}"
    return "not known" if value is None else str(value)


def _can_do(capabilities: Mapping[str, bool | None]) -> str:
    """`text, images; unknown: tools`; what cannot be asked for is left out."""
    known = ["text", *(name.replace("_", " ") for name, value in capabilities.items() if value)]
    unknown = [name.replace("_", " ") for name, value in capabilities.items() if value is None]
    return ", ".join(known) + (f"; unknown: {', '.join(unknown)}" if unknown else "")


def _price_text(price: ModelPrice | None) -> str:
    if price is None:
        return "not known; give one with --assume-price or in a prices file"
    cached = f", ${price.cached} for cached input" if price.cached else ""
    rest = [price.source, f"in force since {price.since}" if price.since else None, price.note]
    told = "; ".join(part for part in rest if part)
    return f"${price.input} in, ${price.output} out{cached}, for a million tokens ({told})"


def _time_text(moment: float | None) -> str:
    if moment is None:
        return "not looked up; 'proctor models --list PROVIDER' does"
    return datetime.fromtimestamp(moment, UTC).strftime("%Y-%m-%d %H:%M UTC")


def _key_text(item: ProviderDescription | ModelDescription) -> str:
    if item.key_variable is None:
        return "none needed"
    return f"[green]{item.key_variable} is set[/]" if item.has_key else f"{item.key_variable} is not set"
