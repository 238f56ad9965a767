"""Everything that is kept only to be quicker or cheaper the next time: how much there is, and taking it away."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct

from proctor.domain.errors import StoreError
from proctor.programs.packages.kept import PACKAGES
from proctor.stores.cached_answers import forget_answers, judges_answers, lent_answers
from proctor.stores.database import Database
from proctor.stores.model_lists import ModelListStore

WEIGHTS = "models"
"""The folder in the home with the weights of local models."""


class Cache(Struct, frozen=True):
    """One kind of what is kept, as far as it is older than was asked for."""

    name: str
    count: int
    bytes: int
    meaning: str


class _Files(Struct, frozen=True):
    name: str
    folder: Path
    pattern: str
    meaning: str

    def old(self, before: float) -> list[Path]:
        return [path for path in sorted(self.folder.glob(self.pattern)) if path.stat().st_mtime < before]


def _files(home: Path) -> list[_Files]:
    return [
        _Files("packages", home / PACKAGES, "*.zip", "programs' packages are fetched again"),
        _Files("weights", home / WEIGHTS, "*.gguf", "local models are fetched again"),
    ]


def _remove_earlier_lists(home: Path) -> None:
    """Providers' lists of models were files until they became rows of the database: nobody reads those."""
    _remove(sorted((home / "cache").glob("models-*.json")))


def find_caches(database: Database, home: Path, *, before: float) -> list[Cache]:
    """What each cache holds from before this moment; nothing is changed."""
    judges, lent = judges_answers(database, before), lent_answers(database, before)
    lists, bytes_of_lists = ModelListStore(database).count(before)
    found = [
        Cache("answers of judges", judges.count, judges.bytes, "judges are asked and paid again"),
        Cache("answers of runs", lent.count, lent.bytes, "models are asked and paid again; runs stay whole"),
        Cache("model lists", lists, bytes_of_lists, "providers are asked again what they have"),
    ]
    for files in _files(home):
        old = files.old(before)
        found.append(Cache(files.name, len(old), sum(path.stat().st_size for path in old), files.meaning))
    return found


def clear_caches(database: Database, home: Path, *, before: float) -> list[Cache]:
    """Take away what `find_caches` finds, and say what it was."""
    found = find_caches(database, home, before=before)
    forget_answers(database, before)
    ModelListStore(database).prune(before)
    _remove_earlier_lists(home)
    for files in _files(home):
        _remove(files.old(before))
    return found


def prune_caches(database: Database, home: Path, *, before: float) -> int:
    """Take away old lists and packages, which are quickly had again; answers cost money, and stay."""
    old = [path for files in _files(home) if files.name != "weights" for path in files.old(before)]
    _remove(old)
    _remove_earlier_lists(home)
    return len(old) + ModelListStore(database).prune(before)


def _remove(paths: Sequence[Path]) -> None:
    for path in paths:
        try:
            path.unlink(missing_ok=True)
        except OSError as error:
            raise StoreError(f"{path} cannot be removed: {error.strerror}.") from error
