"""Prometheus metrics of a server: what it served itself, and what the database says of all processes together.

Labels are bounded: routes as they are declared, providers, pools, states. No model, run, user or project is one.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from threading import Lock

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    PlatformCollector,
    ProcessCollector,
    generate_latest,
)
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.registry import Collector

from proctor.domain.errors import StoreError
from proctor.domain.run import RunStatus
from proctor.stores.database import Database
from proctor.stores.monitoring import LATENCY_BUCKETS, Distribution, ServiceFigures, read_service_figures
from proctor.stores.wal_archive import WalArchive, read_wal_archive
from proctor.telemetry.logs import lines_dropped
from proctor.telemetry.process_metrics import ProcessMetrics

FRESH_SECONDS = 10.0
"""How long what was counted is given again; longer where counting takes long."""
SHARE = 20
"""Counting takes at most one part in so many of a processor."""
BACKUP_SECONDS = 300.0
RESPONSE_BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
TOKENS = {
    "input": "input_tokens",
    "output": "output_tokens",
    "reasoning": "reasoning_tokens",
    "cached": "cached_tokens",
}


class DatabaseCollector(Collector):
    """Counts what is stored when it is asked, not more often than it is cheap to."""

    def __init__(self, database: Database, home: Path, newest_backup: Callable[[], float | None]) -> None:
        self._database, self._home, self._newest_backup = database, home, newest_backup
        self._lock = Lock()
        self._figures: ServiceFigures | None = None
        self._fresh_until = 0.0
        self._wal: WalArchive | None = None
        self._backup: float | None = None
        self._backup_until = 0.0

    def collect(self) -> Iterator[Metric]:
        began = time.monotonic()
        with self._lock:
            figures = self._read()
            backup = self._read_backup()
        up = GaugeMetricFamily("proctor_database_up", "1 while the database answers.", value=float(figures is not None))
        yield up
        if figures is not None:
            yield from _of_runs(figures)
            yield from _of_providers(figures)
            yield from _of_queue(figures)
        if backup is not None:
            yield GaugeMetricFamily(
                "proctor_backup_timestamp_seconds", "When the newest backup was made.", value=backup
            )
        if figures is not None and self._wal is not None:
            yield from _of_wal(self._wal)
        if self._home.exists():
            free = float(shutil.disk_usage(self._home).free)
            yield GaugeMetricFamily("proctor_disk_free_bytes", "Free where the home is.", value=free)
        took = time.monotonic() - began
        yield CounterMetricFamily(
            "proctor_log_lines_dropped", "Log lines that nobody took in time.", value=lines_dropped()
        )
        yield GaugeMetricFamily("proctor_collect_seconds", "How long it took to count all of this.", value=took)

    def _read(self) -> ServiceFigures | None:
        began = time.monotonic()
        if self._figures is None or began >= self._fresh_until:
            try:
                self._figures = read_service_figures(self._database)
                self._wal = read_wal_archive(self._database)
            except StoreError:
                self._figures = None
            took = time.monotonic() - began
            self._fresh_until = time.monotonic() + max(FRESH_SECONDS, SHARE * took)
        return self._figures

    def _read_backup(self) -> float | None:
        if time.monotonic() >= self._backup_until:
            self._backup = self._newest_backup()
            self._backup_until = time.monotonic() + BACKUP_SECONDS
        return self._backup


class ServerMetrics:
    """The registry of one server; every server of a test has its own."""

    def __init__(
        self,
        database: Database,
        home: Path,
        newest_backup: Callable[[], float | None],
        *,
        streams: Callable[[], float] = lambda: 0.0,
        others: Iterable[Collector] = (),
        certificate_expiry: float | None = None,
    ) -> None:
        """`streams` counts who follows events; `others` tell of worker processes that the server started.

        `certificate_expiry` is when the certificate that the server shows ends, in seconds since 1970.
        """
        self._registry = CollectorRegistry()
        for one in others:
            self._registry.register(one)
        self._process = ProcessMetrics(self._registry, "proctor_server", is_server=True)
        clients = Gauge("proctor_event_stream_clients", "Streams that are followed.", registry=self._registry)
        clients.set_function(streams)
        ProcessCollector(registry=self._registry)
        PlatformCollector(registry=self._registry)
        self._registry.register(DatabaseCollector(database, home, newest_backup))
        if certificate_expiry is not None:
            expiry = Gauge(
                "proctor_certificate_expiry_timestamp_seconds", "When the certificate ends.", registry=self._registry
            )
            expiry.set(certificate_expiry)
        self._requests = Counter(
            "benchmark_requests", "Requests served.", ("method", "route", "status"), registry=self._registry
        )
        self._seconds = Histogram(
            "benchmark_response_time_seconds",
            "Until the answer began.",
            ("method", "route"),
            buckets=RESPONSE_BUCKETS,
            registry=self._registry,
        )

    def served(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count a request; `route` is as it was declared, never the address that was asked for."""
        self._requests.labels(method, route, str(status)).inc()
        self._seconds.labels(method, route).observe(seconds)

    def take(self, name: str, value: float, labels: Mapping[str, str]) -> None:
        """Count what this process measured of itself."""
        self._process.take(name, value, labels)

    def text(self) -> bytes:
        """All of it in Prometheus's text format."""
        return generate_latest(self._registry)


