"""Metrics that processes count by themselves: chunks, sandboxes, faults, breakers, time in the database.

A server counts in its memory. Workers count in files of one folder, from which whoever started them reads all of them
together: so a worker that ends, or is killed, takes nothing with it.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.multiprocess import MultiProcessCollector, mark_process_dead
from prometheus_client.registry import Collector

from proctor.domain.measuring import listen

if TYPE_CHECKING:
    from wsgiref.simple_server import WSGIServer

FOLDER_VARIABLE = "PROMETHEUS_MULTIPROC_DIR"
"""Where prometheus_client keeps the values of a process for others to read; read when it is imported."""
FOLDER = "metrics-"
SHORT = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 5.0)
LONG = (0.1, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0)
_PID = re.compile(r"_(\d+)\.db$")


class ProcessMetrics:
    """What one process measures; `prefix` says of which kind it is, and a server has the database's part only."""

    def __init__(self, registry: CollectorRegistry, prefix: str, *, is_server: bool = False) -> None:
        def histogram(name: str, text: str, labels: tuple[str, ...], buckets: tuple[float, ...]) -> Histogram:
            return Histogram(f"{prefix}_{name}", text, labels, registry=registry, buckets=buckets)

        self._histograms = {
            "database_wait_seconds": histogram("database_wait_seconds", "Until there was a connection.", (), SHORT),
            "database_seconds": histogram("database_seconds", "Of a piece of work in the database.", (), SHORT),
        }
        self._counters: dict[str, Counter] = {}
        self._gauges: dict[str, Gauge] = {}
        if is_server:
            self._counters["document_cache"] = Counter(
                f"{prefix}_document_cache", "Documents that were kept, or had to be computed.", ("kind", "result"),
                registry=registry,
            )  # fmt: skip
            return
        self._histograms |= {
            "chunk_seconds": histogram("chunk_seconds", "From a chunk's lease to its end.", ("pool", "end"), LONG),
            "sandbox_seconds": histogram("sandbox_seconds", "Of runs in a sandbox.", ("backend", "ending"), LONG),
        }
        self._counters = {
            "sandbox_violations": Counter(
                f"{prefix}_sandbox_violations", "Forbidden system calls.", ("backend",), registry=registry
            ),
            "model_faults": Counter(
                f"{prefix}_model_faults", "Requests that failed.", ("provider", "kind"), registry=registry
            ),
            "breaker_opened": Counter(
                f"{prefix}_breaker_opened", "Breakers that opened.", ("provider",), registry=registry
            ),
        }
        self._gauges = {
            "breakers_open": Gauge(
                f"{prefix}_breakers_open", "Breakers that are open.", ("provider",), registry=registry,
                multiprocess_mode="livesum",
            )
        }  # fmt: skip

    def take(self, name: str, value: float, labels: Mapping[str, str]) -> None:
        if (histogram := self._histograms.get(name)) is not None:
            (histogram.labels(**labels) if labels else histogram).observe(value)
        elif (counter := self._counters.get(name)) is not None:
            counter.labels(**labels).inc(value)
        elif (gauge := self._gauges.get(name)) is not None:
            gauge.labels(**labels).inc(value)


def measure_worker() -> None:
    """Count in this worker process, where whoever started it reads that; once a process."""
    if os.environ.get(FOLDER_VARIABLE):
        listen(ProcessMetrics(CollectorRegistry(), "proctor_worker").take)


class WorkerFiles:
    """A folder in which workers count, and what is read from it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)

    @classmethod
    def within(cls, home: Path) -> WorkerFiles:
        """A folder of this process's own; those of processes that were killed are removed."""
        for path in home.glob(f"{FOLDER}*"):
            pid = path.name.removeprefix(FOLDER)
            if pid.isdecimal() and not Path(f"/proc/{pid}").exists():
                shutil.rmtree(path, ignore_errors=True)
        return cls(home / f"{FOLDER}{os.getpid()}")

    def environment(self) -> dict[str, str]:
        """What workers are to be started with."""
        return {FOLDER_VARIABLE: str(self.folder)}

    def collector(self) -> Collector:
        return _FilesCollector(self.folder)

    def close(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)


class _FilesCollector(Collector):
    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def describe(self) -> Iterator[Metric]:
        """Nothing is said before it is there."""
        return iter(())

    def collect(self) -> Iterator[Metric]:
        if not self._folder.is_dir():
            return
        for path in self._folder.glob("gauge_live*.db"):
            found = _PID.search(path.name)
            if found is not None and not Path(f"/proc/{found[1]}").exists():
                mark_process_dead(int(found[1]), str(self._folder))  # type: ignore[no-untyped-call]
        found_in = MultiProcessCollector(CollectorRegistry(), path=str(self._folder))  # type: ignore[no-untyped-call]
        yield from found_in.collect()  # type: ignore[no-untyped-call]


class ProcessesCollector(Collector):
    """Processor, memory and open files of processes together, as Linux tells them."""

    def __init__(self, pids: Callable[[], list[int]]) -> None:
        self._pids = pids

    def describe(self) -> Iterator[Metric]:
        return iter(())

    def collect(self) -> Iterator[Metric]:
        seconds = resident = files = count = 0.0
        tick, page = os.sysconf("SC_CLK_TCK"), os.sysconf("SC_PAGE_SIZE")
        for pid in self._pids():
            with contextlib.suppress(OSError, IndexError, ValueError):
                fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
                seconds += (int(fields[11]) + int(fields[12])) / tick
                resident += int(fields[21]) * page
                files += len(list(Path(f"/proc/{pid}/fd").iterdir()))
                count += 1
        yield GaugeMetricFamily("proctor_worker_processes", "Worker processes of this machine.", value=count)
        yield GaugeMetricFamily("proctor_worker_resident_memory_bytes", "Memory of them all.", value=resident)
        yield GaugeMetricFamily("proctor_worker_open_fds", "Open files of them all.", value=files)
        yield CounterMetricFamily("proctor_worker_cpu_seconds", "Processor time of those that live now.", value=seconds)


def serve_worker_metrics(host: str, port: int, files: WorkerFiles, pids: Callable[[], list[int]]) -> WSGIServer:
    """Serve /metrics of workers from a thread of this process; gives the server, whose port may have been chosen."""
    from prometheus_client import start_http_server

    registry = CollectorRegistry()
    registry.register(files.collector())
    registry.register(ProcessesCollector(pids))
    server, _ = start_http_server(port, host, registry)
    return server
