"""What is read of a run that goes on belongs to one moment, whatever is written meanwhile."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

from msgspec.structs import replace

from proctor.domain.response import Response
from proctor.domain.score import Score
from proctor.domain.trial import Answer, Outcome, Result
from proctor.planning.expand import trials_of
from proctor.runs.read import measured
from proctor.stores.comparing import evaluations_of
from proctor.stores.database import Database
from proctor.stores.journal import DatabaseJournal
from proctor.stores.runs import RunStore
from stores.parts import PLAN, evaluation, new_database, this_month

VALUES = {f"s{n}": float(n % 2) for n in range(6)}


class WrittenAfterEveryQuery:
    """The database of a run of which one more sample is marked whenever something was read."""

    def __init__(self, database: Database, folder: Path) -> None:
        self._database = database
        store = RunStore(database)
        item = evaluation(len(VALUES))
        self.run_id = store.create(PLAN, [item], folder)
        [row] = store.evaluation_rows(self.run_id)
        self._evaluation_id = row["id"]
        self._left = sorted(trials_of(replace(item, id=row["id"])), key=lambda trial: trial.sample.id, reverse=True)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._database, name)

    def stream(self, query: Any) -> Iterator[Any]:
        rows = list(self._database.stream(query))
        asyncio.run(self.write())
        return iter(rows)

    async def write(self) -> None:
        journal = DatabaseJournal(self._database, {self._evaluation_id: {"echo": "1"}}, this_month())
        try:
            trial = self._left.pop()
            (answer,) = (await journal.write([Answer(trial, Response("x"))], [])).answers
            await journal.write([], [Result(answer, (Score("echo", VALUES[trial.sample.id]),), Outcome.SCORED)])
        finally:
            await journal.close()


def test_each_value_a_stop_rule_reads_is_of_its_own_sample_while_others_are_recorded(tmp_path: Path) -> None:
    database = new_database(tmp_path)
    going = WrittenAfterEveryQuery(database, tmp_path)
    for _ in range(2):
        asyncio.run(going.write())
    [row] = evaluations_of(database, going.run_id)
    found = measured(cast("Database", going), row).values
    assert set(found) >= {"s0", "s1"}
    assert found == {name: VALUES[name] for name in found}
    database.dispose()
