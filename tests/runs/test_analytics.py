"""Questions in SQL: the same totals as `show`, on both databases, and nothing else in reach."""

from __future__ import annotations

import pytest

import proctor
from commands import Cli
from proctor.domain.errors import UserError

pytest.importorskip("duckdb")


def test_totals_are_those_that_are_shown(cli: Cli) -> None:
    run = proctor.evaluate("puzzles", models=["demo/strong", "demo/weak"], limit=20, epochs=2)
    proctor.evaluate("puzzles", models="demo/strong", limit=3)
    shown = {item["model"]: item for item in cli("show", run.id, "--json").json["evaluations"]}
    asked = cli(
        "sql", "SELECT model, avg(value) AS mean, count(*) AS n FROM scores GROUP BY model", "--run", run.id, "--json"
    ).json  # fmt: skip
    assert {row["model"]: row["mean"] for row in asked} == pytest.approx(
        {model: item["metrics"]["accuracy"]["value"] for model, item in shown.items()}
    )
    tokens = cli(
        "sql", "SELECT model, sum(output_tokens) AS t FROM results WHERE run_id = '" + run.id + "' GROUP BY 1", "--json"
    ).json
    assert {row["model"]: row["t"] for row in tokens} == {
        model: item["usage"]["output_tokens"] for model, item in shown.items()
    }
    assert proctor.sql("SELECT count(*) AS n FROM results").to_pylist() == [{"n": 83}]
    assert proctor.sql("SELECT count(*) AS n FROM results", run).to_pylist() == [{"n": 80}]
    assert proctor.sql("SELECT sum(trials)::BIGINT AS n FROM runs").to_pylist() == [{"n": 83}]
    joined = "SELECT count(*) AS n FROM results JOIN scores USING (run_id, model, sample_id, epoch)"
    assert proctor.sql(joined).to_pylist() == [{"n": 83}]


def test_the_answer_is_a_table_and_columns_can_be_asked_for(cli: Cli) -> None:
    proctor.evaluate("puzzles", models="demo/strong", limit=2)
    ended = cli("sql", "SELECT model, count(*) AS n FROM results GROUP BY 1")
    assert ended.out.split() == ["model", "n", "demo/strong", "2"]
    assert "latency_seconds" in cli("sql", "DESCRIBE results").out
    assert ended.err == ""


@pytest.mark.sqlite
@pytest.mark.parametrize(
    "query",
    [
        "SELECT * FROM read_csv('/etc/passwd')",
        "SELECT * FROM read_text('/etc/passwd')",
        "SELECT * FROM '/etc/passwd'",
        "SELECT * FROM 'https://example.org/x.parquet'",
        "COPY results TO 'out.csv'",
        "ATTACH 'other.db'",
        "INSTALL httpfs",
        "LOAD httpfs",
        "SET enable_external_access = true",
        "CREATE TABLE x AS SELECT 1",
        "DELETE FROM results",
        "SELECT 1; SELECT 2",
        "",
        "SELEC 1",
        "SELECT * FROM nothing",
    ],
)
def test_nothing_else_can_be_asked(cli: Cli, query: str) -> None:
    ended = cli("sql", query)
    assert ended.code == 2
    assert ended.out == ""
    assert len(ended.err.splitlines()) == 1
    with pytest.raises(UserError):
        proctor.sql(query)
