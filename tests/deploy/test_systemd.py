"""The units: as systemd reads them, with commands and settings of the program, confined."""

from __future__ import annotations

import itertools
import re
import shlex
import shutil
import subprocess
import sysconfig
from datetime import timedelta
from pathlib import Path

import pytest
import yaml

import proctor
from deploy.command_lines import refuse_unknown_command, unknown_settings
from deploy.local_processes import ROOT
from deploy.timers import elapses
from proctor.cli.cache import Age
from proctor.runs.storage.backups import list_backups, make_backup, prune_backups
from proctor.stores.artifacts.folder import FolderArtifacts
from proctor.stores.backups.places import FolderPlace
from proctor.stores.database import open_database

FOLDER = ROOT / "deploy" / "systemd"
PROGRAM = "/usr/local/lib/proctor/bin/proctor"
SERVICES = sorted(FOLDER.glob("*.service"))
OPERATORS = {"ORIGIN": "https://proctor.example", "CONCURRENCY": "4"}
"""What /etc/proctor/environment, or the unit itself, says."""
MAX_EXPOSURE = 2.0
pytestmark = pytest.mark.sqlite


def read(unit: Path) -> dict[str, list[str]]:
    """The options of all sections; one that is there twice has both values."""
    found: dict[str, list[str]] = {}
    for line in unit.read_text().splitlines():
        name, separator, value = line.partition("=")
        if separator and not line.startswith(("#", "[")):
            found.setdefault(name, []).append(value)
    return found


@pytest.mark.parametrize("unit", SERVICES, ids=lambda path: path.name)
def test_a_unit_starts_what_there_is_and_reads_what_it_may(unit: Path) -> None:
    options = read(unit)
    for line in options["ExecStart"]:
        program, *words = shlex.split(line.replace("%i", "default"))
        assert program == PROGRAM
        refuse_unknown_command([re.sub(r"\$\{(\w+)\}", lambda found: OPERATORS[found[1]], word) for word in words])
    names = [word.partition("=")[0] for line in options["Environment"] for word in line.split()]
    assert unknown_settings(set(names) - set(OPERATORS)) == []
    for credential in options["LoadCredential"]:
        name, _, path = credential.partition(":")
        assert path == f"/etc/proctor/secrets/{name}"
        assert unknown_settings([name]) == []
    assert options["User"] == ["proctor"]


@pytest.mark.parametrize("unit", SERVICES, ids=lambda path: path.name)
def test_systemd_has_no_objection_and_finds_it_well_confined(unit: Path, tmp_path: Path) -> None:
    found = shutil.which("systemd-analyze")
    if found is None:
        pytest.skip("systemd-analyze is not installed")
    here = Path(sysconfig.get_path("scripts")) / "proctor"
    copied = tmp_path / unit.name
    copied.write_text(unit.read_text().replace(PROGRAM, str(here)))
    name = copied.name.replace("@.", "@default.")
    (tmp_path / name).write_text(copied.read_text())
    done = subprocess.run([found, "verify", "--man=no", tmp_path / name], capture_output=True, text=True, check=False)
    assert [line for line in done.stderr.splitlines() if unit.stem.rstrip("@") in line] == []
    if "--offline" not in subprocess.run([found, "--help"], capture_output=True, text=True, check=False).stdout:
        return  # an older one looks at running units only
    shown = subprocess.run(
        [found, "security", "--offline=true", "--no-pager", tmp_path / name],
        capture_output=True,
        text=True,
        check=False,
    )
    [score] = re.findall(r"Overall exposure level for \S+: ([\d.]+)", shown.stdout)
    assert float(score) <= MAX_EXPOSURE


def test_a_unit_with_a_mistake_is_seen(tmp_path: Path) -> None:
    found = shutil.which("systemd-analyze")
    if found is None:
        pytest.skip("systemd-analyze is not installed")
    wrong = tmp_path / "proctor.service"
    wrong.write_text((FOLDER / "proctor.service").read_text().replace("ProtectHome=yes", "ProtectHomes=yes"))
    done = subprocess.run([found, "verify", "--man=no", wrong], capture_output=True, text=True, check=False)
    assert "ProtectHomes" in done.stderr


def test_the_sandbox_pool_is_freed_of_what_keeps_sandboxes_from_being_made_and_of_nothing_else() -> None:
    [drop_in] = FOLDER.glob("*.service.d/*.conf")
    assert (FOLDER / "proctor-worker@.service").is_file()
    assert drop_in.parent.name == "proctor-worker@sandbox.service.d"
    free = read(drop_in)
    usual = read(FOLDER / "proctor-worker@.service")
    assert {
        "CapabilityBoundingSet",
        "NoNewPrivileges",
        "ProtectSystem",
        "ProtectHome",
        "PrivateDevices",
        "User",
    } <= set(usual)
    assert not {
        "CapabilityBoundingSet",
        "AmbientCapabilities",
        "NoNewPrivileges",
        "ProtectSystem",
        "ProtectHome",
    } & set(free)
    assert set(free) - {"Delegate", "SystemCallErrorNumber"} <= set(usual)


def test_each_night_has_a_backup_and_each_is_kept_for_thirty_days(home: Path, tmp_path: Path) -> None:
    """Two months by the timer's own calendar, with the words of the unit that it starts; the clock is the test's."""
    proctor.evaluate("puzzles", models="demo/strong", limit=2)
    database = open_database(f"sqlite:///{home / 'proctor.db'}")
    artifacts, place = FolderArtifacts(home / "artifacts"), FolderPlace(tmp_path / "backups")
    make, prune = [shlex.split(line)[1:] for line in read(FOLDER / "proctor-backup.service")["ExecStart"]]
    assert make == ["backup", "create"]
    assert prune[:2] == ["backup", "prune"]
    keep_days = Age().convert(prune[prune.index("--keep") + 1], None, None) / timedelta(days=1).total_seconds()
    nights = elapses(FOLDER / "proctor-backup.timer", 60)
    assert [later - earlier for earlier, later in itertools.pairwise(nights)] == [timedelta(days=1)] * 59
    for count, night in enumerate(nights, 1):
        made = make_backup(database, artifacts, place, None, clock=lambda night=night: night)
        assert made.backup.created_at == night
        prune_backups(place, keep_days, is_dry_run=False, clock=lambda night=night: night + timedelta(minutes=5))
        kept = [one.created_at for one in list_backups(place).backups]
        assert kept == nights[max(0, count - 30) : count][::-1]
    database.dispose()


def test_the_chart_does_what_the_timer_does() -> None:
    """Every night at the same time, for the same days."""
    chart = yaml.safe_load((ROOT / "deploy" / "helm" / "proctor" / "values.yaml").read_text())["backup"]
    [timer] = {(at.minute, at.hour) for at in elapses(FOLDER / "proctor-backup.timer", 40)}
    assert chart["schedule"].split() == [*map(str, timer), "*", "*", "*"]
    assert chart["keep"] in read(FOLDER / "proctor-backup.service")["ExecStart"][1].split()
