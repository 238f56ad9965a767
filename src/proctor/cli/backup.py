"""`proctor backup`: copies of the database and of artifacts, made, checked and removed."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from proctor.cli.cache import Age
from proctor.cli.echo import echo
from proctor.cli.options import as_json, yes_option

if TYPE_CHECKING:
    from proctor.stores.backups.places import BackupPlace
    from proctor.stores.backups.sealing import BackupKey

DEFAULT = "create"
DAY_SECONDS = 86_400

place_argument = click.argument("place", metavar="[PLACE]", required=False)


class BackupGroup(click.Group):
    """`proctor backup PLACE` makes one: what names no command is a place."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        asks_for_help = any(name in args[:1] for name in ("-h", "--help"))
        if not asks_for_help and (not args or args[0] not in self.commands):
            args = [DEFAULT, *args]
        return super().parse_args(ctx, args)


@click.group(cls=BackupGroup, short_help="Back up the database and the artifacts.")
def backup() -> None:
    """Back up the database and the artifacts: 'proctor backup PLACE', also while runs are writing.

    PLACE is a folder or s3://BUCKET/PREFIX; if left out, PROCTOR_BACKUPS_URL or 'backups' in the home. What artifacts
    have in common is kept once for all backups of a place. With PROCTOR_BACKUP_KEY (32 bytes as base64) or
    PROCTOR_BACKUP_KEY_FILE everything in it is encrypted. 'proctor restore' brings a backup back.
    """


def open_backups(place: str | None) -> BackupPlace:
    """The place that is named, or the environment's."""
    import os

    from proctor.domain.errors import did_you_mean
    from proctor.secret_files import with_secret_files
    from proctor.settings import Settings
    from proctor.stores.backups.places import open_place

    settings = Settings.from_environment()
    if place is not None and "/" not in place and not place.startswith(".") and not Path(place).is_dir():
        hint = did_you_mean(place, backup.commands)
        raise click.UsageError(f"{place!r} is neither a folder nor a command.{hint} A new folder is written ./{place}.")
    return open_place(place or settings.backups_url, with_secret_files(os.environ), is_offline=settings.is_offline)


def backup_key() -> BackupKey | None:
    """The key of this environment; None where backups are not encrypted."""
    import os

    from proctor.domain.errors import UserError
    from proctor.stores.backups.sealing import BackupKey

    text, file = os.environ.get("PROCTOR_BACKUP_KEY"), os.environ.get("PROCTOR_BACKUP_KEY_FILE")
    if text and file:
        raise UserError("Set PROCTOR_BACKUP_KEY or PROCTOR_BACKUP_KEY_FILE, not both.")
    if text:
        return BackupKey.read(text, "PROCTOR_BACKUP_KEY")
    if not file:
        return None
    try:
        return BackupKey.read(Path(file).read_text(encoding="ascii", errors="replace"), file)
    except OSError as error:
        raise UserError(f"PROCTOR_BACKUP_KEY_FILE cannot be read: {error.strerror}: {file}.") from None


@backup.command()
@place_argument
@as_json
def create(place: str | None, as_json: bool) -> None:
    """Make a backup; 'proctor backup PLACE' is short for it.

    Everything that was committed when it began is in it. PLACE is a folder or s3://BUCKET/PREFIX.
    """
    from proctor.cli.context import artifacts, database, print_json
    from proctor.reports.figures import bytes_text, plural
    from proctor.runs.storage.backups import make_backup

    where, key = open_backups(place), backup_key()
    with database() as opened:
        made = make_backup(opened, artifacts(), where, key)
    if as_json:
        print_json(made)
        return
    found = made.backup
    sealed = "encrypted" if found.is_encrypted else "not encrypted"
    echo(f"Backup {found.id} in {made.place}, {sealed}, in {found.seconds:.1f} s.")
    echo(f"  {plural(found.runs, 'run')}, {plural(found.rows, 'row')} ({bytes_text(found.rows_bytes)})")
    new = f"{made.new_artifacts:,} of them new ({bytes_text(made.new_bytes)})"
    echo(f"  {plural(found.artifacts, 'artifact')} ({bytes_text(found.artifact_bytes)}), {new}")
    if made.artifacts_gone:
        echo(f"  {plural(made.artifacts_gone, 'artifact')} deleted meanwhile")


@backup.command("list")
@place_argument
@as_json
def list_(place: str | None, as_json: bool) -> None:
    """List the backups in PLACE, the newest first."""
    from proctor.cli.context import print_json
    from proctor.reports.figures import bytes_text, plural
    from proctor.runs.storage.backups import list_backups

    found = list_backups(open_backups(place))
    if as_json:
        print_json(found)
        return
    for one in found.backups:
        size = f"{bytes_text(one.rows_bytes)} of rows, {plural(one.artifacts, 'artifact')}"
        sealed = ", encrypted" if one.is_encrypted else ""
        echo(f"{one.id}  {plural(one.runs, 'run')}, {size}{sealed}")
    for name in found.unfinished:
        echo(f"{name}  not finished")
    if not found.backups:
        echo(f"There is no backup in {found.place}. 'proctor backup PLACE' makes one.", err=True)


@backup.command()
@place_argument
@click.option("--backup", "backup_id", metavar="ID", help="This one instead of the newest.")
@as_json
def verify(place: str | None, backup_id: str | None, as_json: bool) -> None:
    """Read a backup whole and compare every row and artifact with its digest; exit code 1 for one that is damaged."""
    from proctor.cli.context import print_json
    from proctor.reports.figures import plural
    from proctor.runs.storage.backups import find_backup, verify_backup

    where, key = open_backups(place), backup_key()
    found = verify_backup(where, find_backup(where, backup_id, key), key)
    if as_json:
        print_json(found)
    else:
        for fault in found.faults:
            echo(f"{found.id}: {fault}")
        if not found.faults:
            echo(
                f"{found.id} is whole: {plural(found.rows, 'row')} and {plural(found.artifacts, 'artifact')} were read."
            )
    if found.faults:
        raise click.exceptions.Exit(1)


@backup.command()
@place_argument
@click.option(
    "--keep", type=Age(), default="30d", show_default=True, metavar="AGE", help="Keep what is newer: 30d, 8w."
)
@click.option("--dry-run", is_flag=True, help="Show what would go; remove nothing.")
@yes_option
@as_json
def prune(place: str | None, keep: float, dry_run: bool, yes: bool, as_json: bool) -> None:
    """Remove backups that are older, and artifacts that no backup refers to any more. The newest always stays."""
    from proctor.cli.asking import confirm
    from proctor.cli.context import print_json
    from proctor.reports.figures import plural
    from proctor.runs.storage.backups import prune_backups

    where = open_backups(place)
    found = prune_backups(where, keep / DAY_SECONDS, is_dry_run=True)
    if not dry_run and (found.removed or found.artifacts):
        what = f"{plural(len(found.removed), 'backup')} and {plural(found.artifacts, 'artifact')}"
        confirm(f"Remove {what} from {found.place}?", yes=yes)
        found = prune_backups(where, keep / DAY_SECONDS, is_dry_run=False)
    if as_json:
        print_json(found)
        return
    verb = "Would remove" if dry_run else "Removed"
    for name in found.removed:
        echo(f"{verb} {name}.")
    echo(f"{verb} {plural(found.artifacts, 'artifact')}; {plural(len(found.kept), 'backup')} kept.")
    if found.note:
        echo(f"Artifacts were left: {found.note}.")
