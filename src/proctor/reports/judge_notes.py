"""Unreadable and undecided judge verdicts, in sentences that stand beside the scores."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from proctor.domain.side import side_of
from proctor.reports.figures import number_text, plural
from proctor.reports.labels import is_of_repeats


def judge_notes(evaluations: Iterable[Mapping[str, Any]]) -> list[str]:
    """A sentence for verdicts that could not be read, and for judges that follow the order of two answers."""
    return [f"{side_of(item)} on {item['benchmark']}: {note}" for item in evaluations for note in _notes(item)]


def _notes(item: Mapping[str, Any]) -> Iterator[str]:
    # An evaluation that was summed up before these were counted does not say.
    if unreadable := item.get("unreadable_verdicts", 0):
        yield f"{plural(unreadable, 'unreadable judge verdict')}, left out of the score.{_worst(item)}"
    for scorer, judges in item.get("judges", {}).items():
        for judge, work in judges.items():
            if len(judges) > 1 and work["unreadable"]:
                total = work["verdicts"] + work["unreadable"]
                yield f"{judge}: unreadable verdicts on {work['unreadable']:,} of {plural(total, 'answer')} ({scorer})."
            if work["undecided"]:
                yield f"{undecided_text(work)} ({scorer} by {judge})."


def _worst(item: Mapping[str, Any]) -> str:
    """The score with every unreadable verdict counted as wrong: an answer gains nothing by breaking its judge."""
    worst = [
        f"{estimate.get('title', name)} would be {number_text(estimate['if_unreadable_wrong'])}"
        for name, estimate in item["metrics"].items()
        if estimate.get("if_unreadable_wrong") is not None and not is_of_repeats(name)
    ]
    return f" With {_them(item)} counted as wrong, {', '.join(worst)}." if worst else ""


def _them(item: Mapping[str, Any]) -> str:
    return "it" if item["unreadable_verdicts"] == 1 else "them"


def undecided_text(work: Mapping[str, Any]) -> str:
    """`60 of 60 comparisons were undecided and count as ties: the judge preferred a position …`."""
    text = f"{work['undecided']:,} of {plural(work['verdicts'], 'comparison')} were undecided and count as ties"
    places = {"first": work.get("preferred_first", 0), "second": work.get("preferred_second", 0)}
    said = [f"{plural(count, 'time')} the {place} answer" for place, count in places.items() if count]
    preferred = f"the judge preferred a position ({', '.join(said)}, in both orders)"
    if sum(places.values()) == work["undecided"]:
        return f"{text}: {preferred}"
    changed = f"{text}: what the judge said changed with the order of the answers"
    return f"{changed}; in {sum(places.values()):,} of them {preferred}" if said else changed
