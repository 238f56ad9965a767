"""The answers that stand for requests: what judges said, and what runs will lend to later ones."""

from __future__ import annotations

from msgspec import Struct

from proctor.stores.database import Database


class CachedAnswers(Struct, frozen=True):
    count: int
    bytes: int
    """What forgetting them frees; nothing where a run keeps them."""


_JUDGES = "SELECT count(*), coalesce(sum(length(text) + coalesce(length(more), 0)), 0) FROM cache WHERE created_at < ?"
_LENT = "SELECT count(*), 0 FROM responses WHERE cache_key IS NOT NULL AND created_at < ?"


def judges_answers(database: Database, before: float) -> CachedAnswers:
    """Replies of judges that were kept before this moment."""
    return _count(database, _JUDGES, before)


def lent_answers(database: Database, before: float) -> CachedAnswers:
    """Answers of runs that a later run with the same request would take."""
    return _count(database, _LENT, before)


def forget_answers(database: Database, before: float) -> None:
    """Judges are asked again, and runs lend nothing; they keep their own answers."""
    with database.connection() as connection, connection.transaction():
        connection.execute("DELETE FROM cache WHERE created_at < ?", [before])
        connection.execute(
            "UPDATE responses SET cache_key = NULL WHERE cache_key IS NOT NULL AND created_at < ?", [before]
        )


def _count(database: Database, query: str, before: float) -> CachedAnswers:
    with database.connection() as connection:
        return CachedAnswers(*connection.execute(query, [before]).fetchone())