def _of_runs(figures: ServiceFigures) -> Iterator[Metric]:
    runs = GaugeMetricFamily("proctor_runs", "Runs that are stored.", labels=["status"])
    for status in RunStatus:
        runs.add_metric([status.value], figures.runs.get(status.value, 0))
    yield runs
    active = figures.runs.get(RunStatus.RUNNING.value, 0)
    yield GaugeMetricFamily("benchmark_active_runs", "Runs that are being executed.", value=active)
    trials = CounterMetricFamily(
        "proctor_trials", "Trials by outcome, each by its latest attempt.", labels=["provider", "outcome"]
    )
    for (provider, outcome), count in sorted(figures.outcomes.items()):
        trials.add_metric([provider, outcome], count)
    yield trials


def _of_providers(figures: ServiceFigures) -> Iterator[Metric]:
    answers = CounterMetricFamily("proctor_answers", "Answers, every attempt.", labels=["provider", "result"])
    tokens = CounterMetricFamily(
        "proctor_tokens", "Tokens of answers that were asked for.", labels=["provider", "kind"]
    )
    cost = CounterMetricFamily("proctor_cost_usd", "Known cost.", labels=["provider"])
    retries = CounterMetricFamily("proctor_retries", "Requests that were sent again.", labels=["provider"])
    latency = HistogramMetricFamily("proctor_provider_latency_seconds", "Time of answers.", labels=["provider"])
    first = HistogramMetricFamily("proctor_first_token_seconds", "Time to the first token.", labels=["provider"])
    for one in figures.providers:
        for result, count in one.answers.items():
            answers.add_metric([one.provider, result], count)
        for kind, name in TOKENS.items():
            tokens.add_metric([one.provider, kind], one.sums[name])
        cost.add_metric([one.provider], one.cost_usd)
        retries.add_metric([one.provider], one.sums["retries"])
        _add(latency, one.provider, one.latency)
        _add(first, one.provider, one.first_token)
    yield from (answers, tokens, cost, retries, latency, first)


def _add(family: HistogramMetricFamily, provider: str, found: Distribution) -> None:
    bounds = [(str(bound), float(count)) for bound, count in zip(LATENCY_BUCKETS, found.at_most, strict=True)]
    family.add_metric([provider], [*bounds, ("+Inf", float(found.count))], sum_value=found.sum)


def _of_queue(figures: ServiceFigures) -> Iterator[Metric]:
    chunks = GaugeMetricFamily("proctor_queue_chunks", "Chunks of runs.", labels=["pool", "state"])
    for (pool, state), count in sorted(figures.chunks.items()):
        chunks.add_metric([pool, state], count)
    yield chunks
    yield _by_pool("proctor_queue_oldest_seconds", "Since when the oldest chunk waits.", figures.oldest_waiting_seconds)
    yield CounterMetricFamily("proctor_lost_leases", "Workers that were lost with a chunk.", value=figures.lost_leases)
    yield _by_pool("proctor_pool_workers", "Workers of a pool seen in the last minute.", figures.pool_workers)
    about = "Largest part of its cost limit that a run has set aside."
    yield GaugeMetricFamily("proctor_budget_used_ratio", about, value=figures.budget_used)
    about = "Largest part that is spent of a budget of a project, a user or a key."
    yield GaugeMetricFamily("proctor_budget_spent_ratio", about, value=figures.budget_spent)
    deliveries = GaugeMetricFamily("proctor_webhook_deliveries", "Messages of webhooks.", labels=["state"])
    for state in ("waiting", "delivered", "failed"):
        deliveries.add_metric([state], figures.deliveries.get(state, 0))
    yield deliveries
    yield GaugeMetricFamily("proctor_workers", "Workers seen in the last minute.", value=figures.workers)


def _of_wal(archive: WalArchive) -> Iterator[Metric]:
    about = "Full files of PostgreSQL's log that are not archived."
    yield GaugeMetricFamily("proctor_wal_files_waiting", about, value=archive.files_waiting)
    about = "When the last file of PostgreSQL's log was archived."
    yield GaugeMetricFamily("proctor_wal_archived_timestamp_seconds", about, value=archive.archived_at)


def _by_pool(name: str, about: str, values: Mapping[str, float]) -> Metric:
    family = GaugeMetricFamily(name, about, labels=["pool"])
    for pool, value in sorted(values.items()):
        family.add_metric([pool], value)
    return family
