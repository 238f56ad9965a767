"""`proctor completion`: the shell completion script."""

from __future__ import annotations

import click


@click.command(short_help="Print the shell completion script.")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> None:
    """Print the completion script of a shell.

    \b
    bash:  echo 'eval "$(proctor completion bash)"' >> ~/.bashrc
    zsh:   echo 'eval "$(proctor completion zsh)"' >> ~/.zshrc
    fish:  proctor completion fish > ~/.config/fish/completions/proctor.fish
    """
    from click.shell_completion import get_completion_class

    from proctor.cli.main import cli

    found = get_completion_class(shell)
    if found is None:
        raise click.UsageError(f"No completion for {shell}.")
    click.echo(found(cli, {}, "proctor", "_PROCTOR_COMPLETE").source())  # noqa: TID251 - a script
