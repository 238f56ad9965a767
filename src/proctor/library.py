"""Proctor from Python: one synchronous door that also works inside a running event loop, in notebooks for example."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from proctor.domain.errors import PlanError, did_you_mean
from proctor.domain.estimate import Estimate
from proctor.domain.plan import Limits, Plan, Sampling
from proctor.domain.run import RunStatus
from proctor.models.registry import named_hosts
from proctor.planning.plan_file import plan_from, read_plan
from proctor.reports.rows import result_json
from proctor.runs.execute import Execution, carry_out, submit
from proctor.runs.reading import read_run
from proctor.runs.resolve import Surroundings
from proctor.settings import Settings
from proctor.stores.database import Database, open_database
from proctor.stores.results import ResultStore

if TYPE_CHECKING:
    import pandas

Written = str | os.PathLike[str] | Mapping[str, Any]
"""A benchmark or a model as a plan has it: text, or a mapping with options beside the name."""


class Run(Struct, frozen=True):
    """What happened to a plan; its numbers are those that `proctor show` prints."""

    id: str
    document: Mapping[str, Any]
    """The run as `--json` shows it."""
    _database: Database

    @property
    def status(self) -> RunStatus:
        return RunStatus(self.document["status"])

    @property
    def error(self) -> str | None:
        """Why the run did not complete; None when it did."""
        error: str | None = self.document["error"]
        return error

    @property
    def metrics(self) -> dict[str, dict[str, dict[str, Estimate]]]:
        """Estimates by model, benchmark and metric: `run.metrics["demo/strong"]["puzzles"]["accuracy"].value`.

        A benchmark that a plan uses twice, with different selections, is called `name`, `name#2` and so on.
        """
        found: dict[str, dict[str, dict[str, Estimate]]] = {}
        for item in self.document["evaluations"]:
            estimates = {name: _estimate(value) for name, value in item["metrics"].items()}
            of_model = found.setdefault(item["model"], {})
            of_model[_free_name(item["benchmark"], of_model)] = estimates
        return found

    def results(self) -> Iterator[dict[str, Any]]:
        """One row for each trial, read as you go; the fields are those of `proctor export`."""
        try:
            for row in ResultStore(self._database).results(self.id):
                yield result_json(row)
        finally:
            self._database.dispose()

    def to_pandas(self) -> pandas.DataFrame:
        """The results as a table, one row for each trial, each scorer's value in a column of its own."""
        try:
            import pandas
        except ImportError:
            raise ImportError("to_pandas() needs pandas: pip install 'proctor[pandas]'") from None
        rows = []
        for row in self.results():
            scores, usage = row.pop("scores"), row.pop("usage")
            rows.append({**row, **usage, **{f"score_{name}": score["value"] for name, score in scores.items()}})
        return pandas.DataFrame(rows)

    def __repr__(self) -> str:
        return f"Run({self.id!r}, {self.status.value})"


def evaluate(
    benchmarks: Written | Sequence[Written],
    models: Written | Sequence[Written] | None = None,
    *,
    limit: int | None = None,
    where: Mapping[str, str | Sequence[str]] | None = None,
    shots: int | None = None,
    data: Path | str | None = None,
    home: Path | str | None = None,
    **options: Any,
) -> Run:
    """Evaluate models on benchmarks and wait for the result; nothing is printed, and the run is kept.

    Benchmarks and models are written as in a plan; without models, `benchmarks` is a plan file. `options` are the
    other parts of a plan (epochs, seed, judge, until, cache, batch, offline, sandbox, name), sampling options
    (temperature, max_tokens, …) and limits (concurrency, cost_usd, minutes, …); they win over a plan file. `data` takes
    the place of PROCTOR_DATA, `home` of PROCTOR_HOME. A mistake raises a UserError; a run that could not be completed
    is returned all the same, and its `status` and `error` say why.
    """
    given = (("limit", limit), ("where", where), ("shots", shots))
    selection = {key: value for key, value in given if value is not None}
    parts, folder = _sorted_options(options), Path.cwd()
    if models is None:
        path = _plan_file(benchmarks, selection)
        plan, folder = read_plan(path, parts), path.absolute().parent
        named = list(plan.judge) if "judge" in parts else []  # what a file says is not said by the caller
    else:
        specs = [_selected(spec, selection) for spec in _listed(benchmarks)]
        plan = plan_from({**parts, "models": [_plain(model) for model in _listed(models)], "benchmarks": specs})
        named = [*plan.models, *plan.judge]
    plan = plan.model_copy(update={"key_hosts": (*plan.key_hosts, *named_hosts(named))})
    settings = Settings.from_environment({**os.environ, "PROCTOR_HOME": str(home)} if home else os.environ)
    found = settings.data if data is None else Path(data)
    surroundings = Surroundings(folder, os.environ, found, settings.prices, settings.is_offline, settings.lists)
    database = open_database(settings.database_url)
    try:
        return _evaluated(plan, surroundings, database)
    finally:
        database.dispose()


