"""An option whose values are the names of a kind of plugins: known when asked for, not when the command is imported."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from proctor import plugins

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem


class PluginName(click.types.StringParamType):
    """A name of this kind, built in or of an installed package."""

    name = "name"

    def __init__(self, kind: str) -> None:
        self._kind = kind

    def get_metavar(self, param: click.Parameter, ctx: click.Context) -> str:  # noqa: ARG002
        return f"[{'|'.join(plugins.names(self._kind))}]"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:  # noqa: ARG002
        if not plugins.is_known(self._kind, value):
            raise plugins.not_found(self._kind, value)
        return str(value)

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:  # noqa: ARG002
        from click.shell_completion import CompletionItem

        return [CompletionItem(name) for name in plugins.names(self._kind) if name.startswith(incomplete)]
