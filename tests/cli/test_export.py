"""Exports: every trial, every attempt when asked, and nothing a spreadsheet would run."""

from __future__ import annotations

import csv
import io
import os
import subprocess
import sys
from pathlib import Path

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from commands import Cli
from fakes.dialect import Reply
from fakes.faults import Faults
from fakes.provider import FakeProvider
from proctor.reports.export import COLUMNS, harmless

DANGEROUS = ['=HYPERLINK("http://x")', "+1+1", "-1+1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "＝1+1"]


@given(st.text())
def test_no_cell_can_be_taken_for_a_formula(text: str) -> None:
    shown = harmless(text)
    assert not shown.startswith(("=", "@", "\t", "\r", "\n"))
    if shown.startswith(("+", "-")):
        float(shown)
    assert shown in (text, f"'{text}")


@given(st.one_of(st.integers(), st.floats(allow_nan=False, allow_infinity=False)), st.sampled_from(["", "+"]))
def test_a_number_that_was_answered_as_text_is_exported_as_it_was_given(value: float, sign: str) -> None:
    text = format(value, sign)
    assert harmless(text) == text


@pytest.mark.sqlite
@pytest.mark.parametrize("text", ["-5", "-0.25", "+3", "-1e-3", "-.5"])
def test_a_negative_answer_reaches_every_column_unaltered(cli: Cli, home: Path, text: str) -> None:
    Path("one.jsonl").write_bytes(orjson.dumps({"input": text, "target": text}))
    Path("one.yaml").write_text("name: one\ndataset: {source: one.jsonl}\nscorers: [exact]\n")
    with FakeProvider(reply=lambda _: Reply(text)) as provider:
        cli("run", "one.yaml", "-m", f"openai/x?base_url={provider.url}/v1")
    (row,) = csv.DictReader(io.StringIO(cli("export", "-f", "csv").out, newline=""))
    assert [row[name] for name in ("input", "target", "response", "answer", "value")] == [*[text] * 4, "1.0"]


@given(st.one_of(st.integers(), st.floats(allow_nan=False), st.none(), st.booleans()))
def test_numbers_stay_numbers(value: object) -> None:
    assert harmless(value) is value


@pytest.mark.sqlite
@pytest.mark.parametrize("text", DANGEROUS)
def test_a_response_that_is_a_formula_is_exported_as_text(cli: Cli, home: Path, text: str) -> None:
    with FakeProvider(reply=lambda _: Reply(text)) as provider:
        cli("run", "arithmetic", "-m", f"openai/x?base_url={provider.url}/v1", "--limit", 1)
    assert cli("export", "latest", "-f", "csv", "-o", "out.csv").code == 0
    with Path("out.csv").open(newline="", encoding="utf-8") as file:
        (row,) = csv.DictReader(file)
    assert row["response"] == f"'{text}"
    assert orjson.loads(cli("export").out)["response"] == text


def test_a_csv_has_a_header_and_a_line_for_each_trial_and_scorer(cli: Cli, home: Path) -> None:
    Path("two.jsonl").write_text('{"id": "a", "input": "Compute 1 + 1.", "target": "2"}\n')
    Path("two.yaml").write_text("name: two\ndataset: {source: two.jsonl}\nscorers: [numeric, includes]\n")
    cli("run", "two.yaml", "-m", "demo/perfect", "--epochs", 2)
    rows = list(csv.DictReader(io.StringIO(cli("export", "-f", "csv").out, newline="")))
    assert tuple(rows[0]) == COLUMNS
    assert sorted((row["epoch"], row["scorer"]) for row in rows) == [
        ("0", "includes"), ("0", "numeric"), ("1", "includes"), ("1", "numeric"),
    ]  # fmt: skip


def test_an_export_of_a_run_without_results_is_empty_but_well_formed(cli: Cli) -> None:
    with FakeProvider(key="right") as provider:
        cli("run", "arithmetic", "-m", f"openai/x?base_url={provider.url}/v1", "--limit", 2)
    assert cli("export").out == ""
    assert cli("export", "-f", "csv").out.strip() == ",".join(COLUMNS)


def test_every_attempt_can_be_exported(cli: Cli) -> None:
    with FakeProvider(Faults(script=("500", "ok"))) as provider:
        model = f"openai/x?base_url={provider.url}/v1"
        assert cli("run", "arithmetic", "-m", model, "--limit", 3, "--retries", 0).code == 1
        assert cli("resume", "latest").code == 0
    current = [orjson.loads(line) for line in cli("export").out.splitlines()]
    every = [orjson.loads(line) for line in cli("export", "--all-attempts").out.splitlines()]
    assert [row["attempt"] for row in current] == [1, 1, 1]
    assert sorted((row["attempt"], row["outcome"] == "failed") for row in every) == [(0, True)] * 3 + [(1, False)] * 3


@pytest.mark.sqlite
def test_a_reader_that_goes_away_is_no_failure(cli: Cli, environment: dict[str, str]) -> None:
    cli("run", "puzzles", "-m", "demo/strong", "--limit", 200, "--epochs", 3)
    for command in (["export"], ["export", "-f", "csv"], ["samples", "-n", "600"]):
        process = subprocess.Popen(
            [sys.executable, "-m", "proctor", *command],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment,
        )
        assert process.stdout is not None
        assert process.stderr is not None
        with process:
            process.stdout.read(1)
            process.stdout.close()
            error = process.stderr.read()
        assert error == b"", command
        assert process.returncode == 141, command


@pytest.mark.sqlite
def test_a_full_disk_under_the_output_is_one_clear_line(cli: Cli, environment: dict[str, str]) -> None:
    if not os.path.exists("/dev/full"):  # noqa: PTH110
        pytest.skip("there is no /dev/full here")
    cli("run", "puzzles", "-m", "demo/strong", "--limit", 5)
    for command in (["export"], ["runs"], ["show", "--json"]):
        with open("/dev/full", "wb") as full:  # noqa: PTH123
            ended = subprocess.run(
                [sys.executable, "-m", "proctor", *command],
                stdout=full,
                stderr=subprocess.PIPE,
                env=environment,
                check=False,
            )
        assert ended.returncode == 1
        assert ended.stderr == b"Error: The output cannot be written: No space left on device.\n"


@pytest.mark.sqlite
def test_an_export_that_is_refused_leaves_the_file_that_was_there(cli: Cli, home: Path) -> None:
    cli("run", "puzzles", "-m", "demo/strong", "-m", "demo/weak", "--limit", "2")
    Path("kept.json").write_bytes(b"an earlier export")
    refused = cli("export", "-f", "inspect", "-o", "kept.json")
    assert refused.code == 2
    assert "holds one model on one benchmark" in refused.error
    assert Path("kept.json").read_bytes() == b"an earlier export"
    assert cli("export", "-f", "inspect", "-o", "new.json").code == 2
    assert not Path("new.json").exists()
