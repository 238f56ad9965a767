"""Runs that workers execute: the plan is handed over, followed here, and ends with what any run prints."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from proctor.cli.echo import echo
from proctor.cli.executing import conclude
from proctor.domain.chunk import Pool

if TYPE_CHECKING:
    from proctor.settings import Settings
    from proctor.stores.database import Database
    from proctor.stores.events import StoredEvent

POLL_SECONDS = 0.1
FIGURES_SECONDS, TRIALS_EACH_SECOND = 2.0, 5_000
"""How long the figures of a run that has ended are waited for, and longer for one of many trials."""
LOOK_SECONDS = 10.0
"""After which it is said that nobody takes a run's chunks, and how often that is looked for."""
FIRST_SECONDS, MAX_SECONDS = 5.0, 60.0
LAST_EVENTS = frozenset(("finished", "failed", "cancelled"))


def find_workers(settings: Settings) -> str | None:
    """The broker that runs are handed over through; None where this process executes them.

    Raises UserError or StoreError where nobody could be told: then nothing is accepted.
    """
    if settings.broker_url is None:
        return None
    from proctor.worker.broker import check_broker, refuse_without_postgresql

    refuse_without_postgresql(settings.database_url)
    check_broker(settings.broker_url)
    return settings.broker_url


def follow_workers(
    run_id: str,
    opened: Database,
    broker_url: str,
    *,
    is_json: bool,
    gates: Mapping[str, float],
    baseline: str | None = None,
    reports: Sequence[Path] = (),
) -> None:
    """Announce the run, follow it to its end, and end the process as a run that was executed here would."""
    from proctor.worker.celery_app import make_app
    from proctor.worker.notifier import WorkerNotifier

    started = time.monotonic()
    WorkerNotifier(make_app(broker_url)).prepare(run_id)
    following = _Following(run_id, opened)
    is_interrupted = following.follow()
    conclude(
        run_id,
        opened,
        seconds=time.monotonic() - started,
        is_interrupted=is_interrupted,
        is_json=is_json,
        gates=gates,
        baseline=baseline,
        reports=reports,
    )


class _Following:
    """Tells how far a run is, as a run does whose progress is written to a log."""

    def __init__(self, run_id: str, opened: Database) -> None:
        self._run_id, self._opened = run_id, opened
        self._last = 0
        self._data: dict[str, Any] = {}
        self._began = time.monotonic()
        self._tell_at = self._began + FIRST_SECONDS
        self._wait = FIRST_SECONDS
        self._look_at = self._began + LOOK_SECONDS
        self._missing: set[Pool] = set()
        self._has_ended = False

    def follow(self) -> bool:
        """Until the run has ended; Ctrl-C cancels it, and a second one leaves it to the workers."""
        from proctor.domain.errors import RunError
        from proctor.runs.cancel import cancel_run

        is_interrupted = False
        while not self._has_ended:
            try:
                self._step()
                if not self._has_ended:
                    time.sleep(POLL_SECONDS)
            except KeyboardInterrupt:
                if is_interrupted:
                    echo(f"Run {self._run_id} goes on without being watched.", err=True)
                    sys.exit(130)
                is_interrupted = True
                echo(
                    f"Run {self._run_id} stops: requests in flight are finished. Ctrl-C again leaves it to itself.",
                    err=True,
                )
                try:
                    _patiently(lambda: cancel_run(self._opened, self._run_id))
                except RunError:
                    is_interrupted = False  # it had ended
        return is_interrupted

    def _step(self) -> None:
        from proctor.domain.errors import StoreError
        from proctor.stores.events import events_after

        try:
            for event in events_after(self._opened, self._run_id, self._last):
                self._last = event.number
                self._hear(event)
            now = time.monotonic()
            if now >= self._look_at:
                self._look_at = now + LOOK_SECONDS
                self._say_missing()
            if now >= self._tell_at:
                self._wait = min(2 * self._wait, MAX_SECONDS)
                self._tell_at = now + self._wait
                self._tell()
        except StoreError as fault:
            echo(f"Waiting: {fault}", err=True)
            time.sleep(1.0)

    def _hear(self, event: StoredEvent) -> None:
        from proctor.cli.figures import plural

        if "done" in event.data:
            self._data = event.data
        if event.kind == "prepared":
            echo(f"Run {self._run_id}: {plural(event.data['trials'], 'trial')}.", err=True)
        elif event.kind in LAST_EVENTS:
            self._has_ended = True
            if event.kind == "finished":
                self._wait_for_figures()

    def _wait_for_figures(self) -> None:
        """The worker that ended the run computes them; if that takes too long, whoever reads the run does."""
        from proctor.stores.runs import RunStore

        trials = self._data.get("trials")
        seconds = FIGURES_SECONDS + (trials / TRIALS_EACH_SECOND if isinstance(trials, int) else 0.0)
        until = time.monotonic() + seconds
        store = RunStore(self._opened)
        while time.monotonic() < until and not store.has_figures(self._run_id):
            time.sleep(POLL_SECONDS / 2)

    def _tell(self) -> None:
        done, trials = self._data.get("done"), self._data.get("trials")
        if not isinstance(done, int) or not isinstance(trials, int):
            echo(f"Run {self._run_id} waits for a worker.", err=True)
            return
        from proctor.metrics.rounding import percent_text

        share = percent_text(done / trials if trials else 1.0, 0)
        faults = self._data.get("faults")
        echo(f"{done:,} of {trials:,} ({share})" + (f", {faults:,} faults" if faults else ""), err=True)

    def _say_missing(self) -> None:
        """Who nobody is there to work on; said once, and again when it comes back to that."""
        from proctor.stores.chunks import ChunkStore
        from proctor.stores.workers import WorkerStore

        workers = WorkerStore(self._opened)
        if not workers.alive():
            if self._missing != set(Pool):
                echo("No worker is alive. Start one with 'proctor worker'.", err=True)
            self._missing = set(Pool)
            return
        waiting = ChunkStore(self._opened).waiting_by_pool(self._run_id)
        missing = {pool for pool in waiting if not workers.alive(pool)}
        for pool in sorted(missing - self._missing):
            start = f"Start one with 'proctor worker --pools {pool}'."
            echo(f"Waiting for a worker of pool {pool}; other pools go on. {start}", err=True)
        self._missing = missing


def _patiently(work: Callable[[], object]) -> None:
    from proctor.stores.patience import patiently

    patiently(work)
