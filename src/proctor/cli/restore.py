"""`proctor restore`: bring a backup back into an empty place."""

from __future__ import annotations

import click

from proctor.cli.echo import echo
from proctor.cli.options import as_json


@click.command(short_help="Restore a backup into an empty place.")
@click.argument("place", metavar="[PLACE]", required=False)
@click.option("--backup", "backup_id", metavar="ID", help="This one instead of the newest.")
@as_json
def restore(place: str | None, backup_id: str | None, as_json: bool) -> None:
    """Restore the newest backup in PLACE to the database and the artifacts of this environment, which are empty.

    Every table and every artifact is read back and compared with what was backed up. A backup of a SQLite file can be
    restored to PostgreSQL and the other way round, one of an older version is upgraded. What was interrupted is started
    again with the same command. Runs that were being executed are finished with 'proctor resume'.
    """
    from proctor.cli.backup import backup_key, open_backups
    from proctor.cli.context import artifacts, print_json
    from proctor.reports.figures import plural
    from proctor.runs.storage.restoring import restore_backup
    from proctor.settings import Settings
    from proctor.stores.database import locate_database

    database = locate_database(Settings.from_environment().database_url)
    try:
        done = restore_backup(database, artifacts(), open_backups(place), backup_key(), backup_id)
    finally:
        database.dispose()
    if as_json:
        print_json(done)
        return
    found = done.backup
    echo(f"Restored {found.id} of {found.created_at.astimezone():%Y-%m-%d %H:%M:%S} in {done.seconds:.1f} s.")
    echo(f"  {plural(found.runs, 'run')}, {plural(found.rows, 'row')} to {done.database}; every table is the same.")
    echo(f"  {plural(found.artifacts, 'artifact')} to {done.artifacts}; every one is the same.")
