"""The environment: what is misspelt is said, not ignored."""

from __future__ import annotations

from pathlib import Path

import pytest

import proctor
from commands import Cli
from proctor.domain.errors import UserError
from proctor.settings import PREFIX, VARIABLES, Settings

REFERENCE = Path(__file__).parents[1] / "docs/reference/files-and-environment.md"


@pytest.mark.parametrize("command", [("runs",), ("benchmarks",), ("run", "puzzles", "-m", "demo/strong"), ("doctor",)])
def test_a_misspelt_variable_is_refused_by_every_command(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...]
) -> None:
    monkeypatch.setenv("PROCTOR_OFLINE", "1")
    ended = cli(*command)
    assert ended.code == 2
    assert "no environment variable PROCTOR_OFLINE. Did you mean 'PROCTOR_OFFLINE'?" in ended.error


def test_a_misspelt_variable_is_refused_by_the_library(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROCTOR_DATABSE_URL", "sqlite:///x.db")
    with pytest.raises(UserError, match="Did you mean 'PROCTOR_DATABASE_URL'"):
        proctor.evaluate("puzzles", models="demo/strong", limit=1)
    assert not home.exists()


def test_a_switch_that_says_neither_yes_nor_no_is_refused() -> None:
    with pytest.raises(UserError, match="PROCTOR_OFFLINE is 1 or 0, not 'maybe'"):
        Settings.from_environment({"PROCTOR_OFFLINE": "maybe"})


@pytest.mark.parametrize(
    ("value", "is_offline"), [("1", True), ("True", True), ("0", False), ("", False), ("no", False)]
)
def test_a_switch_is_read(value: str, is_offline: bool) -> None:
    assert Settings.from_environment({"PROCTOR_OFFLINE": value}).is_offline is is_offline


def test_what_proctor_sets_for_its_own_programs_is_no_mistake() -> None:
    set_by_us = {"PROCTOR_COMMAND": "x", "_PROCTOR_COMPLETE": "bash_source"}
    assert Settings.from_environment(set_by_us) == Settings.from_environment({})


def test_every_variable_is_in_the_reference() -> None:
    text = REFERENCE.read_text()
    assert [name for name in VARIABLES if f"| `{PREFIX}{name}` |" not in text] == []


def test_a_home_that_cannot_be_looked_at_is_a_mistake_in_one_line() -> None:
    with pytest.raises(UserError, match="cannot be read: File name too long"):
        Settings.from_environment({"PROCTOR_HOME": f"/{'a' * 300}"})
