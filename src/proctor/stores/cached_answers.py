"""The answers that stand for requests: what judges said, and what runs will lend to later ones."""

from __future__ import annotations

from msgspec import Struct

from proctor.stores.database import Database
from proctor.stores.scoping import scope_filter


class CachedAnswers(Struct, frozen=True):
    count: int
    bytes: int
    """What forgetting them frees; nothing where a run keeps them."""


_JUDGES = "SELECT count(*), coalesce(sum(length(text) + coalesce(length(more), 0)), 0) FROM cache WHERE created_at < ?"
_LENT = "SELECT count(*), 0 FROM responses WHERE cache_key IS NOT NULL AND created_at < ?"


def judges_answers(database: Database, before: float) -> CachedAnswers:
    """Replies of judges that were kept before this moment."""
    return _count(database, _JUDGES, "cache", before)


def lent_answers(database: Database, before: float) -> CachedAnswers:
    """Answers of runs that a later run with the same request would take."""
    return _count(database, _LENT, "responses", before)


def forget_answers(database: Database, before: float) -> None:
    """Judges are asked again, and runs lend nothing; they keep their own answers."""
    judges, lent = scope_filter(database, "cache"), scope_filter(database, "responses")
    with database.connection() as connection, connection.transaction():
        connection.execute(f"DELETE FROM cache WHERE created_at < ?{judges.sql}", [before, *judges.values])  # noqa: S608
        connection.execute(
            "UPDATE responses SET cache_key = NULL WHERE cache_key IS NOT NULL "  # noqa: S608 - our own
            f"AND created_at < ?{lent.sql}",
            [before, *lent.values],
        )


def _count(database: Database, query: str, table: str, before: float) -> CachedAnswers:
    scope = scope_filter(database, table)
    with database.connection() as connection:
        return CachedAnswers(*connection.execute(query + scope.sql, [before, *scope.values]).fetchone())
