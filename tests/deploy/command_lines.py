"""What files of a deployment say to Proctor: command lines that it understands, settings that it reads."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from importlib import import_module

import click

from proctor.cli.main import COMMANDS
from proctor.secret_files import FILE, OWN
from proctor.settings import PREFIX, VARIABLES

OTHERS = frozenset({"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_REGION", "AWS_ENDPOINT_URL_S3", "SSL_CERT_FILE"})
"""Settings that are not called after Proctor: docs/reference/files-and-environment.md."""


def refuse_unknown_command(words: Iterable[str]) -> list[str]:
    """The options' values are read as `proctor` would; raises click's own mistake. Gives the command's names."""
    name, *rest = words
    module, _, attribute = COMMANDS[name][0].partition(":")
    command: click.Command = getattr(import_module(module), attribute)
    names = [name]
    while isinstance(command, click.Group):
        inner = command.get_command(click.Context(command), rest[0])
        assert inner is not None, rest[0]
        command, names, rest = inner, [*names, rest[0]], rest[1:]
    with command.make_context(name, rest):
        return names


def unknown_settings(environment: Mapping[str, object] | Iterable[str]) -> list[str]:
    """Names that Proctor does not read."""
    known = {f"{PREFIX}{name}" for name in VARIABLES} | OTHERS | {f"{name}{FILE}" for name in OWN}
    return sorted(set(environment) - known)
