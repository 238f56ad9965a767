"""One prompt put to several models: what was asked, the answers while they grow, votes.

An answer is one row whose text is written again while it grows. Whoever asks says by `beat_at` that he lives; an answer
that nobody has been heard of for long was lost with its process.
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Any

import orjson
from msgspec import Struct

from proctor.domain.errors import NotFoundError
from proctor.domain.text import storable
from proctor.stores.accounts.budgets import Spender, reserve_budget
from proctor.stores.codec import to_json
from proctor.stores.connection import Row
from proctor.stores.database import Database
from proctor.stores.idempotency import RequestKey, reserve
from proctor.stores.moments import now_text
from proctor.stores.saved_plans import new_ordered_id
from proctor.stores.scoping import Condition, scope_filter
from proctor.stores.statements import places
from proctor.stores.stored_bytes import refuse_full_storage

PREFIX = "a-"
OPEN_STATES = ("waiting", "streaming")
IDS_AT_ONCE = 500
_WITHOUT_TEXTS = "ask_id, slot, position, model, state, '' AS text, '' AS reasoning, details, held_pico_usd"
_OPEN = "state IN ('waiting', 'streaming')"


class AnswerRow(Struct, frozen=True, kw_only=True):
    slot: str
    """A letter: who is behind it is told by `model`, not by the order of letters."""
    position: int
    """Of the model in the request."""
    model: str
    state: str = "waiting"
    text: str = ""
    reasoning: str = ""
    details: Mapping[str, Any] = {}
    held_pico_usd: int = 0
    """What was reserved for it."""


class AskedFile(Struct, frozen=True):
    name: str
    media_type: str
    content: bytes


class AskVoteRow(Struct, frozen=True):
    voter: str
    best: tuple[str, ...]
    """The slots that nobody was preferred to; all of them is a tie, none that all were bad."""
    is_blind: bool
    voted_at: str


class AskRow(Struct, frozen=True, kw_only=True):
    id: str
    author: str
    kind: str
    request: Mapping[str, Any]
    is_blind: bool
    revealed_at: str | None
    created_at: str
    answers: tuple[AnswerRow, ...]
    votes: tuple[AskVoteRow, ...]


class PlaygroundStore:
    """What is another project's is not there: NotFoundError."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(
        self,
        author: str,
        kind: str,
        request: Mapping[str, Any],
        answers: Sequence[AnswerRow],
        files: Sequence[AskedFile],
        *,
        is_blind: bool,
        key: RequestKey | None = None,
        spender: Spender | None = None,
        cap_usd: Decimal | None = None,
    ) -> tuple[str, bool]:
        """Write an ask down before anybody is asked; gives its id, and False where its request was there before.

        What it can cost at most is reserved of the spender's budgets; raises BudgetError where that is too much, or
        where the project may not keep so much more in files.
        """
        ask_id, owner = new_ordered_id(PREFIX), self._database.scope.owner
        with self._database.connection() as connection, connection.transaction():
            if key is not None and (earlier := reserve(connection, owner, key, ask_id)) != ask_id:
                return earlier, False
            size_bytes = sum(len(file.content) for file in files)
            refuse_full_storage(connection, self._database.dialect, owner, size_bytes)
            if spender is not None:
                reserve_budget(connection, self._database.dialect, spender, ask_id, cap_usd)
            connection.execute(
                "INSERT INTO playground_asks (id, author, kind, request, is_blind, created_at, project) "
                "VALUES (?, ?, ?, ?, ?, ?, ?)",
                [ask_id, author, kind, to_json(request), is_blind, now_text(), owner],
            )
            for one in answers:
                connection.execute(
                    "INSERT INTO playground_answers (ask_id, slot, position, model, state, "  # noqa: S608 - our own
                    "text, reasoning, details, held_pico_usd, beat_at, project) "
                    f"VALUES (?, ?, ?, ?, ?, '', '', '{{}}', ?, {self._database.dialect.now}, ?)",
                    [ask_id, one.slot, one.position, one.model, one.state, one.held_pico_usd, owner],
                )
            for place, file in enumerate(files):
                connection.execute(
                    "INSERT INTO playground_files (ask_id, position, name, media_type, content, size_bytes, project) "
                    "VALUES (?, ?, ?, ?, ?, ?, ?)",
                    [
                        ask_id,
                        place,
                        storable(file.name),
                        file.media_type,
                        b64encode(file.content).decode(),
                        len(file.content),
                        owner,
                    ],
                )
        return ask_id, True

    def get(self, ask_id: str) -> AskRow:
        scope = self._scope()
        with self._database.connection() as connection:
            row = connection.execute(
                f"SELECT * FROM playground_asks WHERE id = ?{scope.sql}",  # noqa: S608 - our own words
                [ask_id, *scope.values],
            ).fetchone()
        if row is None:
            raise NotFoundError(f"No ask {ask_id!r} in the playground.")
        return self._with_parts([row])[0]

    def listed(self, *, after: str | None = None, limit: int = 50) -> list[AskRow]:
        """Newest first, without the texts of answers; `after` is the last one seen."""
        scope = self._scope()
        older, values = ("", []) if after is None else (" AND id < ?", [after])
        query = f"SELECT * FROM playground_asks WHERE 1 = 1{scope.sql}{older} ORDER BY id DESC LIMIT ?"  # noqa: S608
        with self._database.connection() as connection:
            rows = connection.execute(query, [*scope.values, *values, limit]).fetchall()
        return self._with_parts(rows, has_texts=False)

    def some(self, ask_ids: Sequence[str]) -> list[AskRow]:
        """Those of them that there are, in this order, without the texts of answers."""
        scope = self._scope()
        query = f"SELECT * FROM playground_asks WHERE id IN ({places(len(ask_ids))}){scope.sql}"  # noqa: S608 - our own
        with self._database.connection() as connection:
            rows = {row["id"]: row for row in connection.execute(query, [*ask_ids, *scope.values]).fetchall()}
        return self._with_parts([rows[ask_id] for ask_id in ask_ids if ask_id in rows], has_texts=False)

    def voted(self, *, is_blind_only: bool = True) -> list[AskRow]:
        """Every ask that somebody voted on, oldest first; its votes are those that count."""
        scope = self._scope("playground_asks")
        blind = " AND playground_votes.is_blind" if is_blind_only else ""
        query = (
            "SELECT * FROM playground_asks WHERE EXISTS (SELECT 1 FROM playground_votes "  # noqa: S608 - our own words
            f"WHERE playground_votes.ask_id = playground_asks.id{blind}){scope.sql} ORDER BY id"
        )
        with self._database.connection() as connection:
            rows = connection.execute(query, scope.values).fetchall()
        return self._with_parts(rows, has_texts=False)

    def file(self, ask_id: str, position: int) -> AskedFile:
        scope = self._scope("playground_files")
        with self._database.connection() as connection:
            row = connection.execute(
                "SELECT name, media_type, content FROM playground_files "  # noqa: S608 - our own words
                f"WHERE ask_id = ? AND position = ?{scope.sql}",
                [ask_id, position, *scope.values],
            ).fetchone()
        if row is None:
            raise NotFoundError(f"The ask {ask_id!r} has no such file.")
        return AskedFile(row[0], row[1], b64decode(row[2]))

    def grow(self, ask_id: str, texts: Mapping[str, tuple[str, str]], living: Iterable[str]) -> None:
        """Write what these answers have come to, text and reasoning, and that these slots are still waited for."""
        scope = self._scope("playground_answers")
        with self._database.connection() as connection, connection.transaction(is_short=True):
            for slot, (text, reasoning) in texts.items():
                connection.execute(
                    "UPDATE playground_answers SET state = 'streaming', text = ?, reasoning = ? "  # noqa: S608
                    f"WHERE ask_id = ? AND slot = ? AND {_OPEN}{scope.sql}",
                    [text, reasoning, ask_id, slot, *scope.values],
                )
            for slot in living:
                connection.execute(
                    f"UPDATE playground_answers SET beat_at = {self._database.dialect.now} "  # noqa: S608
                    f"WHERE ask_id = ? AND slot = ? AND {_OPEN}{scope.sql}",
                    [ask_id, slot, *scope.values],
                )

    def finish(self, ask_id: str, answer: AnswerRow) -> bool:
        """Write how an answer ended; False where it had ended before, and nothing was changed."""
        scope = self._scope("playground_answers")
        with self._database.connection() as connection:
            changed = connection.execute(
                "UPDATE playground_answers SET state = ?, text = ?, reasoning = ?, details = ? "  # noqa: S608
                f"WHERE ask_id = ? AND slot = ? AND {_OPEN}{scope.sql}",
                [
                    answer.state, storable(answer.text), storable(answer.reasoning), to_json(answer.details), ask_id,
                    answer.slot, *scope.values,
                ],
            )  # fmt: skip
        return changed.rowcount > 0

    def end_lost(self, ask_id: str, older_seconds: float, details: Mapping[str, Any]) -> int:
        """End those answers of an ask that nobody has been heard of for so long; their texts stay. Gives how many."""
        scope = self._scope("playground_answers")
        with self._database.connection() as connection:
            return connection.execute(
                "UPDATE playground_answers SET state = 'failed', details = ? "  # noqa: S608 - our own words
                f"WHERE ask_id = ? AND {_OPEN} AND beat_at < {self._database.dialect.now} - ?{scope.sql}",
                [to_json(details), ask_id, older_seconds, *scope.values],
            ).rowcount

    def request_stop(self, ask_id: str, slots: Sequence[str]) -> None:
        """Say that these answers are not wanted any more, to whichever process is writing them."""
        scope = self._scope("playground_answers")
        with self._database.connection() as connection:
            for slot in slots:
                connection.execute(
                    "UPDATE playground_answers SET state = 'stopped', details = ? "  # noqa: S608 - our own words
                    f"WHERE ask_id = ? AND slot = ? AND {_OPEN}{scope.sql}",
                    [to_json({}), ask_id, slot, *scope.values],
                )

    def open_slots(self, ask_id: str) -> frozenset[str]:
        """The answers that have not ended."""
        scope = self._scope("playground_answers")
        with self._database.connection() as connection:
            rows = connection.execute(
                f"SELECT slot FROM playground_answers WHERE ask_id = ? AND {_OPEN}{scope.sql}",  # noqa: S608
                [ask_id, *scope.values],
            ).fetchall()
        return frozenset(row[0] for row in rows)

    def vote(self, ask_id: str, voter: str, best: Sequence[str], *, is_blind: bool) -> bool:
        """Keep what somebody prefers; False where he has voted before, and nothing was changed."""
        self.get(ask_id)
        with self._database.connection() as connection:
            return (
                connection.execute(
                    "INSERT INTO playground_votes (ask_id, voter, best, is_blind, voted_at, project) "
                    "VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (ask_id, voter) DO NOTHING",
                    [ask_id, voter, to_json(list(best)), is_blind, now_text(), self._database.scope.owner],
                ).rowcount
                > 0
            )

    def reveal(self, ask_id: str) -> None:
        """Say who is who to everybody; doing it twice is harmless."""
        self.get(ask_id)
        scope = self._scope()
        with self._database.connection() as connection:
            connection.execute(
                "UPDATE playground_asks SET revealed_at = ? "  # noqa: S608 - our own words
                f"WHERE id = ? AND revealed_at IS NULL{scope.sql}",
                [now_text(), ask_id, *scope.values],
            )

    def delete(self, ask_id: str) -> None:
        """Remove an ask with its answers, files and votes."""
        self.get(ask_id)
        scope = self._scope()
        with self._database.connection() as connection:
            connection.execute(
                f"DELETE FROM playground_asks WHERE id = ?{scope.sql}",  # noqa: S608 - our own words
                [ask_id, *scope.values],
            )

    def _scope(self, table: str = "playground_asks") -> Condition:
        return scope_filter(self._database, table)

    def _with_parts(self, rows: Sequence[Row], *, has_texts: bool = True) -> list[AskRow]:
        ids = [row["id"] for row in rows]
        answers = self._parts("playground_answers", "*" if has_texts else _WITHOUT_TEXTS, ids, "slot")
        votes = self._parts("playground_votes", "*", ids, "voted_at, voter")
        return [
            AskRow(
                id=row["id"],
                author=row["author"],
                kind=row["kind"],
                request=orjson.loads(row["request"]),
                is_blind=bool(row["is_blind"]),
                revealed_at=row["revealed_at"],
                created_at=row["created_at"],
                answers=tuple(map(_answer_row, answers[row["id"]])),
                votes=tuple(map(_vote_row, votes[row["id"]])),
            )
            for row in rows
        ]

    def _parts(self, table: str, columns: str, ids: Sequence[str], order: str) -> Mapping[str, list[Row]]:
        """The rows of these asks, by their ask."""
        scope, found = self._scope(table), {ask_id: list[Row]() for ask_id in ids}
        with self._database.connection() as connection:
            for start in range(0, len(ids), IDS_AT_ONCE):
                some = ids[start : start + IDS_AT_ONCE]
                query = (
                    f"SELECT {columns} FROM {table} WHERE ask_id IN ({places(len(some))})"  # noqa: S608 - our own words
                    f"{scope.sql} ORDER BY {order}"
                )
                for row in connection.execute(query, [*some, *scope.values]).fetchall():
                    found[row["ask_id"]].append(row)
        return found


def _answer_row(row: Row) -> AnswerRow:
    return AnswerRow(
        slot=row["slot"],
        position=row["position"],
        model=row["model"],
        state=row["state"],
        text=row["text"],
        reasoning=row["reasoning"],
        details=orjson.loads(row["details"]),
        held_pico_usd=row["held_pico_usd"],
    )


def _vote_row(row: Row) -> AskVoteRow:
    return AskVoteRow(row["voter"], tuple(orjson.loads(row["best"])), bool(row["is_blind"]), row["voted_at"])
