"""The lists of models that providers gave, as rows: what the catalogue knows of each model."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import orjson

from proctor.domain.identity import digest
from proctor.domain.listed_models import ListedAt, ListedModel, ModelSource, StoredModelList
from proctor.domain.scope import EVERYTHING, Scope
from proctor.stores.connection import Row
from proctor.stores.database import Database, find_database, open_database

_FIELDS = tuple(name for name in ListedModel.__struct_fields__ if name != "capabilities")
_COLUMNS = ", ".join(f"listed_models.{name}" for name in (*_FIELDS, "capabilities"))
_FROM = "listed_models JOIN model_lists ON model_lists.id = listed_models.list_id"
_OF_LIST = "model_lists.provider, model_lists.base_url, model_lists.fetched_at"
BYTES_FOR_EACH = 100
"""About what a row takes beside its words."""


class ModelListStore:
    """Lists of a project's own keys are the project's; those of keys that all may use have none."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def of_project(self, project: str) -> ModelListStore:
        """The same, of this project's own keys and of those that every project may use."""
        found = self._database
        return self if found.scope.project == project else ModelListStore(found.within(Scope(project)))

    def read(self, source: ModelSource) -> StoredModelList | None:
        """The list of a source, however old."""
        query = "SELECT fetched_at FROM model_lists WHERE id = ?"
        rows = f"SELECT {_COLUMNS} FROM listed_models WHERE list_id = ? ORDER BY name"  # noqa: S608 - our own words
        key = self._key(source)
        with self._database.connection() as connection:
            found = connection.execute(query, [key]).fetchone()
            if found is None:
                return None
            return StoredModelList(tuple(map(_model, connection.execute(rows, [key]))), found["fetched_at"])

    def keep(self, source: ModelSource, listing: StoredModelList) -> None:
        """In the place of the source's earlier list."""
        key, project = self._key(source), self._database.scope.project
        with self._database.connection() as connection, connection.transaction():
            connection.execute(
                "INSERT INTO model_lists (id, provider, base_url, fetched_at, project) VALUES (?, ?, ?, ?, ?) "
                "ON CONFLICT (id) DO UPDATE SET fetched_at = excluded.fetched_at",
                [key, source.provider, source.base_url, listing.fetched_at, project],
            )
            connection.execute("DELETE FROM listed_models WHERE list_id = ?", [key])
            # A provider that names a model twice has said nothing new.
            models = {model.name: model for model in listing.models}
            rows = [
                (
                    key,
                    project,
                    orjson.dumps(dict(model.capabilities)).decode(),
                    *(getattr(model, name) for name in _FIELDS),
                )
                for model in models.values()
            ]
            connection.insert("listed_models", ("list_id", "project", "capabilities", *_FIELDS), rows)

    def _key(self, source: ModelSource) -> str:
        return digest([self._database.scope.project, source.provider, source.digest])

    def find(self, provider: str, name: str) -> list[ListedAt]:
        """The model in every list of the provider that has it, the newest list first."""
        where = "listed_models.name = ? AND model_lists.provider = ?"
        return list(self._select(where, "model_lists.fetched_at DESC, model_lists.id", [name, provider]))

    def all(self) -> Iterator[ListedAt]:
        """Every model of every list, the oldest list first."""
        return self._select("1 = 1", "model_lists.fetched_at, model_lists.id, listed_models.name", [])

    def _select(self, where: str, order: str, values: Sequence[Any]) -> Iterator[ListedAt]:
        scope, project = self._scope()
        query = f"SELECT {_COLUMNS}, {_OF_LIST} FROM {_FROM} WHERE {where}{scope} ORDER BY {order}"  # noqa: S608 - ours
        for row in self._database.rows(query, [*values, *project]):
            yield ListedAt(_model(row), row["provider"], row["base_url"], row["fetched_at"])

    def state(self) -> str:
        """Another one after a list was added, renewed or removed."""
        scope, project = self._scope()
        query = f"SELECT count(*), sum(fetched_at) FROM model_lists WHERE 1 = 1{scope}"  # noqa: S608 - our own words
        with self._database.connection(is_reading=True) as connection:
            return "|".join(map(str, connection.execute(query, project).fetchone()))

    def count(self, before: float) -> tuple[int, int]:
        """How many lists are older than this moment, and about how many bytes they take."""
        scope, project = self._scope()
        query = (
            "SELECT count(DISTINCT model_lists.id), count(listed_models.name), coalesce(sum(length(listed_models.name) "  # noqa: S608
            "+ length(listed_models.capabilities)), 0) FROM model_lists "
            f"LEFT JOIN listed_models ON list_id = model_lists.id WHERE model_lists.fetched_at < ?{scope}"
        )
        with self._database.connection() as connection:
            lists, models, letters = connection.execute(query, [before, *project]).fetchone()
        return int(lists), int(letters) + int(models) * BYTES_FOR_EACH

    def prune(self, before: float) -> int:
        """Remove lists that are older than this moment; gives how many."""
        mine, project = ("", []) if self._database.scope == EVERYTHING else (" AND project = ?", self._scope()[1])
        query = f"DELETE FROM model_lists WHERE fetched_at < ?{mine}"  # noqa: S608 - our own words
        with self._database.connection() as connection:
            return int(connection.execute(query, [before, *project]).rowcount)

    def _scope(self) -> tuple[str, list[str]]:
        project = self._database.scope.project
        if project is None:
            return "", []
        return " AND (model_lists.project = ? OR model_lists.project IS NULL)", [project]


class LocatedModelLists:
    """The same of a database that nothing has opened yet: reading makes none, and keeping a list does.

    Each call opens and closes it: nobody has these lists to close at the end.
    """

    def __init__(self, url: str, project: str | None = None) -> None:
        self._url, self._project = url, project

    def of_project(self, project: str) -> LocatedModelLists:
        return LocatedModelLists(self._url, project)

    def read(self, source: ModelSource) -> StoredModelList | None:
        with self._found() as lists:
            return None if lists is None else lists.read(source)

    def keep(self, source: ModelSource, listing: StoredModelList) -> None:
        with self._opened(open_database(self._url)) as lists:
            lists.keep(source, listing)

    def find(self, provider: str, name: str) -> list[ListedAt]:
        with self._found() as lists:
            return [] if lists is None else lists.find(provider, name)

    def all(self) -> Iterable[ListedAt]:
        with self._found() as lists:
            return () if lists is None else list(lists.all())

    def state(self) -> str:
        with self._found() as lists:
            return "" if lists is None else lists.state()

    @contextmanager
    def _found(self) -> Iterator[ModelListStore | None]:
        database = find_database(self._url)
        if database is None:
            yield None
            return
        with self._opened(database) as lists:
            yield lists

    @contextmanager
    def _opened(self, database: Database) -> Iterator[ModelListStore]:
        try:
            yield ModelListStore(database if self._project is None else database.within(Scope(self._project)))
        finally:
            database.dispose()


def _model(row: Row) -> ListedModel:
    return ListedModel(**{name: row[name] for name in _FIELDS}, capabilities=orjson.loads(row["capabilities"]))
