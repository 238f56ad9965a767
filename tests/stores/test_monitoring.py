"""What operators watch is what the documents of runs say."""

from __future__ import annotations

from pathlib import Path

from proctor.runs.read import read_run
from proctor.stores.database import Database
from proctor.stores.monitoring import LATENCY_BUCKETS, read_service_figures
from reports.stored import FAILED, UNREADABLE, Told, record


def test_an_empty_database_has_no_figures(database: Database) -> None:
    figures = read_service_figures(database)
    assert (figures.runs, figures.outcomes, figures.providers, figures.chunks) == ({}, {}, [], {})
    assert (figures.lost_leases, figures.workers) == (0, 0)


def test_trials_are_counted_by_outcome_as_a_run_counts_them(database: Database, tmp_path: Path) -> None:
    run = record(database, tmp_path, Told({"a": 1.0, "b": FAILED, "c": UNREADABLE, "d": 0.0}))
    [shown] = read_run(database, run).evaluations
    figures = read_service_figures(database)
    assert {outcome: count for (_, outcome), count in figures.outcomes.items()} == {
        outcome: count
        for outcome, count in (("scored", shown.scored), ("invalid", shown.invalid), ("failed", shown.failed))
        if count
    }
    [provider] = figures.providers
    assert sum(provider.answers.values()) == shown.trials
    assert len(provider.latency.at_most) == len(LATENCY_BUCKETS)
    assert sorted(provider.latency.at_most) == list(provider.latency.at_most)
    assert max(provider.latency.at_most) <= provider.latency.count
