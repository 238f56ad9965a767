"""Decides, for all workers of a run, whether its stop rule is met: from what is recorded, in the order it was drawn.

Only samples before the first that is still being asked count: quick answers are often the easy ones.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations

from msgspec.structs import replace

from proctor.domain.chunk import Chunk, ChunkState
from proctor.planning.selection import shuffle_key
from proctor.runs.read import measured
from proctor.stopping.rule import MeasuredEvaluation, outcomes, rule_of
from proctor.stores.chunks import ChunkStore
from proctor.stores.comparing import evaluations_of
from proctor.stores.database import Database
from proctor.stores.queue import QueueStore
from proctor.stores.runs import GROUP_SIZES, RunRow, RunStore

GROWTH = 1.02
"""Looking reads everything that is recorded: it is done again when there is so much more."""


def look(run: RunRow, database: Database) -> list[int]:
    """Drop the chunks of evaluations of which enough is known; gives these evaluations.

    Of several workers that look at once, one decides; calling it again is harmless.
    """
    plan, queue = run.plan, QueueStore(database)
    rule, queued = rule_of(plan), queue.get(run.id)
    if rule is None or queued is None or queued.is_finished:
        return []
    done = whole_beginnings(ChunkStore(database).of_run(run.id))
    known = sum(done.values())
    if known < GROWTH * queued.looked or not queue.look(run.id, known):
        return []
    rows = list(evaluations_of(database, run.id))
    evaluations = [_beginning(measured(database, row), plan.seed, done.get(row.id, 0)) for row in rows]
    found = outcomes(plan, evaluations, RunStore(database).last_event(run.id, GROUP_SIZES) or {})
    together: list[tuple[int, ...]] = [(place,) for place in range(len(rows))]
    if rule.is_about_difference:
        together = [
            (one, other)
            for one, other in combinations(range(len(rows)), 2)
            if evaluations[one].identity == evaluations[other].identity
            and evaluations[one].label != evaluations[other].label
        ]
    unmet = {place for places, outcome in zip(together, found, strict=True) if not outcome.met for place in places}
    watched = {place for places in together for place in places}
    enough = [rows[place].id for place in sorted(watched - unmet)]
    if enough:
        queue.drop_waiting(run.id, enough)
    return enough


def whole_beginnings(chunks: list[Chunk]) -> Mapping[int, int]:
    """How many samples of each evaluation are recorded without a gap, from the first on."""
    done: dict[int, int] = {}
    for chunk in sorted(chunks, key=lambda one: one.position):
        is_next = chunk.position == done.get(chunk.evaluation_id, 0)
        if chunk.state is ChunkState.FINISHED and is_next:
            done[chunk.evaluation_id] = chunk.position + chunk.count
    return done


def _beginning(item: MeasuredEvaluation, seed: int, count: int) -> MeasuredEvaluation:
    drawn = sorted(item.values, key=lambda name: shuffle_key(seed, name, item.groups[name]))[:count]
    return replace(item, values={name: item.values[name] for name in drawn})
