"""Which scorer, of which version, the shown scores are from, and whether a rescore put it in force."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from proctor.domain.documents.evaluation import EvaluationSummary, ScorersInForce

Scored = EvaluationSummary | ScorersInForce


def scorers_text(scorers: Mapping[str, str]) -> str:
    """`exact@1, includes@2`."""
    return ", ".join(f"{name}@{version}" for name, version in scorers.items())


def rescored_notes(evaluations: Sequence[Scored]) -> list[str]:
    """A sentence for each evaluation whose scores are not those of its run; none where nothing was rescored."""
    return [_sentence(item) for item in evaluations if item.rescored is not None]


def scorer_notes(evaluations: Sequence[Scored]) -> list[str]:
    """The scorers in force: in one sentence where all are the same, else a sentence for each evaluation."""
    texts = {scorers_text(item.scorers) for item in evaluations}
    if len(texts) == 1 and not rescored_notes(evaluations):
        return [f"Scored by {texts.pop()}."]
    return [_sentence(item) for item in evaluations]


def _sentence(item: Scored) -> str:
    text = f"{item.side} on {item.benchmark}: scored by {scorers_text(item.scorers)}"
    if item.rescored is None:
        return f"{text}."
    when = item.rescored.at[:16].replace("T", " ")
    return f"{text}, in a rescore of {when} UTC (before by {scorers_text(item.rescored.replaced)})."
