"""What a server or a worker process sends out of itself, started as its settings say."""

from __future__ import annotations

import os
from importlib.util import find_spec
from typing import Protocol

from proctor.domain.errors import UserError
from proctor.telemetry.logs import LogSettings, start_logging


class TelemetrySettings(LogSettings, Protocol):
    @property
    def traces_url(self) -> str | None: ...


def start_telemetry(settings: TelemetrySettings, service: str) -> None:
    """Logs, and traces where there is an address for them; raises UserError where that needs what is not installed."""
    start_logging(settings, service)
    trace_process(settings.traces_url, service)


def trace_process(url: str | None, service: str, *, is_ours: bool = True) -> None:
    """Send traces of this process; a forked one begins anew. One that is not ours keeps its own tracer provider."""
    if url is None:
        return
    if find_spec("opentelemetry") is None or find_spec("opentelemetry.exporter") is None:
        raise UserError("PROCTOR_TRACES_URL needs more than is installed: pip install 'proctor[traces]'.")
    from proctor.telemetry.traces import start_tracing

    start_tracing(url, service, is_ours=is_ours)


def count_worker() -> None:
    """Count what this worker process does, where whoever started it reads that."""
    if os.environ.get("PROMETHEUS_MULTIPROC_DIR"):
        from proctor.telemetry.process_metrics import measure_worker

        measure_worker()