def _plan_file(given: Written | Sequence[Written], selection: Mapping[str, Any]) -> Path:
    if not isinstance(given, str | os.PathLike) or Path(given).suffix.lower() not in (".yaml", ".yml"):
        raise PlanError("evaluate() needs models, or a plan file that names them.")
    if selection:
        raise PlanError(f"evaluate(): {next(iter(selection))!r} belongs to a benchmark: set it in the plan, beside it.")
    return Path(given)


def _evaluated(plan: Plan, surroundings: Surroundings, database: Database) -> Run:
    execution = submit(plan, surroundings, database)
    _run_in_thread(execution)
    return Run(execution.run_id, read_run(database, execution.run_id), database)


def _run_in_thread(execution: Execution) -> None:
    """A thread of its own has no event loop yet, whatever the caller's thread is doing."""
    failures: list[BaseException] = []
    loops: list[asyncio.AbstractEventLoop] = []
    is_done = threading.Event()  # a join that is interrupted takes the thread for ended

    async def carry() -> None:
        loops.append(asyncio.get_running_loop())
        await carry_out(execution)

    def work() -> None:
        try:
            asyncio.run(carry())
        except BaseException as error:  # noqa: BLE001 - handed to the caller below
            failures.append(error)
        finally:
            is_done.set()

    thread = threading.Thread(target=work, name="proctor")
    thread.start()
    try:
        is_done.wait()
    except KeyboardInterrupt:
        # What is in flight is finished and kept; the caller gets the interrupt afterwards.
        for loop in loops:
            loop.call_soon_threadsafe(execution.stop, "interrupted")
        is_done.wait()
        raise
    finally:
        thread.join()
    if failures:
        raise failures[0]


def _listed(value: Written | Sequence[Written]) -> list[Written]:
    return [value] if isinstance(value, str | os.PathLike | Mapping) else list(value)


def _plain(spec: Written) -> str | Mapping[str, Any]:
    return os.fspath(spec) if isinstance(spec, os.PathLike) else spec


def _selected(spec: Written, selection: Mapping[str, Any]) -> str | Mapping[str, Any]:
    """What the benchmark says of itself wins over what is said of all."""
    plain = _plain(spec)
    if not selection:
        return plain
    return {**selection, **({"benchmark": plain} if isinstance(plain, str) else plain)}


PARTS = frozenset(Plan.model_fields) - {"models", "benchmarks", "sampling", "limits"}
"""What of a plan is an argument of its own."""


def _sorted_options(options: Mapping[str, Any]) -> dict[str, Any]:
    inner = {"sampling": set(Sampling.model_fields) - PARTS, "limits": set(Limits.model_fields)}
    parts: dict[str, Any] = {}
    for name, value in options.items():
        part = next((part for part, names in inner.items() if name in names), None)
        if part is not None:
            parts.setdefault(part, {})[name] = value
        elif name in PARTS:
            parts[name] = value
        else:
            names = sorted(PARTS.union(*inner.values()))
            raise PlanError(
                f"evaluate() has no option {name!r}.{did_you_mean(name, names)} There are: {', '.join(names)}."
            )
    return parts


def _free_name(name: str, taken: Mapping[str, Any]) -> str:
    number, free = 1, name
    while free in taken:
        number += 1
        free = f"{name}#{number}"
    return free


def _estimate(data: Mapping[str, Any]) -> Estimate:
    low, high = data["ci95"] or (None, None)
    return Estimate(data["value"], data["n"], data["stderr"], low, high, data["method"], data.get("classes"))
