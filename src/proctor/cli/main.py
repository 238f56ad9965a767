"""`proctor`: finds the command, runs it, and turns errors into one clear line and the right exit code."""

from __future__ import annotations

import sys
from importlib import import_module

import click

from proctor.version import __version__

COMMANDS = {
    "run": ("proctor.cli.run:run", "Evaluate models on benchmarks."),
    "resume": ("proctor.cli.resume:resume", "Finish a run that was interrupted."),
    "cancel": ("proctor.cli.cancel:cancel", "Stop a run that another process executes."),
    "runs": ("proctor.cli.runs:runs", "List the runs."),
    "show": ("proctor.cli.show:show", "Show a run's results."),
    "samples": ("proctor.cli.samples:samples", "Look at single prompts, answers and verdicts."),
    "export": ("proctor.cli.export:export", "Write a run's results as JSON lines or CSV."),
    "benchmarks": ("proctor.cli.benchmarks:benchmarks", "List, show and check benchmarks."),
    "models": ("proctor.cli.models:models", "List the model providers."),
    "doctor": ("proctor.cli.doctor:doctor", "Check that everything Proctor needs is there."),
    "db": ("proctor.cli.db:db", "Look after the database."),
    "completion": ("proctor.cli.completion:completion", "Print the shell completion script."),
}


class LazyGroup(click.Group):
    """Imports a command's module when the command is used: `proctor --version` must not wait for the others."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:  # noqa: ARG002
        if name not in COMMANDS:
            return None
        module, _, attribute = COMMANDS[name][0].partition(":")
        command: click.Command = getattr(import_module(module), attribute)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            from proctor.domain.errors import did_you_mean

            raise click.UsageError(f"No command {args[0]!r}.{did_you_mean(args[0], COMMANDS)}", ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        with formatter.section("Commands"):
            formatter.write_dl([(name, summary) for name, (_, summary) in COMMANDS.items()])


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="proctor", message="%(prog)s %(version)s")
def cli() -> None:
    """Proctor says which AI model is better at your work, by how much, and how sure it is.

    Try it without any key:  proctor run puzzles -m demo/strong -m demo/weak
    """


def main() -> None:
    """Run the command line; ends the process with its exit code."""
    from proctor.domain.errors import ProctorError

    try:
        cli.main(prog_name="proctor", standalone_mode=False)
    except click.exceptions.Exit as exit_:
        sys.exit(exit_.exit_code)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except (click.Abort, KeyboardInterrupt):
        click.echo("Interrupted.", err=True)
        sys.exit(130)
    except ProctorError as error:
        click.echo(f"Error: {error}", err=True)
        sys.exit(error.exit_code)
    except BrokenPipeError:
        # Whoever read our output has gone; say nothing more, not even at shutdown.
        sys.stderr.close()
        sys.exit(141)
