"""What an operator watches, of all projects: counted from what is stored, so that every process says the same."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import orjson
from msgspec import Struct
from msgspec.structs import replace

from proctor.domain.chunk import Pool
from proctor.domain.scope import EVERYTHING
from proctor.stores.accounts.budgets import BudgetStore
from proctor.stores.codec import PICO
from proctor.stores.connection import Connection
from proctor.stores.database import Database

LATENCY_BUCKETS = (0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0, 600.0)
"""Upper bounds in seconds."""
SUMS = ("input_tokens", "output_tokens", "reasoning_tokens", "cached_tokens", "cost_pico_usd", "retries")
_OF_PROVIDER = (
    "FROM responses JOIN evaluations ON evaluations.id = responses.evaluation_id "
    "AND evaluations.month = responses.month JOIN models ON models.name = evaluations.model"
)
_OUTCOME = (
    "CASE WHEN responses.error IS NOT NULL THEN 'failed' "
    "WHEN marked.marks IS NULL THEN 'unscored' WHEN marked.values_ = 0 THEN 'failed' "
    "WHEN marked.invalid > 0 THEN 'invalid' ELSE 'scored' END"
)
_MARKS = (
    "LEFT JOIN (SELECT response_id, month, count(*) AS marks, count(value) AS values_, "
    "sum(CASE WHEN is_invalid THEN 1 ELSE 0 END) AS invalid FROM scores GROUP BY response_id, month) marked "
    "ON marked.response_id = responses.id AND marked.month = responses.month"
)
_LATEST = (
    "NOT EXISTS (SELECT 1 FROM responses later WHERE later.evaluation_id = responses.evaluation_id "
    "AND later.month = responses.month AND later.trial_id = responses.trial_id AND later.attempt > responses.attempt)"
)


class Distribution(Struct, frozen=True):
    """How many were at most each bound, how many there were, and their sum."""

    at_most: tuple[int, ...]
    count: int
    sum: float


class ProviderFigures(Struct, frozen=True):
    """What was asked of one provider's models; answers from the cache are counted, but in no sum."""

    provider: str
    answers: Mapping[str, int]
    """`answered`, `failed` and `cached`."""
    sums: Mapping[str, int]
    cost_usd: float
    latency: Distribution
    first_token: Distribution


class ServiceFigures(Struct, frozen=True):
    runs: Mapping[str, int]
    outcomes: Mapping[tuple[str, str], int]
    """Of trials, each by its latest attempt: by provider and outcome."""
    providers: Sequence[ProviderFigures]
    chunks: Mapping[tuple[str, str], int]
    """By pool and state."""
    oldest_waiting_seconds: Mapping[str, float]
    """By pool: how long ago the run of the oldest chunk that waits was accepted."""
    lost_leases: int
    workers: int
    """Seen in the last minute."""
    pool_workers: Mapping[str, int]
    """Of these, by pool; a worker may serve several."""
    budget_used: float
    """The largest part of its cost limit that a run which is being executed has set aside; 0 where none has one."""
    budget_spent: float
    """The largest part that is spent or reserved of a budget of a project, a user or a key."""
    deliveries: Mapping[str, int]
    """Of webhooks, by state: waiting, delivered, failed."""


def clock_of(database: Database) -> float:
    """Seconds since 1970 as the database has it."""
    with database.connection() as connection:
        return float(connection.execute(f"SELECT {database.dialect.now}").fetchone()[0])


def read_service_figures(database: Database) -> ServiceFigures:
    """Count everything at one moment; takes as long as reading all answers' rows does, so it is not asked too often."""
    with database.at_scope(EVERYTHING).connection() as connection:
        outcomes = f"SELECT models.provider, {_OUTCOME}, count(*) {_OF_PROVIDER} {_MARKS} WHERE {_LATEST} GROUP BY 1, 2"
        rows = connection.execute(_provider_query()).fetchall()
        providers = [_provider(tuple(row)) for row in rows]
        return replace(_of_queue(connection, database), outcomes=_counted(connection, outcomes), providers=providers)


def read_queue_figures(database: Database) -> ServiceFigures:
    """The same without anything of answers: quick, however many there are."""
    with database.at_scope(EVERYTHING).connection() as connection:
        return _of_queue(connection, database)


def recent_trials(database: Database, seconds: float = 3_600.0) -> tuple[int, int]:
    """Trials of all projects that were answered or failed so lately, each by its latest attempt: those that came to a
    score, and all of them."""
    recent = (
        "evaluations.run_id IN (SELECT id FROM runs WHERE status IN ('running', 'queued') "
        "OR finished_at > ?) AND responses.created_at > ?"
    )
    since = time.time() - seconds
    query = f"SELECT {_OUTCOME}, count(*) {_OF_PROVIDER} {_MARKS} WHERE {recent} AND {_LATEST} GROUP BY 1"
    with database.at_scope(EVERYTHING).connection() as connection:
        values = [datetime.fromtimestamp(since, UTC).isoformat(timespec="microseconds"), since]
        found = {row[0]: int(row[1]) for row in connection.execute(query, values)}
    found.pop("unscored", None)  # on its way
    return found.get("scored", 0) + found.get("invalid", 0), sum(found.values())


