"""Asks as people see them: while one is blind, nothing in what is shown tells who wrote which answer.

Until he voted, a reader gets letters in a shuffled order, no names, times, tokens, costs or reasons of failures, and of
texts that still grow no more than the slowest has: how fast an answer comes would tell much about who writes it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct, convert

from proctor.domain.documents.playground import (
    ListedAsk,
    PlaygroundAnswer,
    PlaygroundAsk,
    PlaygroundCall,
    PlaygroundUsage,
    PlaygroundView,
    PlaygroundVote,
)
from proctor.domain.errors import UserError
from proctor.domain.text import shorten
from proctor.runs.playground.request import VIEW
from proctor.stores.playground import OPEN_STATES, AnswerRow, AskRow

SHOWN_OF_PROMPT = 200
HIDDEN_ERROR = "This model failed. Why is shown after the vote."


class Reader(Struct, frozen=True):
    """Who reads, and whether he could vote."""

    name: str
    may_vote: bool


def is_revealed(row: AskRow, reader: Reader) -> bool:
    """Whether the reader may know who is who: once he voted, or, where he cannot vote, once anybody has."""
    if not row.is_blind or row.revealed_at is not None:
        return True
    return any(vote.voter == reader.name or not reader.may_vote for vote in row.votes)


def even_length(answers: Sequence[AnswerRow]) -> int | None:
    """How much of every text may be shown while names are hidden; None once all have ended."""
    growing = [len(one.text) for one in answers if one.state in OPEN_STATES]
    return min(growing, default=None)


def answer_of(row: AnswerRow, *, is_shown: bool, most: int | None = None) -> PlaygroundAnswer:
    """One answer; without `is_shown`, only what tells nothing about its author."""
    has_ended = row.state not in OPEN_STATES and (most is None or len(row.text) <= most)
    state: Any = row.state if is_shown or has_ended else "streaming" if most else "waiting"
    found, error = row.details, row.details.get("error")
    calls = [PlaygroundCall(**call) for call in found.get("tool_calls") or ()]
    return PlaygroundAnswer(
        answer=row.slot,
        state=state,
        text=row.text if is_shown else row.text[:most],
        model=row.model if is_shown else None,
        reasoning=(row.reasoning or None) if is_shown else None,
        error=error if is_shown else HIDDEN_ERROR if error and has_ended else None,
        finish_reason=found.get("finish_reason") if is_shown else None,
        tool_calls=calls if is_shown or has_ended else [],
        schema_problems=found.get("schema_problems") if is_shown or has_ended else None,
        first_token_seconds=found.get("first_token_seconds") if is_shown else None,
        latency_seconds=found.get("latency_seconds") if is_shown else None,
        tokens_per_second=found.get("tokens_per_second") if is_shown else None,
        usage=_usage(found.get("usage")) if is_shown else None,
        cost_usd=cost_of(found) if is_shown else None,
        cost_basis=found.get("cost_basis") if is_shown else None,
    )


def ask_of(row: AskRow, reader: Reader) -> PlaygroundAsk:
    """An ask as this reader may see it."""
    is_shown = is_revealed(row, reader)
    most = None if is_shown else even_length(row.answers)
    answers = sorted(row.answers, key=lambda one: (one.position if is_shown and not row.is_blind else 0, one.slot))
    costs = [cost for one in answers if (cost := cost_of(one.details)) is not None]
    return PlaygroundAsk(
        ask_id=row.id,
        kind=row.kind,
        author=row.author,
        created_at=row.created_at,
        is_blind=row.is_blind,
        is_revealed=is_shown,
        is_finished=all(one.state not in OPEN_STATES for one in row.answers),
        request={name: value for name, value in row.request.items() if name != VIEW},
        view=convert(row.request[VIEW], PlaygroundView),
        answers=[answer_of(one, is_shown=is_shown, most=most) for one in answers],
        votes=[
            PlaygroundVote(vote.voter, vote.best, vote.is_blind, vote.voted_at) for vote in row.votes if is_shown
        ],
        cost_usd=math.fsum(costs) if costs and is_shown else None,
    )  # fmt: skip


def listed_ask(row: AskRow) -> ListedAsk:
    """One line of the history; models in the order of their names, which says nothing about the answers."""
    return ListedAsk(
        ask_id=row.id,
        kind=row.kind,
        author=row.author,
        created_at=row.created_at,
        is_blind=row.is_blind,
        is_finished=all(one.state not in OPEN_STATES for one in row.answers),
        prompt=shorten(str(row.request.get("prompt") or ""), SHOWN_OF_PROMPT),
        models=sorted(one.model for one in row.answers),
        votes=len(row.votes),
    )


def check_vote(row: AskRow, best: Sequence[str]) -> None:
    """Raises UserError for a vote that cannot be counted."""
    if any(one.state in OPEN_STATES for one in row.answers):
        raise UserError("Not all answers have come: vote when they have, or stop those that are missing.")
    slots = {one.slot for one in row.answers}
    if unknown := sorted(set(best) - slots):
        raise UserError(f"There is no answer {unknown[0]!r}; there are: {', '.join(sorted(slots))}.")
    voted = [one.slot for one in row.answers if one.state == "complete"]
    if len(voted) < 2:
        raise UserError("There are not two answers that could be held against one another.")
    if missing := sorted(set(best) - set(voted)):
        raise UserError(f"The answer {missing[0]!r} did not come: it cannot be preferred.")


def _usage(found: Mapping[str, Any] | None) -> PlaygroundUsage | None:
    if found is None:
        return None
    names = ("input_tokens", "output_tokens", "reasoning_tokens", "cached_tokens")
    return PlaygroundUsage(**{name: found.get(name) for name in names})


def cost_of(details: Mapping[str, Any]) -> float | None:
    cost = details.get("cost_usd")
    return None if cost is None else float(cost)
