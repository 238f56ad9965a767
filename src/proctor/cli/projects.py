"""`proctor projects`: whose data it is."""

from __future__ import annotations

from pathlib import Path

import click

from proctor.cli.echo import echo
from proctor.cli.options import as_json, yes_option

BY = "command line"
DAY_SECONDS = 86_400


@click.group(short_help="Add and list projects, and say who belongs to them.")
def projects() -> None:
    """Manage projects: runs, keys and members belong to one; without any there is 'local'."""


@projects.command()
@click.argument("name")
def add(name: str) -> None:
    """Add a project."""
    from proctor.accounts.projects import add_project
    from proctor.cli.context import database

    with database() as opened:
        add_project(opened, name, by=BY)
    echo(f"Added the project {name}.")


@projects.command(name="list")
@as_json
def list_(as_json: bool) -> None:
    """List the projects."""
    from proctor.accounts.showing import list_projects
    from proctor.cli.context import database, print_json
    from proctor.reports.figures import plural

    with database() as opened:
        found = list_projects(opened)
    if as_json:
        print_json(found)
        return
    for project in found:
        echo(f"{project.name}  {plural(project.members, 'member')}")


@projects.command()
@click.argument("project")
@click.option("--set", "given", multiple=True, metavar="USER=ROLE", help="Add a member: viewer, editor or owner.")
@click.option("--remove", "removed", multiple=True, metavar="USER", help="Remove a member.")
@as_json
def members(project: str, given: tuple[str, ...], removed: tuple[str, ...], as_json: bool) -> None:
    """Show who belongs to a project, after adding or removing somebody."""
    from proctor.accounts.projects import set_member
    from proctor.accounts.showing import list_members
    from proctor.cli.context import database, print_json
    from proctor.domain.errors import UserError

    with database() as opened:
        for pair in given:
            user, separator, role = pair.partition("=")
            if not separator:
                raise UserError(f"--set is USER=ROLE, such as {user}=editor.")
            set_member(opened, project, user, role, by=BY)
        for user in removed:
            set_member(opened, project, user, None, by=BY)
        found = list_members(opened, project)
    if as_json:
        print_json(found)
        return
    for member in found:
        echo(f"{member.user}  {member.role}")
    if not found:
        echo(f"{project} has no members yet. Add one with: proctor projects members {project} --set USER=editor")


@projects.command()
@click.argument("name")
@yes_option
@as_json
def delete(name: str, yes: bool, as_json: bool) -> None:
    """Delete a project: its runs, files, benchmarks, plans, programs, keys, members and budgets, for good.

    What other projects have, too, stays. Rows of the audit log stay, and backups until they are pruned. A file of
    SQLite is written anew, so that nothing of the project is left in it.
    """
    from proctor.cli.asking import confirm
    from proctor.cli.context import artifacts, database, print_json
    from proctor.reports.figures import bytes_text, plural
    from proctor.runs.storage.project_deletion import delete_project, require_deletable
    from proctor.stores.project_rows import project_use

    with database() as opened:
        require_deletable(opened, name)
        runs = len(project_use(opened, name).runs)
        confirm(f"Delete the project {name} with {plural(runs, 'run')} for good?", yes=yes)
        done = delete_project(opened, artifacts(), name, by=BY)
    if as_json:
        print_json(done)
        return
    what = [plural(done.runs, "run"), plural(done.responses, "response"), plural(done.rows, "other row")]
    echo(
        f"Deleted the project {name}: {', '.join(what)}, {plural(done.artifacts, 'artifact')} "
        f"({bytes_text(done.artifact_bytes)} of files)."
    )


