"""A run as an object: what it is, its numbers, its trials; and executing it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NoReturn

from proctor.domain.documents.result import TrialResult
from proctor.domain.documents.run import RunSummary
from proctor.domain.errors import PlanError
from proctor.domain.estimate import Estimate
from proctor.domain.run import INTERRUPTED_REASON, RunStatus
from proctor.library.listening import Function, Listener, Listening, listener, log_notices
from proctor.library.notebook import LiveProgress
from proctor.library.worker import Worker
from proctor.runs.execute import execute_run, reopen
from proctor.runs.execution import RunExecution
from proctor.runs.read import read_run
from proctor.runs.resolve import PlanContext
from proctor.runs.results import read_rows
from proctor.stores.database import Database
from proctor.stores.runs import RunStore
from proctor.telemetry.run_traces import trace_runs

if TYPE_CHECKING:
    import pandas


class Run:
    """What happened to a plan; its numbers are those that `proctor show` prints."""

    def __init__(
        self, run_id: str, database: Database, context: PlanContext, execution: RunExecution | None = None
    ) -> None:
        self.id = run_id
        self._database = database
        self._context = context
        self._execution = execution
        self._listeners: list[Listener] = []
        self._summary: RunSummary | None = None

    @property
    def summary(self) -> RunSummary:
        """Everything that `proctor show` shows, read once; `refresh` reads it again."""
        return self._summary or self.refresh()

    @property
    def document(self) -> dict[str, Any]:
        """The summary as `--json` shows it, in plain values."""
        return self.summary.document

    def refresh(self) -> RunSummary:
        """Read the run again, which another process may be executing."""
        try:
            self._summary = read_run(self._database, self.id)
        finally:
            self._database.dispose()
        return self._summary

    @property
    def status(self) -> RunStatus:
        return self.summary.status

    @property
    def error(self) -> str | None:
        """Why the run did not complete; None when it did."""
        return self.summary.error

    @property
    def metrics(self) -> dict[str, dict[str, dict[str, Estimate]]]:
        """Estimates by model, benchmark and metric: `run.metrics["demo/strong"]["puzzles"]["accuracy"].value`.

        Where prompts are varied, a side stands instead of its model: `run.metrics["demo/strong · 5 shots"]`.
        A benchmark that a plan uses twice, with different selections, is called `name`, `name#2` and so on.
        """
        found: dict[str, dict[str, dict[str, Estimate]]] = {}
        for item in self.summary.evaluations:
            of_model = found.setdefault(item.side, {})
            of_model[_free_name(item.benchmark, of_model)] = {
                name: value.estimate for name, value in item.metrics.items()
            }
        return found

    def results(self) -> Iterator[TrialResult]:
        """One row for each trial, read as you go; the fields are those of `proctor export`."""
        try:
            yield from read_rows(self._database, self.id)
        finally:
            self._database.dispose()

    def to_pandas(self) -> pandas.DataFrame:
        """The results as a table, one row for each trial, each scorer's value in a column of its own."""
        try:
            import pandas
        except ImportError:
            raise ImportError("to_pandas() needs pandas: pip install 'proctor[pandas]'") from None
        rows = []
        for result in self.results():
            row = result.document
            del row["scores"]
            values = {f"score_{name}": score.value for name, score in result.scores.items()}
            rows.append({**row, **row.pop("usage"), **values})
        return pandas.DataFrame(rows)

    def subscribe(self, kind: str, function: Function) -> None:
        """Call `function` with each event of this kind while the run is executed, in order, in a thread of its own.

        A function that raises is not called again; it cannot hurt the run. `execute` returns when all were told.
        """
        if self.status is RunStatus.COMPLETED:
            raise PlanError(f"Run {self.id} is completed: subscribe between prepare() and execute().")
        self._listeners.append(listener(kind, function))

    def execute(self) -> Run:
        """Finish whatever is unfinished and wait; a run that was interrupted goes on where it stopped."""
        with self._executing() as worker:
            worker.wait()
        return self

    async def execute_async(self) -> Run:
        """Like `execute`, while the caller's event loop goes on."""
        with self._executing() as worker:
            await worker.wait_async()
        return self

    def _executing(self) -> _Executing:
        if self._execution is None:
            row = RunStore(self._database).get(self.id)
            self._execution = reopen(row, self._context, self._database)
        trace_runs()
        execution, self._execution = self._execution, None
        return _Executing(execution, self._listeners, self.refresh)

    def __await__(self) -> NoReturn:
        raise TypeError(
            f"evaluate() has waited already: run {self.id} is {self.status.value}, and proctor.open_run({self.id!r}) "
            "opens it. Leave out 'await', or write 'await proctor.evaluate_async(…)'."
        )

    def __repr__(self) -> str:
        return f"Run({self.id!r}, {self.status.value})"


class _Executing:
    """An execution with its listeners; they have heard everything when it is left."""

    def __init__(self, execution: RunExecution, listeners: list[Listener], refresh: Callable[[], object]) -> None:
        self._execution = execution
        self._listening = Listening(listeners) if listeners else None
        self._refresh = refresh
        self._progress = LiveProgress(execution.progress, execution.run_id)

    def __enter__(self) -> Worker[RunStatus]:
        execution = self._execution
        execution.observers.append(log_notices)
        if self._listening is not None:
            execution.observers.append(self._listening)
        self._progress.open()
        return Worker(lambda: execute_run(execution), lambda: execution.stop(INTERRUPTED_REASON))

    def __exit__(self, *_: object) -> None:
        self._progress.close()
        if self._listening is not None:
            self._listening.close()
        self._refresh()


def _free_name(name: str, taken: Mapping[str, Any]) -> str:
    number, free = 1, name
    while free in taken:
        number += 1
        free = f"{name}#{number}"
    return free