def _counted(connection: Connection, query: str) -> dict[Any, int]:
    rows = connection.execute(query).fetchall()
    return {(row[0] if len(row) == 2 else tuple(row[:-1])): int(row[-1] or 0) for row in map(tuple, rows)}


def _of_queue(connection: Connection, database: Database) -> ServiceFigures:
    now = database.dialect.now
    oldest = connection.execute(
        f"SELECT chunks.pool, {now} - min(queue.accepted_at) FROM chunks "  # noqa: S608 - our own words
        "JOIN queue ON queue.run_id = chunks.run_id WHERE chunks.state = 'waiting' GROUP BY chunks.pool"
    ).fetchall()
    alive = connection.execute(f"SELECT pools FROM workers WHERE seen_at > {now} - 60").fetchall()  # noqa: S608
    pools = Counter(pool for row in alive for pool in str(row[0]).split(","))
    return ServiceFigures(
        runs=_counted(connection, "SELECT status, count(*) FROM runs GROUP BY status"),
        outcomes={},
        providers=[],
        chunks=_counted(connection, "SELECT pool, state, count(*) FROM chunks GROUP BY pool, state"),
        oldest_waiting_seconds={row[0]: max(0.0, float(row[1])) for row in oldest},
        lost_leases=int(connection.execute("SELECT coalesce(sum(lost_leases), 0) FROM chunks").fetchone()[0]),
        workers=len(alive),
        pool_workers={pool.value: pools[pool.value] for pool in Pool},
        budget_used=_budget_used(connection),
        budget_spent=_budget_spent(database),
        deliveries=_counted(connection, "SELECT state, count(*) FROM deliveries GROUP BY state"),
    )


def _budget_used(connection: Connection) -> float:
    rows = connection.execute(
        "SELECT runs.plan, queue.taken_pico_usd FROM queue JOIN runs ON runs.id = queue.run_id "
        "WHERE runs.status = 'running'"
    ).fetchall()
    parts = []
    for plan, taken in map(tuple, rows):
        cap = orjson.loads(plan).get("limits", {}).get("cost_usd")
        if cap:
            parts.append(float(taken / PICO) / float(cap))
    return max(parts, default=0.0)


def _budget_spent(database: Database) -> float:
    store = BudgetStore(database.at_scope(EVERYTHING))
    capped = [budget for budget in store.all() if budget.cost_usd]
    parts = (float(store.use(budget).spent_usd / budget.cost_usd) for budget in capped if budget.cost_usd)
    return max(parts, default=0.0)


def _provider_query() -> str:
    asked = "NOT responses.is_cached"
    parts = [
        f"sum(CASE WHEN {asked} AND error IS NULL THEN 1 ELSE 0 END)",
        "sum(CASE WHEN error IS NOT NULL THEN 1 ELSE 0 END)",
        "sum(CASE WHEN responses.is_cached THEN 1 ELSE 0 END)",
        *(f"sum(CASE WHEN {asked} THEN {name} END)" for name in SUMS),
    ]
    for name in ("latency_seconds", "first_token_seconds"):
        parts += [f"sum(CASE WHEN {asked} AND {name} <= {bound} THEN 1 ELSE 0 END)" for bound in LATENCY_BUCKETS]
        parts += [f"count(CASE WHEN {asked} THEN {name} END)", f"sum(CASE WHEN {asked} THEN {name} END)"]
    return f"SELECT models.provider, {', '.join(parts)} {_OF_PROVIDER} GROUP BY models.provider"


def _provider(row: tuple[Any, ...]) -> ProviderFigures:
    provider, answered, failed, cached, *rest = row
    sums = {name: int(value or 0) for name, value in zip(SUMS, rest, strict=False)}
    latency, first_token = rest[len(SUMS) :], rest[len(SUMS) + len(LATENCY_BUCKETS) + 2 :]
    return ProviderFigures(
        provider=provider,
        answers={"answered": int(answered or 0), "failed": int(failed or 0), "cached": int(cached or 0)},
        sums=sums,
        cost_usd=float(sums["cost_pico_usd"] / PICO),
        latency=_distribution(latency),
        first_token=_distribution(first_token),
    )


def _distribution(values: Sequence[Any]) -> Distribution:
    bounds = len(LATENCY_BUCKETS)
    at_most = tuple(int(value or 0) for value in values[:bounds])
    return Distribution(at_most, int(values[bounds] or 0), float(values[bounds + 1] or 0.0))
