"""The live view on a terminal: a bar for each evaluation, with rate, time left, spend and live score."""

from __future__ import annotations

from types import TracebackType

from rich.console import Console, Group
from rich.live import Live
from rich.markup import escape
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from proctor.cli.figures import cost_text, seconds_text
from proctor.domain.trial import Outcome
from proctor.runs.progress import EvaluationProgress, Progress

FRAMES_PER_SECOND = 4


class LiveView:
    """Draws from its own thread a few times a second; the run never waits for it."""

    def __init__(self, progress: Progress, run_id: str) -> None:
        self._progress = progress
        self._run_id = run_id
        self._note = ""
        self._live = Live(
            console=Console(stderr=True),
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
        self._live.stop()

    def note(self, text: str) -> None:
        self._note = text

    def _draw(self) -> Group:
        progress = self._progress
        table = Table(box=None, pad_edge=False, show_header=False)
        for item in progress.evaluations.values():
            table.add_row(
                escape(item.label),
                escape(item.benchmark),
                ProgressBar(total=max(item.trials, 1), completed=item.done, width=24),
                f"{item.done:,}/{item.trials:,}",
                _score(item),
                _troubles(item),
            )
        parts: list[Table | Text] = [table, Text(self._status(), style="dim")]
        if progress.last_fault:
            parts.append(Text(f"{progress.faults:,} faults, tried again; last: {progress.last_fault}", style="yellow"))
        if self._note:
            parts.append(Text(self._note, style="bold yellow"))
        return Group(*parts)

    def _status(self) -> str:
        progress = self._progress
        left = ""
        if 0 < progress.fraction < 1 and progress.rate > 0:
            left = f"  {seconds_text((progress.trials - progress.done) / progress.rate)} left"
        limits = ", ".join(f"{model} {limit}" for model, limit in progress.concurrency.items())
        slots = f"  in flight at most: {limits}" if limits else ""
        return (
            f"Run {self._run_id}  {progress.fraction:.0%}  {progress.rate:.1f} trials/s{left}"
            f"  cost {cost_text(progress.cost_usd)}{slots}"
        )


def _score(item: EvaluationProgress) -> str:
    mean = item.mean_score
    return "" if mean is None else f"score {mean:.3f} n={item.score_count:,}"


def _troubles(item: EvaluationProgress) -> str:
    counts = ((name, item.outcomes[name]) for name in (Outcome.INVALID, Outcome.FAILED))
    parts = [f"{count:,} {name}" for name, count in counts if count]
    if item.cached:
        parts.append(f"{item.cached:,} cached")
    return ", ".join(parts)
