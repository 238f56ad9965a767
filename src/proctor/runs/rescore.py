"""Score stored responses again: no model under test is asked, and every set of scores is kept."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from functools import cached_property, partial

import orjson
from msgspec import Struct, field

from proctor.costs.durable_budget import DurableBudget, Ledger
from proctor.domain.benchmark import ScorerSpec
from proctor.domain.documents.rescored import Rescored
from proctor.domain.errors import NotFoundError, PlanError, RunError, did_you_mean
from proctor.domain.event import Event, FaultSeen, ResultsRecorded
from proctor.domain.plan import Limits, ModelSpec
from proctor.domain.scope import Scope
from proctor.domain.scorer import NeedsRunner, NeedsSandbox, Scorer
from proctor.engine.budget import Budget, out_of_money
from proctor.engine.recording import Recorder
from proctor.judges.asking import JudgeRegistry, faults_of, give_opponents, judges_of, judging, lost
from proctor.models.key_hosts import with_key_hosts
from proctor.models.registry import named_hosts
from proctor.runs.columns import EvaluationColumns
from proctor.runs.packing import pack_run, stoppable
from proctor.runs.resolve import PlanContext, price_of
from proctor.runs.side_by_side import Versions, side_by_side
from proctor.runs.sides import sides_of_rows
from proctor.scorers.registry import create_scorers
from proctor.stores.database import Database
from proctor.stores.journal import DatabaseJournal
from proctor.stores.leases import Hold
from proctor.stores.rescorings import RescoringStore
from proctor.stores.runs import RunRow, RunStore
from proctor.stores.scores import ScoreSet, ScoreStore

PAGE = 128
MAX_PENDING = 512
"""Responses read but not yet scored: what bounds the memory."""

Progress = Callable[[int, int, str | None], None]
"""Is told how many responses are scored, of how many, and the latest fault of a judge."""


def _ignore(*_: object) -> None:
    return


class Rescoring(Struct, dict=True, eq=False):
    """Stored responses and the scorers that will mark them; prepared, not yet started."""

    run: RunRow
    rows: Sequence[EvaluationColumns]
    scorers: dict[int, tuple[Scorer, ...]]
    database: Database
    use_cache: bool = True
    cost_limit_usd: Decimal | None = None
    stopping: asyncio.Event = field(default_factory=asyncio.Event)
    on_progress: Progress = _ignore
    done: int = 0
    total: int = 0
    pending: int = 0
    judge_faults: dict[str, str] = field(default_factory=dict)
    out_of_money: str = ""
    """Why no judge is asked any more, where that is the cost limit."""
    ledger: Ledger | None = None
    """Where it is written down what judges may have cost, so that the limit holds over several processes."""
    hold: Hold | None = None
    """What every write names, where another process may take it over."""
    measured_nothing: dict[str, str] = field(default_factory=dict)
    """Scorers that could not measure a single response of some evaluation, and why not, of one response."""

    def __post_init__(self) -> None:
        store = ScoreStore(self.database)
        self.total = sum(store.answered(row["id"]) for row in self.rows)
        self._has_room = asyncio.Event()
        self._has_room.set()

    @property
    def versions(self) -> dict[int, Versions]:
        return {key: {scorer.name: scorer.version for scorer in scorers} for key, scorers in self.scorers.items()}

    @property
    def asks_judges(self) -> bool:
        """Whether it sends requests that somebody bills: to judges that were given, or that the run's plan names."""
        return any(judges_of(scorers) for scorers in self.scorers.values())

    @property
    def is_complete(self) -> bool:
        """Whether every response had its turn with every scorer and every judge."""
        return not self.stopping.is_set() and not self.judge_faults and not self.measured_nothing

    @cached_property
    def budget(self) -> Budget | None:
        if self.cost_limit_usd is None:
            return None

        def stop(next_usd: Decimal) -> None:
            self._run_out_of_money(budget, next_usd)

        budget: Budget
        if self.ledger is None:
            budget = Budget(self.cost_limit_usd, Decimal(0), stop)
        else:
            budget = DurableBudget(self.cost_limit_usd, self.ledger, stop)
        return budget

    @property
    def spent_usd(self) -> Decimal:
        """What its judges may have cost by now, where that is limited: a request without an answer yet counts whole."""
        return Decimal(0) if self.budget is None else self.budget.spent_usd + self.budget.reserved_usd

    async def close(self) -> None:
        """Let go of its judges; nothing was begun, or all has ended."""
        for judge in judges_of(scorer for scorers in self.scorers.values() for scorer in scorers):
            await judge.close()

    def close_budget(self) -> None:
        """Nothing is in flight any more: what was spent without an answer that is kept is written down."""
        if isinstance(self.budget, DurableBudget):
            self.budget.close()

    def _run_out_of_money(self, budget: Budget, next_usd: Decimal) -> None:
        self.out_of_money = out_of_money(budget.cap_usd, budget.spent_usd, next_usd)
        self.stopping.set()

    async def room(self) -> None:
        """Wait until few enough responses are in memory."""
        await self._has_room.wait()

    def took(self, count: int) -> None:
        self.pending += count
        if self.pending >= MAX_PENDING:
            self._has_room.clear()

    def observe(self, event: Event) -> None:
        match event:
            case ResultsRecorded(results):
                self.done += len(results)
                self.pending -= len(results)
                if self.pending < MAX_PENDING:
                    self._has_room.set()
                self.on_progress(self.done, self.total, None)
            case FaultSeen(model, message, _):
                self.on_progress(self.done, self.total, f"{model}: {message}")
            case _:
                return


