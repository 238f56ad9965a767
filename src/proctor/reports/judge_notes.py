"""Unreadable marks and undecided judge verdicts, in sentences that stand beside the scores."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec import UNSET

from proctor.domain.documents.evaluation import EvaluationFigures, EvaluationSummary
from proctor.domain.documents.judging import JudgeWork
from proctor.metrics.labels import is_of_repeats
from proctor.reports.figures import number_text, plural


def judge_notes(evaluations: Iterable[EvaluationSummary]) -> list[str]:
    """A sentence for marks that could not be read, and for judges that follow the order of two answers."""
    return [f"{item.title}: {note}" for item in evaluations for note in _notes(item)]


def _notes(item: EvaluationFigures) -> Iterator[str]:
    if item.unreadable_verdicts:
        yield _left_out(item, item.unreadable_verdicts, "unreadable judge verdict")
    elif count := max((estimate.unreadable or 0 for estimate in item.metrics.values()), default=0):
        yield _left_out(item, count, "unreadable mark")
    for scorer, judges in item.judges.items():
        for judge, work in judges.items():
            if len(judges) > 1 and work.unreadable:
                total = work.verdicts + work.unreadable
                yield f"{judge}: unreadable verdicts on {work.unreadable:,} of {plural(total, 'answer')} ({scorer})."
        yield from undecided_notes(item, scorer)


def undecided_notes(item: EvaluationFigures, scorer: str) -> Iterator[str]:
    """A sentence for each of the scorer's judges that could not decide: such a tie says nothing of the two answers."""
    for judge, work in item.judges.get(scorer, {}).items():
        if work.undecided:
            yield f"{undecided_text(work)} ({scorer} by {judge})."


def _left_out(item: EvaluationFigures, count: int, noun: str) -> str:
    """With the score if each of them was wrong: an answer gains nothing by breaking what marks it."""
    worst = [
        f"{estimate.title or name} would be {number_text(value)}"
        for name, estimate in item.metrics.items()
        if (value := estimate.if_unreadable_wrong) is not UNSET and value is not None and not is_of_repeats(name)
    ]
    them = "it" if count == 1 else "them"
    counted = f" With {them} counted as wrong, {', '.join(worst)}." if worst else ""
    return f"{plural(count, noun)}, left out of the score.{counted}"


def undecided_text(work: JudgeWork) -> str:
    """`60 of 60 comparisons were undecided and count as ties: the judge preferred a position …`."""
    text = f"{work.undecided:,} of {plural(work.verdicts, 'comparison')} were undecided and count as ties"
    places = {"first": work.preferred_first, "second": work.preferred_second}
    said = [f"{plural(count, 'time')} the {place} answer" for place, count in places.items() if count]
    preferred = f"the judge preferred a position ({', '.join(said)}, in both orders)"
    if sum(places.values()) == work.undecided:
        return f"{text}: {preferred}"
    changed = f"{text}: what the judge said changed with the order of the answers"
    return f"{changed}; in {sum(places.values()):,} of them {preferred}" if said else changed
