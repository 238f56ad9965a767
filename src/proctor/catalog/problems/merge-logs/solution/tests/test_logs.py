"""Tests of times, records and the commands."""

import json
import sys
from pathlib import Path

import pytest

import main as program
from logs.command import merge, stats
from logs.records import NotATimeError, parse_time

TIME = "2026-03-01T10:00:0"


def log(path: Path, *lines: str) -> str:
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return str(path)


def record(second: str, **fields: str) -> str:
    return json.dumps({"time": f"{TIME}{second}", **fields})


def test_times_are_instants() -> None:
    assert parse_time(f"{TIME}0.000000001Z")[1] == 1
    assert parse_time(f"{TIME}0+02:00")[0] == parse_time("2026-03-01T08:00:00Z")[0]
    for bad in (
        "noon",
        f"{TIME}0",
        "2026-02-30T00:00:00Z",
        f"{TIME}0+24:00",
        f"{TIME}0+01:60",
    ):
        with pytest.raises(NotATimeError):
            parse_time(bad)


def test_merging(tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    first = log(
        tmp_path / "a", record("0Z"), record("0Z"), "", "[]", "[" * 99999, '{"time": 1}'
    )
    second = log(
        tmp_path / "b",
        record("1Z", level="error"),
        record("0Z"),
        record("2Z", level="x"),
    )
    nothing = {"since": None, "until": None, "level": None}
    assert merge([first, second], is_deduping=True, **nothing) == 1
    printed = capsysbinary.readouterr()
    assert (
        printed.out.decode() == record("0Z") + "\n" + record("1Z", level="error") + "\n"
    )
    assert len(printed.err.splitlines()) == 5
    since, until = parse_time(f"{TIME}1Z"), parse_time(f"{TIME}1.5Z")
    assert (
        merge([second], since=since, until=until, level="warning", is_deduping=False)
        == 1
    )
    assert capsysbinary.readouterr().out.count(b"\n") == 1


def test_counting(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert stats([log(tmp_path / "a", record("0Z"))]) == 0
    assert json.loads(capsys.readouterr().out)["records"] == 1


def run(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    monkeypatch.setattr(sys, "argv", ["main", *arguments])
    return program.main()


def test_the_command_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    name = log(tmp_path / "a", record("0Z"))
    assert run(monkeypatch, "merge", name, "--since", f"{TIME}0Z") == 0
    assert run(monkeypatch, "stats", name) == 0
    assert run(monkeypatch, "stats", "nowhere") == 2
    with pytest.raises(SystemExit):
        run(monkeypatch, "merge", name, "--since", "noon")
