"""Traces of runs that a process executes by itself, as `proctor run` and `proctor.evaluate` do."""

from __future__ import annotations

from proctor.domain.tracing import is_traced
from proctor.settings import Settings


def trace_runs() -> None:
    """Send them to the collector that the environment names, if it names one; calling it again is harmless."""
    url = Settings.from_environment().traces_url
    if url is None or is_traced():
        return
    from proctor.telemetry.starting import trace_process  # loads structlog, which few runs need

    trace_process(url, "run", is_ours=False)