def prepare(
    database: Database,
    reference: str,
    specs: Sequence[ScorerSpec],
    context: PlanContext,
    *,
    judges: Sequence[ModelSpec] = (),
    on: str | None = None,
    limits: Limits | None = None,
    use_cache: bool = True,
) -> Rescoring:
    """Find the run and make the scorers; judges that are not given are those of the run's plan.

    `limits` are those of this rescoring, its cost limit included; without any, the plan's hold, its cost limit apart.
    """
    run, rows = _run_and_rows(database, reference, on)
    database = database.within(Scope(run.project))
    if not specs:
        raise PlanError("No scorer given. Name one with --scorer, for example --scorer exact.")
    folder = context.folder if judges else run.folder
    allowed = (*run.plan.key_hosts, *named_hosts(judges))
    limits = limits or run.plan.limits.model_copy(update={"cost_usd": None})
    bench = JudgeRegistry(
        judges or run.plan.judge,
        limits,
        environment=with_key_hosts(context.environment, allowed),
        folder=folder,
        price_of=lambda model: price_of(model, limits, context),
    )
    made = bench.give(create_scorers(specs, context.folder))
    _refuse_running(made)
    if judges and not judges_of(made):
        raise PlanError(
            f"The judge {', '.join(spec.short for spec in judges)} would not be asked: no scorer here is one that "
            f"judges ({', '.join(one.name for one in made)})."
        )
    scorers = {row["id"]: give_opponents(made, row["benchmark"], database) for row in rows}
    return Rescoring(run, rows, scorers, database, use_cache, limits.cost_usd)


def _refuse_running(scorers: Sequence[Scorer]) -> None:
    """There is no sandbox here: without it they would leave every response unmeasured."""
    names = [one.name for one in scorers if isinstance(one, NeedsSandbox | NeedsRunner)]
    if names:
        raise PlanError(
            f"{', '.join(names)} would run what was answered, which rescoring does not do. Start the run again: "
            "answers come from the cache, so nothing is asked or paid for twice."
        )


def _run_and_rows(database: Database, reference: str, on: str | None) -> tuple[RunRow, list[EvaluationColumns]]:
    store = RunStore(database)
    run = store.get(reference)
    if store.is_executing(run.id):
        raise RunError(f"Run {run.id} is being executed. Wait for it, or stop it with 'proctor cancel {run.id}'.")
    rows = store.evaluation_rows(run.id)
    chosen: list[EvaluationColumns] = [row for row in rows if on is None or row["benchmark"] == on]
    if not chosen:
        known = list(dict.fromkeys(row["benchmark"] for row in rows))
        raise NotFoundError(
            f"Run {run.id} has no benchmark {on!r}.{did_you_mean(str(on), known)} It has: {', '.join(known)}."
        )
    return run, chosen


async def execute_rescoring(rescoring: Rescoring, *, keep: bool = False) -> Rescored:
    """Score what is not yet scored, then put the scores in force unless told to `keep` the old ones so.

    Calling it again after any end, a crash included, goes on where it stopped. Scores that are not complete, because
    the work was stopped or a judge did not always reply, are kept but not put in force.
    """
    if rescoring.hold is None:
        RescoringStore(rescoring.database).refuse_open(rescoring.run.id)  # workers do it: judges would be paid twice
    before = {row["id"]: orjson.loads(row["scorers"]) for row in rescoring.rows}
    every = [scorer for scorers in rescoring.scorers.values() for scorer in scorers]
    journal = DatabaseJournal(
        rescoring.database, rescoring.versions, rescoring.run.month, lease=rescoring.hold, has_ended=True
    )
    try:
        async with judging(
            every,
            rescoring.database,
            rescoring.stopping,
            rescoring.observe,
            use_cache=rescoring.use_cache,
            budget=rescoring.budget,
        ) as judges:
            async with Recorder(journal, rescoring.scorers, rescoring.observe) as recorder:
                already = [await _feed(row, rescoring, recorder) for row in rescoring.rows]
            rescoring.judge_faults = faults_of(judges)
    finally:
        await journal.close()
        await rescoring.close()
    # In a thread: this takes long in a large run, and whoever carries it out for a server says meanwhile that he lives.
    found = await asyncio.to_thread(_conclude, rescoring, before, already, keep=keep)
    await stoppable(partial(pack_run, rescoring.database, rescoring.run.id))
    return found


