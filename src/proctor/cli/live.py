"""The live view on a terminal: a bar for each evaluation, with rate, time left, spend and live score."""

from __future__ import annotations

from types import TracebackType

from rich.console import Console, Group
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from proctor.cli.figures import cost_text, plural, seconds_text
from proctor.cli.terminal import error_console
from proctor.domain.text import visible
from proctor.domain.trial import Outcome
from proctor.metrics.rounding import decimal_text, percent_text
from proctor.runs.progress import EvaluationProgress, Progress

FRAMES_PER_SECOND = 4
LINES_BELOW = 5
"""Kept free for the status, the last fault, a note and the prompt."""
NAME_SHARE = 4
"""A name takes at most this part of the width: a quarter."""


class LiveView:
    """Draws from its own thread a few times a second; the run never waits for it."""

    def __init__(self, progress: Progress, run_id: str) -> None:
        self._progress = progress
        self._run_id = run_id
        self._note = ""
        self._console = error_console()
        self._live = Live(
            console=self._console,
            get_renderable=self._draw,
            refresh_per_second=FRAMES_PER_SECOND,
            transient=True,
        )

    def __enter__(self) -> LiveView:
        self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Take the picture away and give the cursor back; calling it twice is harmless."""
        self._live.stop()

    def note(self, text: str) -> None:
        self._note = text

    def _draw(self) -> Group:
        """Evaluations in progress first: with many of them, those that are finished or waiting are only counted."""
        progress = self._progress
        room = max(1, self._console.height - LINES_BELOW)
        items = list(progress.evaluations.values())
        shown = items if len(items) <= room else sorted(items, key=_urgency)[: room - 1]
        table = Table.grid(padding=(0, 2))
        widest = _name_width(self._console)
        for share in (widest, widest, None, None, None, None):
            table.add_column(no_wrap=True, overflow="ellipsis", max_width=share)
        for item in shown:
            table.add_row(*self._row(item))
        parts: list[Table | Text] = [table]
        if len(shown) < len(items):
            parts.append(_line(f"… and {len(items) - len(shown):,} more, finished or queued", "dim"))
        parts.append(_line(self._status(), "dim"))
        if progress.batch_text:
            parts.append(_line(progress.batch_text, "dim"))
        if progress.last_fault:
            parts.append(_line(f"{plural(progress.faults, 'fault')}, retried; last: {progress.last_fault}", "yellow"))
        if self._note:
            parts.append(Text(self._note, style="bold yellow"))
        return Group(*parts)

    def _row(self, item: EvaluationProgress) -> tuple[Text | ProgressBar, ...]:
        bar = ProgressBar(total=max(item.trials, 1), completed=item.done, width=24 if self._console.width > 110 else 8)
        count = Text(f"{item.done:,}/{item.trials:,}", justify="right")
        mean = item.mean_score
        score = Text("" if mean is None else f"{decimal_text(mean)} n={item.score_count:,}")
        return Text(self._name(item)), Text(visible(item.benchmark)), bar, count, score, Text(_troubles(item))

    def _name(self, item: EvaluationProgress) -> str:
        """What differs stands at the end of a side's name: where it is too long, its middle goes."""
        name, width = visible(item.side), _name_width(self._console)
        if item.side == item.label or len(name) <= width:
            return name
        end = width * 2 // 3
        return f"{name[: width - end - 1]}…{name[-end:]}"

    def _status(self) -> str:
        progress = self._progress
        parts = [
            f"Run {self._run_id}",
            percent_text(progress.fraction, 0),
            f"{decimal_text(progress.rate, 1)} trials/s",
        ]
        if 0 < progress.fraction < 1 and (left := progress.seconds_left) is not None:
            parts.append(f"{seconds_text(left)} left")
        parts.append(f"cost {cost_text(progress.cost_usd, progress.cost_basis)}")
        if cached := sum(item.cached for item in progress.evaluations.values()):
            parts.append(f"{cached:,} cached")
        if progress.concurrency:
            limits = ", ".join(f"{model} {limit}" for model, limit in progress.concurrency.items())
            parts.append(f"concurrency limit: {limits}")
        return "  ".join(parts)


def _line(text: str, style: str) -> Text:
    return Text(visible(text), style=style, no_wrap=True, overflow="ellipsis")


def _name_width(console: Console) -> int:
    return max(8, console.width // NAME_SHARE)


def _urgency(item: EvaluationProgress) -> int:
    if 0 < item.done < item.trials:
        return 0
    return 2 if item.done else 1


def _troubles(item: EvaluationProgress) -> str:
    counts = ((name, item.outcomes[name]) for name in (Outcome.INVALID, Outcome.FAILED))
    return ", ".join(f"{count:,} {name}" for name, count in counts if count)
