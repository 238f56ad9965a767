"""Providers' lists of models as rows: the newest of each source, found by name, each project's own beside all's."""

from __future__ import annotations

import gc
import time
import warnings
from pathlib import Path

from proctor.domain.listed_models import ListedModel, ModelSource, StoredModelList
from proctor.domain.scope import Scope
from proctor.settings import Settings
from proctor.stores.database import Database
from proctor.stores.model_lists import LocatedModelLists, ModelListStore

SOURCE = ModelSource("openrouter", "https://openrouter.ai/api/v1", "a key")
ONE = ListedModel("a/one", 2**40, "0.15", "0.6", None, "1", None, {"tools": True, "images": False})
TWO = ListedModel("b/two")


def test_what_was_kept_is_read_back_whole_and_a_newer_list_takes_its_place(database: Database) -> None:
    lists = ModelListStore(database)
    assert lists.read(SOURCE) is None
    lists.keep(SOURCE, StoredModelList((ONE, TWO), 10.5))
    assert lists.read(SOURCE) == StoredModelList((ONE, TWO), 10.5)
    before = lists.state()
    lists.keep(SOURCE, StoredModelList((TWO, TWO), 20.0))
    assert lists.read(SOURCE) == StoredModelList((TWO,), 20.0)
    assert lists.state() != before
    assert lists.find("openrouter", "a/one") == []
    [found] = lists.find("openrouter", "b/two")
    assert (found.model, found.base_url, found.fetched_at) == (TWO, SOURCE.base_url, 20.0)
    assert lists.find("openai", "b/two") == []


def test_the_newest_list_is_found_first_and_an_empty_one_is_a_list(database: Database) -> None:
    lists, other = ModelListStore(database), ModelSource("openrouter", "http://127.0.0.1:1", "another key")
    lists.keep(SOURCE, StoredModelList((ONE,), 10.0))
    lists.keep(other, StoredModelList((ONE,), 11.0))
    assert [one.fetched_at for one in lists.find("openrouter", "a/one")] == [11.0, 10.0]
    assert [one.fetched_at for one in lists.all()] == [10.0, 11.0]
    lists.keep(other, StoredModelList((), 12.0))
    assert lists.read(other) == StoredModelList((), 12.0)
    assert lists.count(before=13.0)[0] == 2


def test_old_lists_are_pruned_with_their_models(database: Database) -> None:
    lists = ModelListStore(database)
    lists.keep(SOURCE, StoredModelList((ONE, TWO), 10.0))
    assert lists.count(before=10.0) == (0, 0)
    count, size = lists.count(before=10.1)
    assert (count, size > 200) == (1, True)
    assert lists.prune(before=10.0) == 0
    assert lists.prune(before=10.1) == 1
    with database.connection() as connection:
        assert connection.execute("SELECT count(*) FROM listed_models").fetchone()[0] == 0


def test_a_project_sees_its_own_lists_and_those_of_everybodys_keys(database: Database) -> None:
    lists = ModelListStore(database)
    acme, other = (ModelListStore(database.within(Scope(name))) for name in ("acme", "other"))
    lists.keep(SOURCE, StoredModelList((ONE,), 1.0))
    acme.keep(SOURCE, StoredModelList((TWO,), 2.0))
    assert {one.model.name for one in acme.all()} == {"a/one", "b/two"}
    assert {one.model.name for one in other.all()} == {"a/one"}
    assert {one.model.name for one in lists.of_project("other").all()} == {"a/one"}
    assert other.prune(before=9.0) == 0
    assert acme.prune(before=9.0) == 1, "its own, not everybody's"
    assert {one.model.name for one in acme.all()} == {"a/one"}
    assert lists.read(SOURCE) == StoredModelList((ONE,), 1.0), "the same address and key, asked for another"


def test_reading_makes_no_database_and_keeping_does(tmp_path: Path) -> None:
    path = tmp_path / "home" / "proctor.db"
    lists = LocatedModelLists(f"sqlite:///{path}")
    assert lists.read(SOURCE) is None
    assert (lists.find("openrouter", "a/one"), list(lists.all()), lists.state()) == ([], [], "")
    assert not path.parent.exists()
    lists.keep(SOURCE, StoredModelList((ONE,), time.time()))
    again = LocatedModelLists(f"sqlite:///{path}").of_project("acme")
    assert [one.model for one in again.find("openrouter", "a/one")] == [ONE]


def test_no_connection_stays_open_behind_a_look_at_the_lists(home: Path) -> None:
    lists = LocatedModelLists(Settings.from_environment().database_url)
    lists.keep(SOURCE, StoredModelList((ONE,), 1.0))
    assert [one.model for one in lists.find("openrouter", "a/one")] == [ONE]
    assert [one.model for one in lists.all()] == [ONE]
    assert (lists.read(SOURCE), lists.state()) != (None, "")
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        del lists
        gc.collect()
    assert [str(one.message) for one in told if one.category is ResourceWarning] == []
