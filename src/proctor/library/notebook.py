"""In a notebook, runs show how far they are, and documents are tables; elsewhere nothing of this happens."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from html import escape
from typing import Any

from proctor.domain.text import visible
from proctor.metrics.rounding import decimal_text, percent_text
from proctor.reports.figures import plural, seconds_text
from proctor.runs.progress import Progress

EVERY_SECONDS = 0.2
_shells: set[int] = set()


def notebook_shell() -> Any | None:
    """IPython's shell where it runs behind a notebook; None in a script, a terminal or a test."""
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    return shell if getattr(shell, "kernel", None) is not None else None


def set_up() -> None:
    """Teach the notebook to show documents as tables; once for each notebook."""
    shell = notebook_shell()
    if shell is None or id(shell) in _shells:
        return
    _shells.add(id(shell))
    formatter = shell.display_formatter.formatters["text/html"]
    for module, name, make in (
        ("proctor.library.run", "Run", _run_html),
        ("proctor.domain.documents.comparison", "Comparisons", _fragment("comparisons_html")),
        ("proctor.domain.documents.comparison", "Comparison", _fragment("comparison_html")),
        ("proctor.domain.documents.leaderboard", "Leaderboard", _fragment("leaderboard_html")),
    ):
        formatter.for_type_by_name(module, name, make)


def _run_html(run: Any) -> str:
    from proctor.reports.fragments import run_html

    return run_html(run.summary)


def _fragment(name: str) -> Callable[[Any], str]:
    def make(document: Any) -> str:
        from proctor.reports import fragments

        made: str = getattr(fragments, name)(document)
        return made

    return make


class LiveProgress:
    """A bar in the cell's output while the run is executed, and one line of text at its end."""

    def __init__(self, progress: Progress, run_id: str) -> None:
        self._progress, self._run_id = progress, run_id
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="proctor-progress", daemon=True)
        self._handle: Any = None

    def open(self) -> None:
        if notebook_shell() is not None:
            from IPython.display import display

            self._handle = display(self._content(), raw=True, display_id=True)  # type: ignore[no-untyped-call]
            self._thread.start()

    def close(self) -> None:
        if self._handle is not None:
            self._ended.set()
            self._thread.join()
            self._handle.update(self._content(), raw=True)

    def _watch(self) -> None:
        while not self._ended.wait(EVERY_SECONDS):
            self._handle.update(self._content(), raw=True)

    def _content(self) -> dict[str, str]:
        text = progress_text(self._progress, self._run_id)
        bar = f'<progress max="1" value="{self._progress.fraction:.4f}" style="width:16em"></progress>'
        return {"text/plain": text, "text/html": f"{bar} {escape(text)}"}


def progress_text(progress: Progress, run_id: str) -> str:
    """`Run 1nf…: 40 of 80 (50 %), 210/s, 0.2 s left`."""
    parts = [f"{progress.done:,} of {progress.trials:,} ({percent_text(progress.fraction, 0)})"]
    parts.append(f"{decimal_text(progress.rate, 1)}/s")
    if 0 < progress.fraction < 1 and (left := progress.seconds_left) is not None:
        parts.append(f"{seconds_text(left)} left")
    if progress.faults:
        parts.append(f"{plural(progress.faults, 'fault')} (last: {progress.last_fault})")
    return visible(f"Run {run_id}: {', '.join(parts)}")
