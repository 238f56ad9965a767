"""What every command keeps: a summary, a help text that ends with 0, and one line for an option that there is not."""

from __future__ import annotations

from pathlib import Path

import pytest

from commands import ended
from plugins.example import names
from proctor.cli.main import COMMANDS

ALL = [*COMMANDS, *names("commands")]


@pytest.mark.parametrize("name", ALL)
def test_a_command_has_help(name: str, tmp_path: Path) -> None:
    code, out, err = ended(tmp_path / "home", tmp_path, name, "--help")
    assert (code, err) == (0, "")
    assert out.startswith(f"Usage: proctor {name} ")


@pytest.mark.parametrize("name", ALL)
def test_an_option_that_there_is_not_is_one_line_and_2(name: str, tmp_path: Path) -> None:
    code, out, err = ended(tmp_path / "home", tmp_path, name, "--no-such-option")
    assert (code, out) == (2, "")
    assert err.startswith("Error: No such option '--no-such-option'.")
    assert err.count("\n") == 1


def test_every_command_is_listed_with_its_summary(tmp_path: Path) -> None:
    _, out, _ = ended(tmp_path / "home", tmp_path, "--help")
    listed = {line.split()[0]: line.split(maxsplit=1)[1] for line in out.partition("Commands:\n")[2].splitlines()}
    assert list(listed) == ALL
    assert all(summary.endswith(".") for summary in listed.values())
