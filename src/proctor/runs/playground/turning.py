"""What becomes of an ask: a line of a benchmark's data, a plan, a ranking of models by what people preferred."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Sequence
from itertools import combinations
from typing import Any

from proctor.domain.documents.playground import (
    PlaygroundPlan,
    PlaygroundSample,
    PreferenceRanking,
    PreferredModel,
)
from proctor.domain.errors import UserError
from proctor.domain.message import Json
from proctor.domain.run import IMPORTED
from proctor.metrics.preferences import Duel, rank_preferred
from proctor.runs.playground.showing import Reader, even_length, is_revealed
from proctor.stores.database import Database
from proctor.stores.playground import AskRow, AskVoteRow, PlaygroundStore

METHOD = "Bradley-Terry, a tie is half a win; 95 % intervals; ranks by Holm's method over all pairs"
ROUNDED = 1


def sample_of(database: Database, row: AskRow, target: str | None, reader: Reader) -> PlaygroundSample:
    """The ask as a line of data; `target` names the answer whose text is the right one.

    While names are hidden an answer is a target only once all have come: which one is ready first tells who wrote it.
    """
    if target is not None and not is_revealed(row, reader) and even_length(row.answers) is not None:
        raise UserError("This ask is blind and not all of its answers have come: choose one when they have, or vote.")
    texts = {one.slot: one.text for one in row.answers if one.state == "complete"}
    if target is not None and target not in texts:
        raise UserError(f"There is no complete answer {target!r}; there are: {', '.join(sorted(texts)) or 'none'}.")
    store = PlaygroundStore(database)
    files = [store.file(row.id, place) for place, _ in enumerate(row.request["view"]["files"])]
    return PlaygroundSample(
        id=row.id,
        input=_input_of(row),
        target=None if target is None else texts[target],
        files=[f"data:{file.media_type};base64,{b64encode(file.content).decode()}" for file in files],
        metadata={"kind": row.kind, "asked_at": row.created_at},
    )


def plan_of(row: AskRow, benchmark: str) -> PlaygroundPlan:
    """The same models with the same options, on a benchmark instead of one prompt."""
    plan: dict[str, Json] = {"models": row.request["models"], "benchmarks": [benchmark]}
    if row.request["options"]:
        plan["sampling"] = row.request["options"]
    limits = {name: row.request[name] for name in ("cost_usd", "assume_price") if row.request.get(name) is not None}
    if limits:
        plan["limits"] = limits
    return PlaygroundPlan(plan)


def ranking_of_votes(database: Database, *, kind: str | None = None, is_blind_only: bool = True) -> PreferenceRanking:
    """Every model that people held against another; votes made without knowing who is who, unless told otherwise.

    Votes that came with an imported project are counted by nobody: who made the file could have written them.
    """
    votes = [
        duels
        for row in PlaygroundStore(database).voted(is_blind_only=is_blind_only)
        if kind in (None, row.kind)
        for vote in row.votes
        if vote.is_blind or not is_blind_only
        if (duels := duels_of(row, vote))
    ]
    models = [
        PreferredModel(
            model=one.name,
            rating=round(one.rating, ROUNDED),
            ci95=(round(one.low, ROUNDED), round(one.high, ROUNDED)),
            rank=(one.rank.best, one.rank.worst),
            votes=one.votes,
            wins=one.wins,
            ties=one.ties,
            losses=one.losses,
        )
        for one in rank_preferred(votes)
    ]
    return PreferenceRanking(models, len(votes), METHOD)


def duels_of(row: AskRow, vote: AskVoteRow) -> list[Duel]:
    """Who was preferred to whom: those named to all others, and none to another that is named as well."""
    voted = [one for one in row.answers if one.state == "complete"]
    best = set(vote.best) or {one.slot for one in voted}
    found: list[Duel] = []
    if any(one.model.startswith(f"{IMPORTED}/") for one in voted):
        return found
    for first, second in combinations(voted, 2):
        named = (first.slot in best, second.slot in best)
        if first.model == second.model or not any(named):
            continue
        found.append(Duel(first.model, second.model, 0.5 if all(named) else float(named[0])))
    return found


def _input_of(row: AskRow) -> Json:
    """The prompt's text; a list of messages where more was said."""
    request: Any = row.request
    text = str(request["prompt"])
    if row.kind == "structured":
        written = json.dumps(request["input"], ensure_ascii=False, indent=2)
        text = f"{text}\n\n{written}" if text else written
    if not (request["system"] or request["history"]):
        return text
    system = [{"role": "system", "content": request["system"]}] if request["system"] else []
    earlier: Sequence[Any] = request["history"]
    turns = [{"role": turn["role"], "content": turn["text"]} for turn in earlier]
    return [*system, *turns, {"role": "user", "content": text}]
