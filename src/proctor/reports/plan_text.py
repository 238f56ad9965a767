"""A drafted plan as people read it: YAML, with what was understood, assumed and not understood."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import UNSET

from proctor.domain.documents.draft import PlanDraft
from proctor.domain.message import Json

WIDTH = 100


def plan_yaml(values: Mapping[str, Any]) -> str:
    """The plan as a plan file: fields in their order, lists of plain names on lines of their own."""
    import yaml

    class Dumper(yaml.SafeDumper):
        def ignore_aliases(self, data: Any) -> bool:  # noqa: ARG002 - a plan has no anchors
            return True

    text: str = yaml.dump(dict(values), Dumper=Dumper, sort_keys=False, allow_unicode=True, width=WIDTH)
    return text


def reading_lines(draft: PlanDraft) -> Iterator[str]:
    """What the plan was made of, a line for each phrase and choice."""
    yield from _changes(draft)
    yield "Understood:" if draft.understood else "Understood: nothing."
    yield from (f"  {one.text!r} -> {one.field}: {_text(one.value)}" for one in draft.understood)
    if draft.assumed:
        yield "Assumed:"
    yield from (f"  {one.field}: {_text(one.value)} ({one.why})" for one in draft.assumed)
    if draft.not_understood:
        yield f"Not understood, changed nothing: {', '.join(repr(words) for words in draft.not_understood)}"
    yield from (f"Not in the plan: {wish.text!r} ({wish.why})" for wish in draft.unsupported)
    yield from (f"No data: {gap.sentence}." for gap in draft.gaps)
    for index, plan in enumerate(draft.alternatives, 1):
        yield f"Or perhaps ({index}): {_benchmarks_text(plan)}"
    yield from _afterwards(draft)
    yield from (f"Note: {note}" for note in draft.notes)
    yield from _reader(draft)


def _changes(draft: PlanDraft) -> Iterator[str]:
    if draft.changes is UNSET:
        return
    yield "Changed:" if draft.changes else "Changed: nothing."
    for change in draft.changes:
        yield f"  {change.field}: {_text(change.before)} -> {_text(change.after)}"


def _afterwards(draft: PlanDraft) -> Iterator[str]:
    if draft.fail_under is not UNSET:
        bars = " ".join(f"--fail-under {name}={bar:g}" for name, bar in draft.fail_under.items())
        yield f"Bars, given to the run: {bars}"
    if draft.then is not UNSET:
        yield f"Afterwards: proctor {'compare latest' if draft.then == 'compare' else 'leaderboard'}"


def _reader(draft: PlanDraft) -> Iterator[str]:
    cost = "an unknown amount" if draft.cost_usd is None else f"${draft.cost_usd:.6f}"
    if draft.by != "rules":
        yield f"Read with {draft.by}; its answer cost {cost}."
    if draft.fallback is not UNSET:
        paid = "" if draft.cost_usd is None else f" (its answer cost {cost})"
        yield f"Read by rules alone: {draft.fallback}{paid}"


def _benchmarks_text(plan: Mapping[str, Json]) -> str:
    return ", ".join(str(one["benchmark"] if isinstance(one, Mapping) else one) for one in plan["benchmarks"])


def _text(value: Json) -> str:
    if isinstance(value, list | tuple):
        return ", ".join(map(_text, value))
    if isinstance(value, bool):
        return str(value).lower()
    return "none" if value is None else f"{value:g}" if isinstance(value, float) else str(value)
