"""`proctor sandbox run` and the table of `proctor doctor --sandbox`."""

from __future__ import annotations

import json
from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result

from proctor.cli.sandbox import read_bytes, sandbox, sandbox_report
from sandboxes.conftest import made


def invoke(*arguments: object, stdin: str = "") -> Result:
    made("namespaces")
    return CliRunner().invoke(sandbox, ["run", *map(str, arguments)], input=stdin)


def test_a_file_is_run_and_its_exit_code_is_ours(tmp_path: Path) -> None:
    file = tmp_path / "hello.py"
    file.write_text("import sys\nprint(input(), sys.argv[1])\nsys.exit(5)")
    done = invoke(file, "there", stdin="hello\n")
    assert done.exit_code == 5
    assert done.stdout == "hello there\n"
    assert "[namespaces] exit code 5" in done.stderr


def test_a_limit_that_was_passed_is_named(tmp_path: Path) -> None:
    file = tmp_path / "eat.py"
    file.write_text("kept = []\nwhile True: kept.append(bytearray(8 << 20))")
    done = invoke(file, "--memory", "96m")
    assert done.exit_code == 1
    assert "memory" in done.stderr
    asked = invoke(file, "--memory", "96m", "--json")
    document = json.loads(asked.stdout)
    assert document["ending"] == "memory"
    assert document["sandbox"]["limits"]["memory_bytes"] == 96 << 20


def test_a_refused_call_is_shown(tmp_path: Path) -> None:
    file = tmp_path / "call.py"
    file.write_text("import socket\ntry: socket.socket()\nexcept OSError: print('no')")
    assert "refused socket x1" in invoke(file).stderr


def test_no_sandbox_is_loud(tmp_path: Path) -> None:
    file = tmp_path / "x.py"
    file.write_text("print(1)")
    done = invoke(file, "--unsafe-no-sandbox")
    assert done.stdout == "1\n"
    assert "WARNING: no sandbox" in done.stderr
    assert "[none]" in done.stderr


@pytest.mark.parametrize(("text", "value"), [("512m", 512 << 20), ("2g", 2 << 30), ("1.5k", 1536), ("77", 77)])
def test_sizes_are_read(text: str, value: int) -> None:
    assert read_bytes(text) == value


@pytest.mark.parametrize("text", ["", "m", "x", "-1m", "1t", "1e99g"])
def test_nonsense_is_no_size(text: str) -> None:
    with pytest.raises(click.BadParameter):
        read_bytes(text)


@pytest.mark.parametrize("text", ["64m", "64M", "64MiB", "64 MiB", " 64 mb "])
def test_sizes_are_read_as_problems_write_them(text: str) -> None:
    assert read_bytes(text) == 64 << 20


@pytest.mark.parametrize("memory", ["1", "64", "1m", "15m"])
def test_less_memory_than_can_be_enforced_is_refused_with_the_least_that_can(tmp_path: Path, memory: str) -> None:
    file = tmp_path / "hello.py"
    file.write_text("print('ran')")
    refused = CliRunner().invoke(sandbox, ["run", str(file), "--memory", memory])
    assert (refused.exit_code, "ran" in refused.stdout) == (2, False)
    assert "it must be at least 16m" in refused.stderr


def test_the_least_memory_holds(tmp_path: Path) -> None:
    file = tmp_path / "eat.py"
    file.write_text("print('ran', flush=True)\nkept = bytearray(b'x' * (16 << 20))")
    done = invoke(file, "--memory", "16m")
    assert (done.exit_code, done.stdout) == (1, "ran\n")
    assert "[namespaces] memory" in done.stderr


@pytest.mark.parametrize("seconds", ["nan", "inf", "0", "-1"])
def test_a_time_that_cannot_be_waited_is_refused_before_anything_runs(tmp_path: Path, seconds: str) -> None:
    file = tmp_path / "hello.py"
    file.write_text("print('hello')")
    done = invoke(file, "--seconds", seconds)
    assert done.exit_code == 2
    assert "is out of range: give more than 0" in done.stderr
    assert done.stdout == ""


def test_the_table_says_what_holds(capsys: pytest.CaptureFixture[str]) -> None:
    made("namespaces")
    assert sandbox_report(["namespaces", "nsjail"])
    printed = capsys.readouterr()
    assert printed.out.count("holds") >= 12
    assert "LEAKS" not in printed.out
    assert "nsjail" in printed.out


def test_the_table_of_no_sandbox_is_full_of_leaks(capsys: pytest.CaptureFixture[str]) -> None:
    assert not sandbox_report(["none"])
    assert capsys.readouterr().out.count("LEAKS") >= 4
