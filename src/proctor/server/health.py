"""The checks behind `/api/v1/status`, in three levels, each with what was measured and why it is well or not."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from proctor.domain.documents.status import ServiceStatus, State, StatusCheck, StatusLevel
from proctor.domain.errors import ProctorError, StoreError
from proctor.server.certificate import read_expiry
from proctor.stores.monitoring import ServiceFigures, clock_of, read_queue_figures, recent_trials
from proctor.telemetry.logs import lines_dropped

if TYPE_CHECKING:
    from proctor.server.service import Service

MIN_FREE_BYTES = 2e9
MAX_SKEW_SECONDS = 5.0
MAX_WAIT_SECONDS = 900.0
MAX_BACKUP_SECONDS = 26 * 3_600.0
MIN_CERTIFICATE_DAYS = 14.0
MIN_SUCCESS = 0.9
WORST: tuple[State, ...] = ("ok", "unknown", "warning", "down")
"""From what worries nobody to what stops everything."""


def check_health(service: Service) -> ServiceStatus:
    """Look at everything now; what does not answer is said by its name."""
    levels = [_level(_services(service)), _level(_application(service)), _level(_business(service))]
    return ServiceStatus(_worst(level.state for level in levels), datetime.now(UTC), *levels)


def _level(checks: Iterator[StatusCheck]) -> StatusLevel:
    found = list(checks)
    return StatusLevel(_worst(check.state for check in found), found)


def _worst(states: Iterator[State]) -> State:
    nothing: State = "ok"
    found = max(states, key=WORST.index, default=nothing)
    return "ok" if found == "unknown" else found


def _check(
    name: str, reason: str, *, state: State = "ok", value: float | None = None, unit: str | None = None
) -> StatusCheck:
    return StatusCheck(name, state, value, unit, reason)


def _services(service: Service) -> Iterator[StatusCheck]:
    began = time.perf_counter()
    down = service.down()
    took = round(1000 * (time.perf_counter() - began), 1)
    if "database" in down:
        yield _check("database", "does not answer: 'proctor doctor' says why", state="down")
    else:
        yield _check("database", f"{service.database.label} answers", value=took, unit="ms")
    broker = service.settings.broker_url
    if broker is None:
        yield _check("broker", "none is needed: the server has workers of its own")
    elif "redis" in down:
        yield _check("broker", "Redis does not answer: runs wait until it is back, none is lost", state="down")
    else:
        yield _check("broker", "Redis answers")
    yield _artifacts(service)
    yield _backups(service)


def _artifacts(service: Service) -> StatusCheck:
    kept = service.context.artifacts
    if kept is None:
        return _check("artifacts", "none are kept", state="unknown")
    try:
        delayed = kept.delayed()
    except ProctorError as error:
        return _check("artifacts", str(error), state="down")
    if delayed:
        return _check("artifacts", delayed, state="warning")
    return _check("artifacts", f"{kept.location} takes them")


def _backups(service: Service) -> StatusCheck:
    newest = service.newest_backup()
    if newest is None:
        return _check("backups", "there is none: run 'proctor backup', and on a schedule", state="warning")
    age = max(0.0, time.time() - newest)
    is_old = age > MAX_BACKUP_SECONDS
    reason = f"the newest is {age / 3600:.0f} h old" + (": run 'proctor backup'" if is_old else "")
    return _check("backups", reason, state="warning" if is_old else "ok", value=round(age), unit="s")


def _application(service: Service) -> Iterator[StatusCheck]:
    yield _measured(service, "workers", lambda figures: _workers(figures, service))
    yield _clock(service)
    free = float(shutil.disk_usage(service.settings.home).free) if service.settings.home.exists() else None
    if free is not None:
        is_full = free < MIN_FREE_BYTES
        advice = ": see 'proctor retention --dry-run'" if is_full else ""
        state: State = "warning" if is_full else "ok"
        yield _check("disk", f"{free / 1e9:.1f} GB are free{advice}", state=state, value=free, unit="bytes")
    if service.certificate is not None:
        yield _certificate(read_expiry(service.certificate))
    dropped = lines_dropped()
    reason = f"{dropped} lines were dropped: nobody takes them" if dropped else "every line was written"
    yield _check("logs", reason, state="warning" if dropped else "ok", value=dropped, unit="lines")
    count = service.streams.open
    yield _check("event_streams", f"{count} are followed", value=count, unit="streams")


def _measured(service: Service, name: str, check: Callable[[ServiceFigures], StatusCheck]) -> StatusCheck:
    try:
        return check(read_queue_figures(service.database))
    except StoreError:
        return _check(name, "not measured: the database does not answer", state="unknown")


def _workers(figures: ServiceFigures, service: Service) -> StatusCheck:
    count = figures.workers
    if count:
        return _check("workers", f"seen in the last minute: {count}", value=count, unit="workers")
    advice = "start one: proctor worker" if service.settings.broker_url else "those of this server are being started"
    return _check("workers", f"none was seen in the last minute: {advice}", state="warning", value=0, unit="workers")


def _clock(service: Service) -> StatusCheck:
    try:
        skew = abs(clock_of(service.database) - time.time())
    except StoreError:
        return _check("clock", "not measured: the database does not answer", state="unknown")
    is_right = skew < MAX_SKEW_SECONDS
    advice = "" if is_right else ": leases end too early or too late; synchronise the clocks"
    reason = f"{skew:.1f} s from the database's{advice}"
    return _check("clock", reason, state="ok" if is_right else "warning", value=round(skew, 3), unit="s")


def _certificate(expiry: float | None) -> StatusCheck:
    if expiry is None:
        return _check("certificate", "its file cannot be read", state="warning")
    days = (expiry - time.time()) / 86_400
    state: State = "down" if days < 0 else "warning" if days < MIN_CERTIFICATE_DAYS else "ok"
    return _check("certificate", f"ends in {days:.0f} days", state=state, value=round(days, 1), unit="days")


def _business(service: Service) -> Iterator[StatusCheck]:
    try:
        figures = read_queue_figures(service.database)
        scored, asked = recent_trials(service.database)
    except StoreError:
        yield _check("queue", "not measured: the database does not answer", state="unknown")
        yield _check("success_rate", "not measured: the database does not answer", state="unknown")
        return
    active = figures.runs.get("running", 0)
    yield _check("active_runs", f"{active} are being executed", value=active, unit="runs")
    for pool in sorted(figures.pool_workers):
        yield from _queue(pool, figures)
    if not asked:
        yield _check("success_rate", "no trial ended in the last hour", state="unknown", unit="share")
        return
    rate = scored / asked
    is_low = rate < MIN_SUCCESS
    advice = ": 'proctor samples RUN --outcome failed' shows why" if is_low else ""
    reason = f"{scored} of {asked} trials of the last hour came to a score{advice}"
    yield _check("success_rate", reason, state="warning" if is_low else "ok", value=round(rate, 4), unit="share")


def _queue(pool: str, figures: ServiceFigures) -> Iterator[StatusCheck]:
    depth = figures.chunks.get((pool, "waiting"), 0)
    age = figures.oldest_waiting_seconds.get(pool, 0.0)
    workers = figures.pool_workers[pool]
    reason, state = f"chunks that wait: {depth}; workers that take them: {workers}", "ok"
    if depth and not workers:
        reason, state = f"{depth} chunks wait and no worker takes them: proctor worker --pools {pool}", "down"
    elif age > MAX_WAIT_SECONDS:
        reason, state = f"the oldest of {depth} chunks waits for {age / 60:.0f} min: more workers would help", "warning"
    found: State = "down" if state == "down" else "warning" if state == "warning" else "ok"
    yield _check(f"queue_{pool}", reason, state=found, value=depth, unit="chunks")
    yield _check(f"queue_{pool}_age", f"the oldest waits for {age:.0f} s", state=found, value=round(age), unit="s")
