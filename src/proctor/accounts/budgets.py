"""Budgets: what projects, users and keys may spend and have executed at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from decimal import Decimal

from proctor.domain.documents.budgets import ListedBudget
from proctor.domain.errors import NotFoundError, UserError, did_you_mean
from proctor.stores.accounts.audit import AuditStore
from proctor.stores.accounts.budgets import KINDS, PERIODS, BudgetRow, BudgetStore, Kind, Period, Spender
from proctor.stores.accounts.credentials import CredentialStore
from proctor.stores.accounts.users import ProjectStore, UserStore
from proctor.stores.database import Database
from proctor.stores.saved_plans import new_ordered_id

MAX_USD = Decimal(1_000_000)
MAX_RUNS = 100_000
MAX_STORAGE = 10**15


def set_budget(
    database: Database,
    kind: str,
    subject: str,
    *,
    cost_usd: Decimal | None = None,
    per: str = "month",
    runs_at_once: int | None = None,
    storage_bytes: int | None = None,
    by: str,
    address: str = "",
) -> ListedBudget:
    """Set what there was not, or replace it; raises UserError for a subject that there is not."""
    found, period = _kind(kind), _period(per)
    if cost_usd is None and runs_at_once is None and storage_bytes is None:
        raise UserError("A budget limits something: what runs cost, how many there are at once, or what files take.")
    if storage_bytes is not None and (found != "project" or not 0 <= storage_bytes <= MAX_STORAGE):
        raise UserError(f"Files are a project's, and take from 0 to {MAX_STORAGE:,} bytes.")
    if cost_usd is not None and not 0 <= cost_usd <= MAX_USD:
        raise UserError(f"A budget is from 0 to {MAX_USD:,} dollars.")
    if runs_at_once is not None and not 0 <= runs_at_once <= MAX_RUNS:
        raise UserError(f"From 0 to {MAX_RUNS:,} runs at once can be allowed.")
    row = BudgetRow(found, _subject(database, found, subject), cost_usd, period, runs_at_once, by, "", storage_bytes)
    store = BudgetStore(database)
    store.put(row)
    said = f"${cost_usd} per {period}, {runs_at_once} runs, {storage_bytes} bytes"
    AuditStore(database).add(by, "set-budget", of=f"{kind} {subject}", address=address, outcome=said)
    return next(show_budget(database, one) for one in store.all() if (one.kind, one.subject) == (found, row.subject))


def remove_budget(database: Database, kind: str, subject: str, *, by: str, address: str = "") -> None:
    found = _kind(kind)
    if not BudgetStore(database).remove(found, _subject(database, found, subject)):
        raise NotFoundError(f"The {kind} {subject!r} has no budget.")
    AuditStore(database).add(by, "remove-budget", of=f"{kind} {subject}", address=address)


def list_budgets(database: Database, spender: Spender | None = None) -> list[ListedBudget]:
    """All of them, or those that hold for somebody; runs that have ended have given back what they did not spend."""
    store = BudgetStore(database)
    store.settle()
    return [show_budget(database, row) for row in (store.all() if spender is None else store.of(spender))]


def settle_ended_runs(database: Database, spender: Spender) -> None:
    """Before a run is accepted: what ended runs did not spend can be spent by it."""
    store = BudgetStore(database)
    if store.of(spender):
        store.settle()


@contextmanager
def reserving(
    database: Database, spender: Spender, cap_usd: Decimal | None, spent_usd: Callable[[], Decimal]
) -> Iterator[None]:
    """Keeps so much of his budgets for the work inside, and gives back what it did not spend, however it ends."""
    store, work_id = BudgetStore(database), new_ordered_id("w-")
    settle_ended_runs(database, spender)
    store.reserve(spender, work_id, cap_usd)
    try:
        yield
    finally:
        store.settle_work(work_id, spent_usd())


def show_budget(database: Database, row: BudgetRow) -> ListedBudget:
    use = BudgetStore(database).use(row)
    left = None if row.cost_usd is None else max(Decimal(0), row.cost_usd - use.spent_usd)
    user = UserStore(database).get(row.subject) if row.kind == "user" else None
    return ListedBudget(
        row.kind, row.subject if user is None else user.name, row.cost_usd, row.period, use.spent_usd, left, use.until,
        row.runs_at_once, use.runs, row.storage_bytes, row.set_by, row.set_at,
    )  # fmt: skip


def _subject(database: Database, kind: Kind, name: str) -> str:
    if kind == "project":
        ProjectStore(database).require(name)
        return name
    if kind == "user":
        return UserStore(database).named(name).id
    if CredentialStore(database).key(name) is None:
        raise NotFoundError(f"No key {name!r}. 'proctor keys list' lists them.")
    return name


def _kind(text: str) -> Kind:
    for one in KINDS:
        if one == text:
            return one
    raise UserError(f"There is no budget of a {text!r}.{did_you_mean(text, KINDS)} There are: {', '.join(KINDS)}.")


def _period(text: str) -> Period:
    for one in PERIODS:
        if one == text:
            return one
    raise UserError(f"There is no period {text!r}.{did_you_mean(text, PERIODS)} There are: {', '.join(PERIODS)}.")
