"""What the shell offers when the user presses Tab: quick, and silent when something is wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import click
    from click.shell_completion import CompletionItem

OFFERED_RUNS = 50


def complete_run(_: click.Context, __: click.Parameter, incomplete: str) -> list[str]:
    """Ids of the newest runs, and 'latest'."""
    from proctor.cli.context import database
    from proctor.domain.errors import ProctorError
    from proctor.stores.listing import list_runs

    try:
        with database() as opened:
            ids = [row.id for row in list_runs(opened, limit=OFFERED_RUNS)]
    except ProctorError:
        return []
    return [name for name in ["latest", *ids] if name.startswith(incomplete)]


def complete_benchmark(_: click.Context, __: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Benchmarks by name; where none fits, files."""
    from click.shell_completion import CompletionItem

    from proctor.benchmarks.registry import list_benchmarks

    found = [item for item in list_benchmarks() if item.name.startswith(incomplete)]
    if not found:
        return [CompletionItem(incomplete, type="file")]
    return [CompletionItem(item.name, help=item.description) for item in found]


def complete_problem(_: click.Context, __: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Built-in problems by id; where none fits, folders."""
    from click.shell_completion import CompletionItem

    from proctor.benchmarks.problems.finding import problem_folders

    found = [name for name in problem_folders() if name.startswith(incomplete)]
    return [CompletionItem(name) for name in found] or [CompletionItem(incomplete, type="dir")]


def complete_model(_: click.Context, __: click.Parameter, incomplete: str) -> list[str]:
    """Providers, each with its slash; and the demo models, which are all known."""
    from proctor import plugins
    from proctor.models.demo import CHARACTERS

    offered = [f"{name}/" for name in plugins.names("models")]
    if incomplete.startswith("demo/"):
        offered = [f"demo/{name}" for name in CHARACTERS]
    return [name for name in offered if name.startswith(incomplete)]
