"""Proctor from Python: one synchronous door that also works inside a running event loop, in notebooks for example."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from proctor.domain.estimate import Estimate
from proctor.domain.run import RunStatus
from proctor.planning.plan_file import plan_from
from proctor.reports.rows import result_json
from proctor.runs.execute import Execution, carry_out, submit
from proctor.runs.reading import read_run
from proctor.runs.resolve import Surroundings
from proctor.settings import Settings
from proctor.stores.database import Database, open_database
from proctor.stores.results import ResultStore

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True)
class Run:
    """What happened to a plan; its numbers are those that `proctor show` prints."""

    id: str
    document: Mapping[str, Any]
    """The run as `--json` shows it."""
    _database: Database

    @property
    def status(self) -> RunStatus:
        return RunStatus(self.document["status"])

    @property
    def metrics(self) -> dict[str, dict[str, dict[str, Estimate]]]:
        """Estimates by model, benchmark and metric: `run.metrics["demo/strong"]["puzzles"]["accuracy"].value`."""
        found: dict[str, dict[str, dict[str, Estimate]]] = {}
        for item in self.document["evaluations"]:
            estimates = {name: _estimate(value) for name, value in item["metrics"].items()}
            found.setdefault(item["model"], {})[item["benchmark"]] = estimates
        return found

    def results(self) -> Iterator[dict[str, Any]]:
        """One row for each trial, read as you go; the fields are those of `proctor export`."""
        return (result_json(row) for row in ResultStore(self._database).results(self.id))

    def to_pandas(self) -> pandas.DataFrame:
        """The results as a table, one row for each trial, each scorer's value in a column of its own."""
        try:
            import pandas
        except ImportError:
            raise ImportError("to_pandas() needs pandas: pip install 'proctor[pandas]'") from None
        rows = []
        for row in self.results():
            scores = row.pop("scores")
            usage = row.pop("usage")
            rows.append({**row, **usage, **{f"score_{name}": score["value"] for name, score in scores.items()}})
        return pandas.DataFrame(rows)


def evaluate(
    benchmarks: str | Mapping[str, Any] | Sequence[str | Mapping[str, Any]],
    models: str | Mapping[str, Any] | Sequence[str | Mapping[str, Any]],
    *,
    limit: int | None = None,
    epochs: int = 1,
    seed: int = 0,
    cache: bool = True,
    name: str | None = None,
    home: Path | str | None = None,
    **limits: Any,
) -> Run:
    """Evaluate models on benchmarks and wait for the result; `limits` are those of a plan (concurrency, minutes, …).

    Benchmarks and models are written as in a plan. Nothing is printed. The run is kept like one of the command line's.
    """
    specs = [_with_limit(spec, limit) for spec in _listed(benchmarks)]
    values = {"models": _listed(models), "benchmarks": specs, "epochs": epochs, "seed": seed, "cache": cache}
    plan = plan_from({**values, "name": name, "limits": limits})
    settings = Settings.from_environment({**os.environ, "PROCTOR_HOME": str(home)} if home else os.environ)
    database = open_database(settings.database_url)
    execution = submit(plan, Surroundings(Path.cwd(), os.environ, settings.data), database)
    _run_in_thread(execution)
    return Run(execution.run_id, read_run(database, execution.run_id), database)


def _run_in_thread(execution: Execution) -> None:
    """A thread of its own has no event loop yet, whatever the caller's thread is doing."""
    failures: list[BaseException] = []

    def work() -> None:
        try:
            asyncio.run(carry_out(execution))
        except BaseException as error:  # noqa: BLE001 - handed to the caller below
            failures.append(error)

    thread = threading.Thread(target=work, name="proctor")
    thread.start()
    thread.join()
    if failures:
        raise failures[0]


def _listed(value: str | Mapping[str, Any] | Sequence[str | Mapping[str, Any]]) -> list[str | Mapping[str, Any]]:
    return [value] if isinstance(value, str | Mapping) else list(value)


def _with_limit(spec: str | Mapping[str, Any], limit: int | None) -> str | Mapping[str, Any]:
    if limit is None:
        return spec
    return {"limit": limit, **({"benchmark": spec} if isinstance(spec, str) else spec)}


def _estimate(data: Mapping[str, Any]) -> Estimate:
    low, high = data["ci95"] or (None, None)
    return Estimate(data["value"], data["n"], data["stderr"], low, high, data["method"])
