"""What is known of a run so far, where nothing is."""

from __future__ import annotations

from pathlib import Path

from commands import Cli
from proctor.runs.interim import read_interim
from stores.parts import new_database


def test_a_run_of_the_command_line_does_not_claim_an_order_that_nobody_wrote_down(cli: Cli, home: Path) -> None:
    assert cli("run", "puzzles", "-m", "demo/average", "--limit", "3").code == 0
    database = new_database(home)
    [found] = read_interim(database, "latest").evaluations
    database.dispose()
    assert found.points == []
    assert found.unknown_because is not None
    assert found.unknown_because.startswith("In which order the samples were asked is not written down")
