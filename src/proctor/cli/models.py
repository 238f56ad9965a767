"""`proctor models`: what can answer a prompt."""

from __future__ import annotations

import os
from dataclasses import asdict
from typing import Any

import click

from proctor.cli.completing import complete_model
from proctor.cli.options import as_json


@click.command(short_help="List the model providers.")
@click.argument("model", required=False, shell_complete=complete_model)
@as_json
def models(model: str | None, as_json: bool) -> None:
    """List the providers and whether each has its key; with MODEL, check that it can be used as written."""
    from proctor.cli.workplace import print_json

    document = _one(model) if model else _all()
    if as_json:
        print_json(document)
        return
    from proctor.cli.terminal import cell, console, plain_table

    out = console()
    if isinstance(document, dict):
        for name, value in document.items():
            out.print(f"[bold]{name}:[/] {cell(_shown(value))}")
        return
    table = plain_table(("Provider", "What it is", "Key", "Can do"))
    for item in document:
        can_do = ", ".join(name.replace("_", " ") for name, value in item["capabilities"].items() if value)
        table.add_row(item["provider"], cell(item["description"]), _key_text(item), can_do or "text")
    out.print(table)
    out.print("\nA model is written provider/name?option=value. Check one with: proctor models MODEL")


def _shown(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name}={part}" for name, part in value.items()) or "none"
    return "none" if value is None else str(value)


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
            "key_variable": status.provider.key_variable,
            "has_key": status.has_key,
            "capabilities": asdict(status.provider.capabilities),
            "settings": list(status.provider.settings),
        }
        for status in list_providers(os.environ)
    ]


def _one(text: str) -> dict[str, Any]:
    from pathlib import Path

    from proctor.models.registry import create_model
    from proctor.planning.plan_file import model_spec

    spec = model_spec(text)
    identity = create_model(spec, environment=os.environ, folder=Path.cwd()).identity
    return {
        "model": str(spec),
        "provider": identity.provider,
        "name": identity.name,
        "endpoint": identity.endpoint,
        "adapter_version": identity.adapter_version,
        "options": spec.sampling.given(),
        "settings": spec.settings,
    }
