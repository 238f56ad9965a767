"""Traces over OTLP/HTTP with OpenTelemetry; imported only where an address for them is set (proctor[traces])."""

from __future__ import annotations

import atexit
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from opentelemetry import context, trace
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter
from opentelemetry.trace import SpanKind, Status, StatusCode
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from proctor.domain.tracing import Attributes, Kind, TraceSpan, end_tracing, trace_with
from proctor.version import __version__

PATH = "/v1/traces"
FLUSH_SECONDS = 2.0
"""How long the end of a process waits for a collector that does not answer."""
_PROPAGATOR = TraceContextTextMapPropagator()
_KINDS = {"internal": SpanKind.INTERNAL, "client": SpanKind.CLIENT}


class OtelSpan:
    """Implements TraceSpan on a span of OpenTelemetry's."""

    def __init__(self, span: trace.Span) -> None:
        self._span = span

    def set(self, attributes: Attributes) -> None:
        self._span.set_attributes({name: value for name, value in attributes.items() if value is not None})

    @contextmanager
    def current(self) -> Iterator[None]:
        token = context.attach(trace.set_span_in_context(self._span))
        try:
            yield
        finally:
            context.detach(token)

    def fail(self, kind: str) -> None:
        self._span.set_attribute("error.type", kind)
        self._span.set_status(Status(StatusCode.ERROR))

    def end(self) -> None:
        if self._span.is_recording():
            self._span.end()


class OtelTracer:
    """Implements Tracer; what is begun in another process's trace has that one's `traceparent` as its parent."""

    def __init__(self, provider: TracerProvider, exporter: SpanExporter) -> None:
        self._provider, self._exporter = provider, exporter
        self._tracer = provider.get_tracer("proctor", __version__)

    def begin(self, name: str, attributes: Attributes, kind: Kind, parent: str | None) -> TraceSpan:
        within = None if parent is None else _PROPAGATOR.extract({"traceparent": parent})
        given = {key: value for key, value in attributes.items() if value is not None}
        return OtelSpan(self._tracer.start_span(name, within, _KINDS[kind], given))

    def close(self) -> None:
        # OpenTelemetry's own flush heeds no time: it tries every batch to its end, and whoever ends us kills.
        flush = threading.Thread(target=self._provider.force_flush, name="flush-traces", daemon=True)
        try:
            flush.start()
        except RuntimeError:  # the first Pythons 3.12 begin no thread at their end
            self._provider.force_flush()
            return
        flush.join(FLUSH_SECONDS)
        if flush.is_alive():
            self._exporter.shutdown()

    def current(self) -> str | None:
        carrier: dict[str, str] = {}
        _PROPAGATOR.inject(carrier)
        return carrier.get("traceparent")


def start_tracing(url: str, service: str, *, is_ours: bool = True) -> None:
    """Send this process's spans to a collector; OpenTelemetry's own variables (OTEL_…) say how often and how many."""
    about = {"service.name": f"proctor-{service}", "service.version": __version__, "service.namespace": "proctor"}
    provider = TracerProvider(resource=Resource.create(about), shutdown_on_exit=False)
    address = url.rstrip("/")
    exporter = OTLPSpanExporter(endpoint=address if address.endswith(PATH) else address + PATH)
    provider.add_span_processor(BatchSpanProcessor(exporter))
    if is_ours:  # FastAPI asks for it; a program that evaluates has one of its own, or sets it later, once
        trace.set_tracer_provider(provider)
    trace_with(OtelTracer(provider, exporter))
    atexit.register(end_tracing)
