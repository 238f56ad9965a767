"""Every cost says who says so: the provider, a price list of a certain date, an assumption, or several of them."""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path
from typing import Any

import pytest

from commands import Cli
from fakes.dialect import Ask, Reply
from fakes.provider import FakeProvider, solve
from runs.arithmetic import write_benchmark
from stores.parts import connected

ASSUMED = ("--assume-price", "1/10")
USAGE = {"prompt_tokens": 10, "completion_tokens": 4}
ONE_ANSWER = 10 * 1e-6 + 4 * 1e-5


def answering(**more: Any) -> FakeProvider:
    """Ten tokens in, four out, for every question."""

    def reply(ask: Ask) -> Reply:
        return Reply(solve(ask.text), input_tokens=10, output_tokens=4, cached_tokens=0, extra=more)

    return FakeProvider(reply=reply)


def run(cli: Cli, model: str, *more: object) -> Any:
    ended = cli("run", "sums.yaml", "-m", model, "--json", *more)
    assert ended.code == 0, ended.err
    return ended.json["evaluations"][0]


def address(provider: FakeProvider) -> str:
    return f"openai/sums?base_url={provider.url}/v1"


@pytest.mark.sqlite
def test_an_assumed_price_makes_an_assumed_cost_in_every_format(cli: Cli, tmp_path: Path) -> None:
    write_benchmark(Path(), 4)
    with answering() as provider:
        ended = cli("run", "sums.yaml", "-m", address(provider), *ASSUMED)
    assert "≈$0.0002" in ended.out
    assert "≈ computed from tokens and an assumed price: $1 in, $10 out for a million tokens." in ended.out
    document = cli("show", "latest", "--json").json["evaluations"][0]
    assert document["cost_usd"] == pytest.approx(4 * ONE_ANSWER)
    assert document["cost_basis"] == "assumed"
    assert document["price_sources"] == ["$1 in, $10 out for a million tokens"]

    rows = [json.loads(line) for line in cli("export", "latest", "-f", "jsonl").out.splitlines()]
    cells = list(csv.DictReader(io.StringIO(cli("export", "latest", "-f", "csv").out)))
    assert {(row["cost_basis"], row["price_source"]) for row in rows} == {
        ("assumed", "$1 in, $10 out for a million tokens")
    }
    assert [float(cell["cost_usd"]) for cell in cells] == [row["cost_usd"] for row in rows]
    assert {cell["cost_basis"] for cell in cells} == {"assumed"}

    page, text, data = tmp_path / "r.html", tmp_path / "r.md", tmp_path / "r.json"
    for path in (page, text, data):
        assert cli("report", "latest", "-f", path.suffix[1:], "-o", path).code == 0
    assert "≈$0.0002" in page.read_text()
    assert "≈\\$0.0002" in text.read_text()
    assert "≈ computed from tokens and an assumed price" in page.read_text()
    assert "≈ computed from tokens and an assumed price" in text.read_text()
    assert json.loads(data.read_text())["evaluations"][0]["cost_usd"] == document["cost_usd"]
    assert json.loads(data.read_text())["evaluations"][0]["cost_basis"] == "assumed"


