"""What operators watch is what the documents of runs say."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

from proctor.domain.plan import Limits
from proctor.runs.read import read_run
from proctor.stores.accounts.budgets import BudgetRow, BudgetStore, Spender
from proctor.stores.database import Database
from proctor.stores.monitoring import LATENCY_BUCKETS, read_queue_figures, read_service_figures
from proctor.stores.queue import QueueStore
from reports.stored import FAILED, UNREADABLE, Told, record
from stores.parts import PLAN


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


def test_the_budget_that_is_nearest_to_its_end_is_told(database: Database, tmp_path: Path) -> None:
    store = BudgetStore(database)
    for kind, subject, cost in (("project", "local", 10), ("key", "unused", 1)):
        store.put(BudgetRow(kind, subject, Decimal(cost), "total", None, "test", ""))  # type: ignore[arg-type]
    assert read_queue_figures(database).budget_spent == 0.0
    plan = PLAN.model_copy(update={"limits": Limits(cost_usd=9)})
    QueueStore(database).accept(plan, tmp_path, None, spender=Spender("local"))
    figures = read_queue_figures(database)
    assert figures.budget_spent == 0.9
    assert figures.deliveries == {}
    assert figures.runs == {"queued": 1}
