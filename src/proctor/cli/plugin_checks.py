"""Whether a plugin of another package keeps what its kind promises, as far as can be told without using it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

from proctor import plugins
from proctor.domain.errors import SandboxError
from proctor.plugins import Plugin


def fault_of(plugin: Plugin) -> str | None:
    """What is wrong with a plugin; None when nothing is, or when it only misses something on this machine."""
    try:
        with plugins.attribute_faults(plugin.kind, plugin.name, is_strict=True), suppress(SandboxError):
            _TRIED.get(plugin.kind, _load)(plugin)
    except plugins.BrokenPluginError as fault:
        return fault.reason
    return None


def _load(plugin: Plugin) -> Any:
    return plugins.load(plugin.kind, plugin.name)


def _create(plugin: Plugin) -> Any:
    return plugins.create(plugin.kind, plugin.name)


def _try_provider(plugin: Plugin) -> Any:
    from proctor.models.registry import provider_of

    return provider_of(plugin.name)


def _try_benchmark(plugin: Plugin) -> Any:
    from proctor.benchmarks.registry import info_of_plugin

    return info_of_plugin(plugin.name)


def _try_theme(plugin: Plugin) -> Any:
    from proctor.reports.theme import load_theme

    return load_theme(plugin.name)


_TRIED: dict[str, Callable[[Plugin], Any]] = {
    "models": _try_provider,
    "benchmarks": _try_benchmark,
    "metrics": _create,
    "sandboxes": _create,
    "runners": _create,
    "themes": _try_theme,
}
