"""`proctor`: finds the command, runs it, and turns errors into one clear line and the right exit code."""

from __future__ import annotations

import atexit
import errno
import gc
import io
import os
import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any, NoReturn

import click

from proctor import plugins
from proctor.domain.errors import ProctorError, did_you_mean
from proctor.version import __version__

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

COMMANDS = {
    "run": ("proctor.cli.run:run", "Evaluate models on benchmarks."),
    "plan": ("proctor.cli.plan:plan", "Turn a sentence into a plan."),
    "resume": ("proctor.cli.resume:resume", "Finish a run that was interrupted."),
    "rescore": ("proctor.cli.rescore:rescore", "Score a run's stored responses again."),
    "cancel": ("proctor.cli.cancel:cancel", "Stop a running run."),
    "runs": ("proctor.cli.runs:runs", "List the runs."),
    "delete": ("proctor.cli.delete:delete", "Delete a run."),
    "show": ("proctor.cli.show:show", "Show a run's results."),
    "samples": ("proctor.cli.samples:samples", "Show prompts, responses, targets and scores."),
    "compare": ("proctor.cli.compare:compare", "Compare models with paired statistical tests."),
    "leaderboard": ("proctor.cli.leaderboard:leaderboard", "Rank models across runs."),
    "power": ("proctor.cli.power:power", "Compute the sample size that a difference needs."),
    "report": ("proctor.cli.report:report", "Write a run's report as HTML, Markdown or JSON, with charts."),
    "export": ("proctor.cli.export:export", "Export results as JSONL, CSV, Parquet, JUnit or Inspect log."),
    "import": ("proctor.cli.import_:import_", "Import logs of Inspect, lm-eval and promptfoo."),
    "sql": ("proctor.cli.sql:sql", "Ask a question in SQL over stored results."),
    "benchmarks": ("proctor.cli.benchmarks:benchmarks", "List, show and check benchmarks."),
    "recommend": ("proctor.cli.recommend:recommend", "Recommend benchmarks for a need, or after a run."),
    "problems": ("proctor.cli.problems:problems", "Programs to build from requirements: list, check, submit."),
    "models": ("proctor.cli.models:models", "List the model providers."),
    "serve": ("proctor.cli.serve:serve", "Serve the API and the dashboard."),
    "mcp": ("proctor.cli.mcp:mcp", "Offer Proctor's tools to agents (MCP)."),
    "users": ("proctor.cli.users:users", "Add, list and disable the users of the server."),
    "projects": ("proctor.cli.projects:projects", "Add and list projects, and say who belongs to them."),
    "keys": ("proctor.cli.keys:keys", "Create, list, rotate and revoke API keys."),
    "provider-keys": ("proctor.cli.provider_keys:provider_keys", "Keep encrypted keys for providers."),
    "budgets": ("proctor.cli.budgets:budgets", "Limit what projects, users and keys spend."),
    "audit": ("proctor.cli.audit:audit", "Verify and export the audit log."),
    "sandbox": ("proctor.cli.sandbox:sandbox", "Run a program in the sandbox."),
    "doctor": ("proctor.cli.doctor:doctor", "Check the installation."),
    "cache": ("proctor.cli.cache:cache", "Show and clear the caches."),
    "db": ("proctor.cli.db:db", "Upgrade the database."),
    "backup": ("proctor.cli.backup:backup", "Back up the database and the artifacts."),
    "restore": ("proctor.cli.restore:restore", "Restore a backup into an empty place."),
    "retention": ("proctor.cli.retention:retention", "Remove what is older than it is to be kept."),
    "config": ("proctor.cli.config:config", "Show every setting and where it comes from."),
    "usage": ("proctor.cli.usage:usage", "Show what was used, and what it cost."),
    "worker": ("proctor.cli.worker:worker", "Execute runs that are handed to workers."),
    "workers": ("proctor.cli.workers:workers", "List the workers and what they do."),
    "completion": ("proctor.cli.completion:completion", "Print the shell completion script."),
}
# Pydantic would otherwise read the metadata of every installed package, looking for plugins of its own.
os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "1")
OBJECTS_BETWEEN = 200_000
"""New objects between searches for cycles: the modules of a command alone make half as many, and no cycle."""
OUTPUT_FAULTS = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)
READER_GONE = 141  # what a shell reports for a program ended by SIGPIPE


class LazyGroup(click.Group):
    """Imports a command's module when the command is used: `proctor --version` must not wait for the others."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return [*COMMANDS, *plugins.names("commands")]

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:  # noqa: ARG002
        if name not in COMMANDS:
            return plugins.load("commands", name) if plugins.is_known("commands", name) else None
        module, _, attribute = COMMANDS[name][0].partition(":")
        command: click.Command = getattr(import_module(module), attribute)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0] if args else ""
        if name and not name.startswith("-") and name not in COMMANDS and not plugins.is_known("commands", name):
            known = self.list_commands(ctx)
            raise click.UsageError(f"No command {name!r}.{did_you_mean(name, known)}", ctx)
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; a reader that has gone away is no failure of ours (click would say 1)."""
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            _silence()
            raise click.exceptions.Exit(READER_GONE) from None

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """The commands, without importing any of Proctor's own."""
        from click.shell_completion import CompletionItem

        found = [CompletionItem(name, help=text) for name, text in _summaries().items() if name.startswith(incomplete)]
        return found or click.Command.shell_complete(self, ctx, incomplete)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        with formatter.section("Commands"):
            formatter.write_dl(list(_summaries().items()))


