"""Answers that were streamed: how soon they began and how fast they came, in every format."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

from commands import Cli
from fakes.provider import FakeProvider
from proctor.runs.measuring.judging import Judging
from proctor.runs.measuring.summary import summarise_evaluation
from proctor.stores.measuring import MeasuringStore
from proctor.stores.runs import RunStore
from runs.arithmetic import write_benchmark
from stores.parts import new_database


def test_a_streamed_run_shows_its_first_tokens_and_its_speed(cli: Cli, provider: FakeProvider, home: Path) -> None:
    write_benchmark(Path(), 5)
    provider.event_seconds = 0.02  # a stream that comes in one piece has no speed
    model = f"openai/test?base_url={provider.url}/v1&stream=true"
    [first] = cli("run", "sums.yaml", "-m", model, "--json").json["evaluations"]
    assert 0 < first["first_token_seconds"]["p50"] <= first["latency_seconds"]["p50"]
    assert first["tokens_per_second"]["p50"] > 0
    assert first["usage"] == {
        "input_tokens": 55, "output_tokens": 35, "reasoning_tokens": 10, "cached_tokens": 15,
    }  # fmt: skip

    rows = [json.loads(line) for line in cli("export", "latest", "-f", "jsonl").out.splitlines()]
    cells = list(csv.DictReader(io.StringIO(cli("export", "latest", "-f", "csv").out)))
    assert [float(cell["first_token_seconds"]) for cell in cells] == [row["first_token_seconds"] for row in rows]
    assert {(row["usage"]["reasoning_tokens"], row["usage"]["cached_tokens"]) for row in rows} == {(2, 3)}
    assert {(cell["reasoning_tokens"], cell["cached_tokens"]) for cell in cells} == {("2", "3")}
    assert cli("report", "latest", "-f", "md", "-o", "r.md").code == 0
    assert "first token, p50" in Path("r.md").read_text()

    [again] = cli("run", "sums.yaml", "-m", model, "--json").json["evaluations"]
    assert again["cached"] == 5
    assert again["first_token_seconds"] == again["tokens_per_second"] == {"p50": None, "p95": None}


def test_speed_is_counted_from_the_first_token_on(cli: Cli, provider: FakeProvider, home: Path) -> None:
    write_benchmark(Path(), 2)
    model = f"openai/test?base_url={provider.url}/v1&stream=true"
    run_id = cli("run", "sums.yaml", "-m", model, "--json").json["run_id"]
    database = new_database(home)
    connection = database.connect()
    connection.execute("UPDATE responses SET first_token_seconds = 0.5, latency_seconds = 2.5, output_tokens = 100")
    connection.close()
    [row] = RunStore(database).evaluation_rows(run_id)
    summary = summarise_evaluation(MeasuringStore(database), row, Judging(0, {}, {}), has_ended=True)
    database.dispose()
    assert summary.first_token_seconds.p50 == 0.5
    assert summary.tokens_per_second.p95 == pytest.approx(50)


def test_a_plain_run_measures_neither(cli: Cli, asked_model: str) -> None:
    write_benchmark(Path(), 2)
    [plain] = cli("run", "sums.yaml", "-m", asked_model, "--json").json["evaluations"]
    assert plain["first_token_seconds"] == plain["tokens_per_second"] == {"p50": None, "p95": None}
    assert cli("report", "latest", "-f", "md", "-o", "r.md").code == 0
    assert "first token" not in Path("r.md").read_text()