def _conclude(
    rescoring: Rescoring, before: Mapping[int, Versions], already: Sequence[int], *, keep: bool
) -> Rescored:  # fmt: skip
    """Put the scores in force where they shall be, and lay old and new ones side by side."""
    rescoring.measured_nothing = _measured_nothing(rescoring)
    is_in_force, store = rescoring.is_complete and not keep, ScoreStore(rescoring.database)
    if is_in_force:
        store.put_in_force(rescoring.versions, rescoring.hold)
    store.forget_packed(before)
    # Scores of versions that count already may have come: whoever keeps figures of the run sees that it changed.
    RunStore(rescoring.database).add_event(rescoring.run.id, "scored again", {"in_force": is_in_force})
    return _document(rescoring, before, already, is_in_force=is_in_force)


def _measured_nothing(rescoring: Rescoring) -> dict[str, str]:
    store = ScoreStore(rescoring.database)
    found: dict[str, str] = {}
    for row in rescoring.rows:
        sets = {(item.scorer, item.version): item for item in store.sets(row["id"])}
        for pair in rescoring.versions[row["id"]].items():
            if (marks := sets.get(pair)) is not None and marks.scored + marks.invalid == 0:
                found[f"{pair[0]}@{pair[1]}"] = store.some_reason(row["id"], *pair)
    return found


async def _feed(row: EvaluationColumns, rescoring: Rescoring, recorder: Recorder) -> int:
    """Hand over the responses that lack a score, a page at a time; gives how many had all of theirs."""
    store, versions = ScoreStore(rescoring.database), rescoring.versions[row["id"]]
    judges = judges_of(rescoring.scorers[row["id"]])
    after, handed = 0, 0
    while not rescoring.stopping.is_set() and not lost(judges):
        await rescoring.room()
        page = await asyncio.to_thread(store.unscored, row["id"], versions, after=after, limit=PAGE)
        if not page:
            already = await asyncio.to_thread(store.answered, row["id"]) - handed
            rescoring.done += already
            return already
        rescoring.took(len(page))
        for answer in page:
            await recorder.recorded(answer)
        after, handed = page[-1].response_id or 0, handed + len(page)
    return 0


def put_in_force(database: Database, reference: str, names: Sequence[str], on: str | None = None) -> Rescored:
    """Let a stored set of scores count, named `scorer` or `scorer@version`; nothing is scored."""
    run, rows = _run_and_rows(database, reference, on)
    store = ScoreStore(database)
    before = {row["id"]: orjson.loads(row["scorers"]) for row in rows}
    chosen = find_stored(database, reference, names, on)
    rescoring = Rescoring(run, rows, {row["id"]: () for row in rows}, database)
    store.put_in_force(chosen)
    return _document(rescoring, before, [0] * len(rows), is_in_force=True, after=chosen)


def find_stored(database: Database, reference: str, names: Sequence[str], on: str | None) -> dict[int, Versions]:
    """The sets of scores that the names mean, by evaluation; refuses what there is not."""
    _, rows = _run_and_rows(database, reference, on)
    store = ScoreStore(database)
    return {row["id"]: dict(_stored(store.sets(row["id"]), name, row) for name in names) for row in rows}


def _stored(sets: Sequence[ScoreSet], name: str, row: EvaluationColumns) -> tuple[str, str]:
    """The set that a name means: by name alone only where there is a single version."""
    scorer, _, version = name.partition("@")
    found = [item for item in sets if item.scorer == scorer and version in ("", item.version)]
    known = ", ".join(f"{item.scorer}@{item.version}" for item in sets) or "none"
    where = f"{row['model']} on {row['benchmark']}"
    if not found:
        raise NotFoundError(f"There are no scores by {name!r} of {where}. There are: {known}.")
    if len(found) > 1:
        raise PlanError(f"{name!r} means several sets of scores of {where}: add the version. There are: {known}.")
    return found[0].scorer, found[0].version


def _document(
    rescoring: Rescoring,
    before: Mapping[int, Versions],
    already: Sequence[int],
    *,
    is_in_force: bool,
    after: Mapping[int, Versions] | None = None,
) -> Rescored:
    new = after or rescoring.versions
    every = RunStore(rescoring.database).evaluation_rows(rescoring.run.id)
    sides = {row["id"]: name for row, (name, _) in zip(every, sides_of_rows(every), strict=True)}
    evaluations = [
        side_by_side(
            rescoring.database,
            row,
            before[row["id"]],
            new[row["id"]],
            side=sides[row["id"]],
            already_scored=count,
        )
        for row, count in zip(rescoring.rows, already, strict=True)
    ]
    return Rescored(
        run_id=rescoring.run.id,
        is_in_force=is_in_force,
        is_complete=rescoring.is_complete,
        is_out_of_money=bool(rescoring.out_of_money),
        judge_faults=rescoring.judge_faults,
        measured_nothing=list(rescoring.measured_nothing),
        why_nothing=rescoring.measured_nothing,
        evaluations=evaluations,
    )