def test_parquet_says_it_too(cli: Cli, tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    write_benchmark(Path(), 2)
    with answering() as provider:
        run(cli, address(provider), *ASSUMED)
    assert cli("export", "latest", "-f", "parquet", "-o", tmp_path / "x.parquet").code == 0
    table = parquet.read_table(tmp_path / "x.parquet").to_pylist()
    assert [(row["cost_basis"], row["cost_usd"]) for row in table] == [("assumed", pytest.approx(ONE_ANSWER))] * 2


def test_what_the_provider_reports_is_no_estimate(cli: Cli) -> None:
    write_benchmark(Path(), 3)
    with answering(usage={**USAGE, "cost": 0.25}) as provider:
        ended = cli("run", "sums.yaml", "-m", address(provider), *ASSUMED)
    assert "$0.7500" in ended.out
    assert "≈" not in ended.out
    document = cli("show", "latest", "--json").json["evaluations"][0]
    assert (document["cost_usd"], document["cost_basis"], document["price_sources"]) == (0.75, "reported", [])
    row = json.loads(cli("export", "latest", "-f", "jsonl").out.splitlines()[0])
    assert (row["cost_basis"], row["price_source"]) == ("reported", None)


def test_a_price_from_a_file_is_shown_with_its_date(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    prices = tmp_path / "prices.yaml"
    prices.write_text("openai/sums: {input: 1, output: 10, date: 2026-11-01}\n")
    monkeypatch.setenv("PROCTOR_PRICES", str(prices))
    write_benchmark(Path(), 2)
    with answering() as provider:
        ended = cli("run", "sums.yaml", "-m", address(provider))
    assert "≈ computed from tokens and a price list: prices.yaml of 2026-11-01." in ended.out
    assert cli("show", "latest", "--json").json["evaluations"][0]["cost_basis"] == "computed"


def test_answers_from_the_cache_keep_the_price_they_were_paid_at(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_benchmark(Path(), 4)
    with answering() as provider:
        run(cli, address(provider), *ASSUMED, "--limit", 2)
        prices = tmp_path / "prices.yaml"
        prices.write_text("openai/sums: {input: 2, output: 20, date: 2026-11-01}\n")
        monkeypatch.setenv("PROCTOR_PRICES", str(prices))
        document = run(cli, address(provider))
    assert document["cached"] == 2
    assert document["cost_basis"] == "mixed"
    assert sorted(document["price_sources"]) == ["$1 in, $10 out for a million tokens", "prices.yaml of 2026-11-01"]
    assert document["cost_usd"] == pytest.approx(2 * 2 * ONE_ANSWER)
    assert document["answers_cost_usd"] == pytest.approx(6 * ONE_ANSWER)


def test_what_nobody_knows_stays_unknown_also_when_it_comes_from_the_cache(cli: Cli) -> None:
    write_benchmark(Path(), 2)
    Path("mine.py").write_text("def answer(text: str) -> str:\n    return '1'\n")
    first, second = (run(cli, "python/mine:answer?cache=true") for _ in range(2))
    assert second["cached"] == 2
    for document in (first, second):
        assert (document["cost_usd"], document["cost_basis"], document["price_sources"]) == (None, "unknown", [])


def test_a_function_may_report_what_it_cost(cli: Cli) -> None:
    write_benchmark(Path(), 2)
    Path("mine.py").write_text(
        "from decimal import Decimal\nfrom proctor.domain.response import Response\n"
        "def answer(text: str) -> Response:\n    return Response('1', cost_usd=Decimal('0.5'))\n"
    )
    document = run(cli, "python/mine:answer")
    assert (document["cost_usd"], document["cost_basis"]) == (1.0, "reported")


def test_what_runs_here_is_free_and_not_an_estimate(cli: Cli) -> None:
    ended = cli("run", "arithmetic", "-m", "demo/strong", "--limit", 3)
    assert "$0.0000" in ended.out
    assert "≈" not in ended.out
    assert cli("show", "latest", "--json").json["evaluations"][0]["cost_basis"] == "free"


def test_a_run_recorded_before_bases_were_noted_does_not_claim_one(cli: Cli, home: Path) -> None:
    write_benchmark(Path(), 2)
    with answering() as provider:
        run(cli, address(provider), *ASSUMED)
    with connected(home) as connection:
        connection.execute("UPDATE responses SET cost_basis = NULL")
        connection.execute("UPDATE evaluations SET summary = NULL")
    shown = cli("show", "latest").out
    assert "≈$0.0001" in shown
    assert "≈ recorded without its source." in shown
    assert cli("show", "latest", "--json").json["evaluations"][0]["cost_basis"] == "unknown"


def test_a_comparison_and_a_leaderboard_mark_estimates(cli: Cli) -> None:
    write_benchmark(Path(), 4)
    with answering() as provider:
        run(cli, address(provider), "-m", "demo/strong", *ASSUMED)
    board = cli("leaderboard")
    assert "≈$0.0002" in board.out
    compared = cli("compare", "latest")
    assert re.search(r"≈\$0\.0002", compared.out)
    assert "≈ computed from tokens and an assumed price" in compared.out
