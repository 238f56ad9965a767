"""With --json, standard output holds one document whatever happens: the data, or what went wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from commands import Cli

pytestmark = pytest.mark.sqlite  # where results are kept makes no difference here


@pytest.mark.parametrize(
    ("command", "kind", "code", "words"),
    [
        (("show", "nope"), "NotFoundError", 2, "No run 'nope'"),
        (("run", "puzles", "-m", "demo/strong"), "NotFoundError", 2, "Did you mean 'puzzles'?"),
        (("run", "puzzles", "-m", "demo/strong", "--limit", "none"), "BadParameter", 2, "not a valid integer"),
        (("runs", "--nonsense"), "NoSuchOption", 2, "--nonsense"),
        (("nonsense",), "UsageError", 2, "No command 'nonsense'"),
        (("compare", "latest"), "NotFoundError", 2, "no runs yet"),
    ],
)
def test_a_mistake_is_a_document(cli: Cli, command: tuple[str, ...], kind: str, code: int, words: str) -> None:
    ended = cli(*command, "--json")
    assert ended.code == code
    assert ended.json["kind"] == kind
    assert ended.json["exit_code"] == code
    assert words in ended.json["error"]
    assert ended.error == f"Error: {ended.json['error']}"


def test_without_json_standard_output_stays_empty(cli: Cli) -> None:
    assert cli("show", "nope").out == ""


def test_a_gate_that_failed_is_in_the_document_of_the_run(cli: Cli) -> None:
    command = ("run", "puzzles", "-m", "demo/weak", "--limit", 20, "--json")
    assert cli(*command).json["problems"] == []
    ended = cli(*command, "--fail-under", "accuracy=1")
    assert ended.code == 1
    (problem,) = ended.json["problems"]
    assert "below 1" in problem
    assert f"Error: {problem}\n" in ended.err


def test_a_report_that_cannot_be_written_is_the_only_document(cli: Cli) -> None:
    Path("there.html").mkdir()
    command = ("run", "puzzles", "-m", "demo/weak", "--limit", 2, "--report", "gone/there.html", "--json")
    assert "error" in cli(*command).json