@projects.command()
@click.argument("name")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--plain", is_flag=True, help="Do not encrypt it, although there is a key for backups.")
@as_json
def export(name: str, file: Path, plain: bool, as_json: bool) -> None:
    """Write all that a project has to FILE, for 'proctor projects import' elsewhere.

    Runs with their answers and scores, marks and comments, files, benchmarks, plans, programs, asks, and every artifact
    they name. What is secret (keys, webhooks), people and budgets stay here. All runs must have ended. With
    PROCTOR_BACKUP_KEY (32 bytes as base64) or PROCTOR_BACKUP_KEY_FILE the file is encrypted, as backups are.
    """
    from proctor.cli.backup import backup_key
    from proctor.cli.context import artifacts, database, print_json
    from proctor.reports.figures import bytes_text, plural
    from proctor.runs.storage.project_archive import export_project

    with database() as opened:
        done = export_project(opened, artifacts(), name, file, by=BY, key=None if plain else backup_key())
    if as_json:
        print_json(done)
        return
    what = f"{plural(done.rows.get('runs', 0), 'run')}, {plural(sum(done.rows.values()), 'row')}"
    sealed = ", encrypted" if done.is_encrypted else ""
    echo(f"Exported {name} to {file} ({bytes_text(done.bytes)}{sealed}): {what}, {plural(done.artifacts, 'artifact')}.")


@projects.command(name="import")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--as", "name", metavar="NAME", help="What the project is called here; left out, as it was.")
@click.option("--own", is_flag=True, help="You made FILE yourself: its runs count as run here.")
@as_json
def import_(file: Path, name: str | None, own: bool, as_json: bool) -> None:
    """Make a new project of a FILE that 'proctor projects export' wrote; counts and digests are compared.

    Nobody here saw its answers being made: its models are called imported/…, no leaderboard ranks them, its runs cannot
    be resumed and its answers are lent to no other run. With --own everything is as it was. One that is encrypted is
    opened with PROCTOR_BACKUP_KEY or PROCTOR_BACKUP_KEY_FILE.
    """
    from proctor.cli.backup import backup_key
    from proctor.cli.context import artifacts, database, print_json
    from proctor.reports.figures import plural
    from proctor.runs.storage.project_archive import import_project

    with database() as opened:
        done = import_project(opened, artifacts(), file, name=name, is_own=own, by=BY, key=backup_key())
    if as_json:
        print_json(done)
        return
    what = f"{plural(done.rows.get('runs', 0), 'run')}, {plural(sum(done.rows.values()), 'row')}"
    echo(f"Imported {done.project}: {what}, {plural(done.artifacts, 'artifact')}; every one is the same.")
    if not done.is_own:
        echo("Its models are called imported/…: no leaderboard ranks them. With --own they would count as run here.")


@projects.command()
@click.argument("project")
@click.option("--set", "given", multiple=True, metavar="KIND=AGE", help="Keep so long: runs=90d, asks=30d, runs=never.")
@click.option("--forget", multiple=True, metavar="KIND", help="Drop the project's own time for it.")
@as_json
def retention(project: str, given: tuple[str, ...], forget: tuple[str, ...], as_json: bool) -> None:
    """Show how long a project keeps what, after changing it; 'proctor retention' removes what is older.

    KIND is runs, asks (side by side), submissions (programs that were marked) or cache (answers of judges). 'never'
    keeps it until somebody deletes it.
    """
    from proctor.cli.cache import Age
    from proctor.cli.context import database, print_json
    from proctor.domain.errors import UserError
    from proctor.runs.storage.retention import set_rules

    changes: dict[str, float | None] = {}
    for pair in given:
        kind, separator, age = pair.partition("=")
        if not separator:
            raise UserError(f"--set is KIND=AGE, such as {kind}=90d.")
        changes[kind] = None if age == "never" else Age().convert(age, None, None) / DAY_SECONDS
    with database() as opened:
        found = set_rules(opened, project, changes, forget, by=BY)
    if as_json:
        print_json(found)
        return
    for kind, days in found.days.items():
        echo(f"{kind}  {'never removed' if days is None else f'{days:g} days'}")
    if not found.days:
        echo(
            f"{project} has no times of its own: its runs are kept as PROCTOR_RETENTION_DAYS says, all else for good. "
            f"Set one with: proctor projects retention {project} --set runs=90d"
        )
