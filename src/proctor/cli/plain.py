"""Progress for logs and pipes: a line now and then on standard error."""

from __future__ import annotations

import threading
from types import TracebackType

from proctor.cli.echo import echo
from proctor.cli.figures import plural, seconds_text
from proctor.metrics.rounding import decimal_text, percent_text
from proctor.runs.progress import Progress

FIRST_SECONDS = 5.0
MAX_SECONDS = 60.0


class PlainView:
    """Prints after 5, 10, 20, … seconds, so that a short run stays silent and a long one stays readable."""

    def __init__(self, progress: Progress, run_id: str) -> None:
        self._progress = progress
        self._run_id = run_id
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="progress", daemon=True)

    def __enter__(self) -> PlainView:
        self.note(f"Run {self._run_id}: {plural(self._progress.trials, 'trial')}.")
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        self._ended.set()
        self._thread.join()

    def note(self, text: str) -> None:
        echo(text, err=True)

    def _watch(self) -> None:
        wait = FIRST_SECONDS
        while not self._ended.wait(wait):
            self.note(line(self._progress))
            wait = min(wait * 2, MAX_SECONDS)


def line(progress: Progress) -> str:
    """One line: done, rate, time left, faults."""
    share, rate = percent_text(progress.fraction, 0), decimal_text(progress.rate, 1)
    text = f"{progress.done:,} of {progress.trials:,} ({share}), {rate}/s"
    if 0 < progress.fraction < 1 and (left := progress.seconds_left) is not None:
        text += f", {seconds_text(left)} left"
    if progress.batch_text:
        text += f", {progress.batch_text}"
    if progress.faults:
        text += f", {plural(progress.faults, 'fault')} (last: {progress.last_fault})"
    return text
