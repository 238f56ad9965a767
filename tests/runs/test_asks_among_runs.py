"""Asks of the playground among runs: listed in one order, filtered, counted as used, and as blind as they are."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from proctor.domain.documents.listing import RunKind, ShownStatus
from proctor.domain.errors import NotFoundError
from proctor.domain.run import RunStatus
from proctor.domain.scope import Scope
from proctor.runs.listing import find_runs, kinds_of
from proctor.runs.playground.showing import Reader
from proctor.runs.usage import report_usage
from proctor.stores.database import Database
from proctor.stores.listing import RunFilter, list_asks
from proctor.stores.playground import AnswerRow, PlaygroundStore
from reports.stored import Told, record

ANN, BOB = Reader("ann", may_vote=True), Reader("bob", may_vote=True)
VIEWER = Reader("eve", may_vote=False)
USED = {"demo/strong": (7, 3, "0.000012"), "demo/weak": (7, 50, "0.25")}


def asked(database: Database, prompt: str, *, is_blind: bool = False, is_open: bool = False, by: str = "ann") -> str:
    """An ask whose two models have answered, or are answering."""
    store = PlaygroundStore(database)
    slots = zip("ab", USED, strict=True)
    rows = [AnswerRow(slot=slot, position=place, model=name) for place, (slot, name) in enumerate(slots)]
    ask_id, _ = store.add(by, "text", {"prompt": prompt}, rows, [], is_blind=is_blind)
    for row in rows if not is_open else rows[:1]:
        given, made, cost = USED[row.model]
        details = {
            "usage": {"input_tokens": given, "output_tokens": made}, "cost_usd": cost, "cost_basis": "list",
            "latency_seconds": 1.5,
        }  # fmt: skip
        store.finish(ask_id, AnswerRow(slot=row.slot, position=0, model=row.model, state="complete", details=details))
    return ask_id


def ids(
    database: Database, kind: str = "all", *, before: str | None = None, limit: int = 9, **wanted: Any
) -> list[str]:  # fmt: skip
    found = find_runs(database, limit=limit, wanted=RunFilter(**wanted), before=before, kinds=kinds_of(kind))
    return [one.run_id for one in found]


def test_asks_and_runs_are_one_history(database: Database, tmp_path: Path) -> None:
    first = asked(database, "What is 100% of 3?")
    run = record(database, tmp_path, Told({"a": 1.0}))
    second = asked(database, "Tell me a joke", by="bob")
    assert ids(database, "evaluation") == [run]
    assert ids(database, "playground") == [second, first]
    assert ids(database) == [second, run, first]
    assert ids(database, before=second) == [run, first]
    assert ids(database, before=run) == [first]
    assert ids(database, limit=1) == [second, run], "one more says that there are more"
    assert ids(database, owner="bob") == [second]
    assert ids(database, name="100%") == [first]
    assert ids(database, models=("demo/strong",)) == [second, first]
    [recorded] = find_runs(database, limit=9)
    assert ids(database, benchmarks=tuple(recorded.benchmarks)) == [run]
    with pytest.raises(NotFoundError, match="demo/stron"):
        ids(database, models=("demo/stron",))
    with pytest.raises(NotFoundError):
        ids(database, before="a-0")
    other = database.within(Scope("other"))
    assert ids(other) == []
    with pytest.raises(NotFoundError):
        ids(other, before=first)


def test_an_ask_says_how_far_it_is_and_what_it_cost(database: Database) -> None:
    asked(database, "done")
    asked(database, "going on", is_open=True)
    going, done = find_runs(database, limit=9, kinds=kinds_of("playground"))
    assert (done.kind, done.name, done.started_by, done.trials) == (RunKind.PLAYGROUND, "done", "ann", 2)
    assert (done.shown_status, done.done, done.cost_usd, done.seconds) == ("completed", None, 0.250012, 1.5)
    assert (going.shown_status, going.done, going.cost_usd) == ("running", 1, None)
    found = find_runs(database, limit=9, kinds=kinds_of("playground"), status=done.shown_status)
    assert [one.name for one in found] == ["done"]


def test_a_status_is_asked_of_the_database_and_not_of_every_ask(database: Database) -> None:
    done, going = asked(database, "done"), asked(database, "going on", is_open=True)
    store = PlaygroundStore(database)
    row = AnswerRow(slot="a", position=0, model="demo/weak")
    failed, _ = store.add("ann", "text", {"prompt": "failed"}, [row], [], is_blind=False)
    store.finish(failed, AnswerRow(slot="a", position=0, model="demo/weak", state="failed"))
    looked_at = {}
    for status in ShownStatus:
        found = find_runs(database, limit=9, status=status, kinds=kinds_of("playground"))
        looked_at[status.value] = [one.run_id for one in found]
    nothing: list[str] = []
    assert looked_at == {
        "queued": nothing, "running": [going], "interrupted": nothing, "completed": [done], "failed": [failed],
        "cancelled": nothing,
    }  # fmt: skip
    for status, wanted in ((RunStatus.RUNNING, [going]), (RunStatus.FAILED, [failed]), (RunStatus.QUEUED, nothing)):
        assert [one.id for one in list_asks(database, limit=9, wanted=RunFilter(statuses=(status,)))] == wanted


def test_answers_of_asks_are_counted_as_used_to_the_last_digit(database: Database, tmp_path: Path) -> None:
    record(database, tmp_path, Told({"a": 1.0}))
    asked(database, "one")
    asked(database, "two", is_open=True, by="bob")
    by_user = {one.user: one for one in report_usage(database, ["user", "project"]).items}
    assert (by_user["ann"].asks, by_user["ann"].answers, by_user["ann"].unpriced) == (1, 2, 0)
    assert (by_user["ann"].input_tokens, by_user["ann"].output_tokens) == (14, 53)
    assert Decimal(str(by_user["ann"].cost_usd)) == Decimal("0.250012")
    assert (by_user["bob"].asks, by_user["bob"].answers) == (1, 1), "what has not ended is not counted yet"
    today = report_usage(database).until
    [day] = [one for one in report_usage(database, ["day"]).items if one.asks]
    assert (day.day, day.asks, day.answers) == (today, 2, 4)
    by_model = {one.model: one.answers for one in report_usage(database, ["model"]).items if one.asks}
    assert by_model == {"demo/strong": 2, "demo/weak": 1}
    assert report_usage(database.within(Scope("other"))).items == []


def test_usage_and_lists_tell_of_a_blind_ask_only_what_its_reader_may_know(database: Database) -> None:
    ask_id = asked(database, "who is who?", is_blind=True)

    def told(reader: Reader) -> tuple[set[str | None], float | None]:
        items = report_usage(database, ["model"], reader=reader).items
        assert sum(one.answers for one in items) == 2
        [listed] = find_runs(database, limit=9, kinds=kinds_of("playground"), reader=reader)
        return {one.model for one in items}, listed.cost_usd

    hidden, shown = ({None}, None), (set(USED), 0.250012)
    assert [told(one) for one in (ANN, BOB, VIEWER)] == [hidden, hidden, hidden]
    PlaygroundStore(database).vote(ask_id, "ann", ["a"], is_blind=True)
    assert [told(one) for one in (ANN, BOB, VIEWER)] == [shown, hidden, shown]
    PlaygroundStore(database).reveal(ask_id)
    assert told(BOB) == shown
