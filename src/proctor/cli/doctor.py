"""`proctor doctor`: is everything there?"""

from __future__ import annotations

import platform
import re
import sqlite3
import sys
from collections.abc import Iterator, Sequence
from importlib.metadata import PackageNotFoundError, requires, version

import click
from msgspec.structs import asdict

from proctor.cli.echo import Coloured, echo
from proctor.cli.options import as_json
from proctor.cli.service_checks import DoctorFinding, check_certificates, check_service
from proctor.version import __version__

EXTRAS = {
    "parquet": "benchmarks and exports as Parquet files",
    "charts": "charts as PNG files (report --charts)",
    "pandas": "Run.to_pandas() in the library",
    "hub": "benchmarks from the Hugging Face hub",
    "local": "language models on this machine (local/…)",
    "grpc": "agents that speak gRPC (grpc/…)",
    "documents": "PDF documents for models that take only text",
    "math": "the scorer math",
    "schema": "the scorer json_schema, and tool calls checked against their schema",
    "similarity": "the scorer similarity (embeddings)",
    "text": "the scorers bleu and chrf",
    "traces": "traces (PROCTOR_TRACES_URL)",
    "tokens": "counting tokens before a run",
    "postgresql": "results in a PostgreSQL database",
    "s3": "artifacts in S3 (PROCTOR_ARTIFACTS_URL=s3://…)",
    "inspect": "logs of Inspect (proctor import)",
    "sql": "questions in SQL (proctor sql)",
    "problems": "marking programs built from requirements",
    "mcp": "tools for agents (proctor mcp)",
    "notebook": "the browser of samples in notebooks",
    "server": "the API and the dashboard (proctor serve)",
    "worker": "workers on several machines (PROCTOR_BROKER_URL)",
}
"""Every optional group of dependencies, and what needs it."""
_NAME = re.compile(r"[A-Za-z0-9._-]+")
MAX_BACKUP_HOURS = 26.0


@click.command(short_help="Check the installation.")
@click.option("--sandbox", is_flag=True, help="Test every sandbox backend with hostile programs; takes a while.")
@click.option("--certificate", "certificates", multiple=True, metavar="FILE",
              help="Also look at this certificate of a server.")  # fmt: skip
@as_json
def doctor(sandbox: bool, certificates: tuple[str, ...], as_json: bool) -> None:
    """Check the installation, the database, the broker, workers, clocks, artifacts, backups, the disk, certificates,
    sandboxes and keys; exit code 1 for a problem. Whatever is not well says what to do.
    """
    from proctor.cli.context import print_json

    if sandbox:
        from proctor.cli.sandbox import sandbox_report

        raise click.exceptions.Exit(0 if sandbox_report(as_json=as_json) else 1)

    findings = list(_findings(certificates))
    if as_json:
        print_json([asdict(finding) for finding in findings])
    else:
        marks: dict[str, str | Coloured] = {
            "ok": ("ok     ", "green"),
            "note": "note   ",
            "problem": ("problem", "red"),
        }
        for finding in findings:
            echo(marks[finding.state], f"  {finding.name}: {finding.detail}")
    if any(finding.state == "problem" for finding in findings):
        raise click.exceptions.Exit(1)


def _findings(certificates: Sequence[str]) -> Iterator[DoctorFinding]:
    from proctor.settings import Settings

    yield DoctorFinding("proctor", "ok", f"{__version__}, Python {platform.python_version()}, {sys.platform}")
    yield DoctorFinding("sqlite", "ok", sqlite3.sqlite_version)
    yield from _database()
    yield from check_service(Settings.from_environment())
    yield from check_certificates(certificates, Settings.from_environment())
    yield from _artifacts()
    yield from _backups()
    yield from _extras()
    yield from _sandboxes()
    yield from _keys()
    yield from _plugins()


def _database() -> Iterator[DoctorFinding]:
    from proctor.cli.context import database
    from proctor.cli.figures import plural
    from proctor.domain.errors import ProctorError
    from proctor.stores.listing import count_runs

    try:
        with database() as opened:
            fault = opened.check()
            detail = f"{opened.label}, {plural(count_runs(opened), 'run')}"
    except ProctorError as error:
        yield DoctorFinding("database", "problem", str(error))
        return
    yield DoctorFinding("database", "problem" if fault else "ok", f"{detail}: {fault}" if fault else detail)