def _summaries() -> dict[str, str]:
    """Each command and what it does; a plugin's has to be loaded to say so."""
    found = {name: summary for name, (_, summary) in COMMANDS.items()}
    return found | plugins.each("commands", lambda name: plugins.load("commands", name).get_short_help_str(60))


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="proctor", message="%(prog)s %(version)s")
def cli() -> None:
    """Proctor measures which AI model is better at your work, by how much, and with what certainty.

    Try it without any key:  proctor run puzzles -m demo/strong -m demo/weak
    """
    from proctor.settings import Settings

    Settings.from_environment()  # a variable that is misspelt is said by every command, also by those that need none


def main() -> None:
    """Run the command line; ends the process with its exit code."""
    _open_closed_streams()
    _accept_any_text()
    _refuse_undecodable_arguments()
    # What is left at the end goes with the process: looking for cycles in it once more took a tenth of a second.
    atexit.register(gc.freeze)
    gc.set_threshold(OBJECTS_BETWEEN, *gc.get_threshold()[1:])
    try:
        _run()
    finally:
        _name_left_out()


def _open_closed_streams() -> None:
    """A stream that was closed (`>&-`) leads nowhere; left closed, the next file opened would get what is printed."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115, PTH123 - for good


def _run() -> None:
    try:
        exit_code = cli.main(prog_name="proctor", standalone_mode=False)
        sys.stdout.flush()
    except click.exceptions.NoArgsIsHelpError as error:
        error.show()
        sys.exit(error.exit_code)
    except click.UsageError as error:
        _fail(error, f"{_sentence(error.format_message())}{_where_help_is(error)}", error.exit_code)
    except click.ClickException as error:
        _fail(error, error.format_message(), error.exit_code)
    except (click.Abort, KeyboardInterrupt):
        click.echo("Interrupted.", err=True)  # noqa: TID251 - our own words
        sys.exit(130)
    except ProctorError as error:
        _fail(error, str(error), error.exit_code)
    except BrokenPipeError:  # at the last flush
        _silence()
        sys.exit(READER_GONE)
    except OSError as error:
        if error.errno not in OUTPUT_FAULTS:
            _end_for_plugin(error)
            raise
        _silence()
        _say(f"The output cannot be written: {error.strerror or error}.")
        sys.exit(1)
    except Exception as error:
        _end_for_plugin(error)
        raise
    # What a command asks for with click.exceptions.Exit comes back as a value.
    sys.exit(exit_code if isinstance(exit_code, int) else 0)


def _fail(error: Exception, message: str, exit_code: int) -> NoReturn:
    """End with one line on standard error; whoever asked for JSON gets the same as a document on standard output."""
    _say(message)
    if "--json" in sys.argv[1:]:
        from proctor.cli.context import print_json
        from proctor.domain.documents.failure import CommandFailure

        print_json(CommandFailure(_one_line(message), type(error).__name__, exit_code))
    sys.exit(exit_code)


def _end_for_plugin(error: Exception) -> None:
    """An error in a plugin that was asked for is told in one line; nothing happens where the code is our own."""
    fault = plugins.fault_of_plugin(error)
    if fault is not None:
        _fail(fault, str(fault), fault.exit_code)


def _say(message: str) -> None:
    """One line on standard error, whatever is in the message."""
    from proctor.cli.echo import echo

    echo(f"Error: {_one_line(message)}", err=True)


def _one_line(message: str) -> str:
    return " ".join(message.split())


def _name_left_out() -> None:
    """Plugins that the command did without; nothing while a shell completes a line."""
    for plugin, reason in plugins.take_left_out().items():
        if "_PROCTOR_COMPLETE" not in os.environ:
            from proctor.cli.echo import echo

            echo(f"Warning: the plugin {plugin} is left out: {reason}.", err=True)


def _sentence(text: str) -> str:
    return text if text.endswith((".", "?", "!")) else f"{text}."


def _where_help_is(error: click.UsageError) -> str:
    path = error.ctx.command_path if error.ctx is not None else "proctor"
    return f" See '{path} --help'."


def _refuse_undecodable_arguments() -> None:
    """Bytes that are not UTF-8 arrive as half surrogate pairs, which can be neither stored nor looked up."""
    for argument in sys.argv[1:]:
        try:
            argument.encode()
        except UnicodeEncodeError:
            _say(f"The argument {argument!a} is not UTF-8.")
            sys.exit(2)


def _accept_any_text() -> None:
    """A model may write what the terminal's encoding cannot show; that must not end a command."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _silence() -> None:
    """Nobody can read our output any more; say nothing more, not even at shutdown."""
    with open(os.devnull, "wb") as nowhere:  # noqa: PTH123 - a device, not a path of ours
        os.dup2(nowhere.fileno(), sys.stdout.fileno())