def _backups() -> Iterator[DoctorFinding]:
    import os
    from datetime import UTC, datetime

    from proctor.domain.errors import ProctorError
    from proctor.runs.storage.backups import list_backups
    from proctor.secret_files import with_secret_files
    from proctor.settings import Settings
    from proctor.stores.backups.places import open_place

    settings = Settings.from_environment()
    try:
        place = open_place(settings.backups_url, with_secret_files(os.environ), is_offline=settings.is_offline)
        found = list_backups(place).backups
    except ProctorError as error:
        yield DoctorFinding("backups", "problem", str(error))
        return
    if not found:
        yield DoctorFinding("backups", "note", f"none in {place.location}: 'proctor backup' makes one")
        return
    hours = (datetime.now(UTC) - found[0].created_at).total_seconds() / 3600
    is_old = hours > MAX_BACKUP_HOURS
    detail = f"the newest in {place.location} is {hours:.0f} h old"
    yield DoctorFinding("backups", "note" if is_old else "ok", f"{detail}: run 'proctor backup'" if is_old else detail)


def _artifacts() -> Iterator[DoctorFinding]:
    """Whether programs and logs can be kept; what waited for that is sent on the way."""
    from proctor.cli.context import artifacts
    from proctor.domain.errors import ProctorError

    try:
        kept = artifacts()
        kept.check()
        delayed = kept.delayed()
    except ProctorError as error:
        yield DoctorFinding("artifacts", "problem", str(error))
        return
    yield DoctorFinding(
        "artifacts",
        "problem" if delayed else "ok",
        delayed or f"{kept.location}, a probe was written, read and deleted",
    )


def _sandboxes() -> Iterator[DoctorFinding]:
    """Which backends are here; whether they hold is tried with --sandbox."""
    from proctor.domain.errors import SandboxError
    from proctor.plugins import BrokenPluginError
    from proctor.sandboxes.backends import create, isolating

    present = []
    for name in isolating():
        try:
            create(name)
        except (SandboxError, BrokenPluginError):  # a plugin that is broken is told of by itself
            continue
        present.append(name)
    detail = f"{', '.join(present)} found; 'proctor doctor --sandbox' tests their isolation"
    yield DoctorFinding(
        "sandbox",
        "ok" if present else "note",
        detail if present else "none; code benchmarks will not run: install bubblewrap, or Docker",
    )


def _extras() -> Iterator[DoctorFinding]:
    wanted = requires("proctor") or []
    for extra, purpose in EXTRAS.items():
        needed = [_NAME.match(one).group() for one in wanted if f"extra == '{extra}'" in one.replace('"', "'")]  # type: ignore[union-attr]
        missing = [name for name in needed if not _is_installed(name)]
        if missing:
            detail = f"{', '.join(missing)} not installed; needed for {purpose}: pip install 'proctor[{extra}]'"
        else:
            detail = f"{', '.join(f'{name} {version(name)}' for name in needed)}, for {purpose}"
        yield DoctorFinding(f"proctor[{extra}]", "note" if missing else "ok", detail)


def _is_installed(name: str) -> bool:
    try:
        version(name)
    except PackageNotFoundError:
        return False
    return True


def _keys() -> Iterator[DoctorFinding]:
    import os

    from proctor.models.registry import list_providers

    for status in list_providers(os.environ):
        variable = status.key_variable
        if variable is not None:
            text = "is set" if status.has_key else "is not set"
            yield DoctorFinding(status.provider.name, "ok" if status.has_key else "note", f"{variable} {text}")


def _plugins() -> Iterator[DoctorFinding]:
    """Every plugin of other packages, tried as far as it can be without a question to answer."""
    from proctor import plugins
    from proctor.cli.plugin_checks import fault_of

    found = {plugin: fault_of(plugin) for plugin in plugins.installed()}
    for plugin, fault in (found | plugins.take_left_out()).items():
        state = "ok" if fault is None else "problem"
        yield DoctorFinding(
            f"plugin {plugin.kind}.{plugin.name}", state, ": ".join(filter(None, (plugin.package, fault)))
        )
