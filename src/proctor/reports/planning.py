"""How many samples a comparison needs: the question, the assumptions, the answer in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from proctor.domain.errors import UserError
from proctor.metrics.power import (
    ALPHA,
    POWER,
    detectable_by_paired_shares,
    discordance,
    samples_for_paired_shares,
    samples_for_unpaired_shares,
)
from proctor.metrics.rounding import figure_text, percent_text, points_text

HARDEST = 0.5
"""Around this accuracy answers vary most, so that most samples are needed."""


class PowerQuestion(Struct, frozen=True):
    difference: float
    samples: int | None = None
    accuracy: float | None = None
    discordance: float | None = None
    correlation: float = 0.0
    unpaired: bool = False
    chance: float = POWER
    alpha: float = ALPHA


class MeasuredDiscordance(Struct, frozen=True):
    """The share of samples on which two models of a run differ."""

    share: float
    n: int
    names: tuple[str, str]
    benchmark: str


def discordance_of(document: Mapping[str, Any]) -> MeasuredDiscordance:
    """From a comparison document with one comparison; several are too many to plan with."""
    items = document["comparisons"]
    if len(items) > 1:
        raise UserError("This run has several comparisons: choose two models with --model and a benchmark with --on.")
    item = items[0]
    if "odds_ratio" not in item["effects"]:
        raise UserError(
            f"{item['scorer']} gives partial scores, so there is no share of samples that only one model gets right. "
            "'proctor compare RUN --target D' computes how many more samples a difference needs."
        )
    flips = sum(item["flips"][way]["count"] for way in ("gained", "lost"))
    if not flips or not item["n"]:
        raise UserError(
            f"{item['a']['name']} and {item['b']['name']} differ on none of {item['n']:,} samples, so "
            "their discordance is not known. Give --discordance or --accuracy instead of a run."
        )
    return MeasuredDiscordance(flips / item["n"], item["n"], (item["a"]["name"], item["b"]["name"]), item["benchmark"])


def answer_power(question: PowerQuestion, measured: MeasuredDiscordance | None = None) -> dict[str, Any]:
    """Samples needed (of each model), or the difference that so many samples can show; ValueError where impossible."""
    if question.unpaired and question.samples is not None:
        raise UserError("--samples computes the minimum detectable difference of paired samples: leave out --unpaired.")
    accuracy = HARDEST - question.difference / 2 if question.accuracy is None else question.accuracy
    _refuse_better_than_perfect(question)
    share, source = _discordance(question, measured, accuracy)
    levels = {"power": question.chance, "alpha": question.alpha}
    answer: dict[str, Any] = {
        "design": "unpaired" if question.unpaired else "paired",
        "accuracy": None if measured or question.discordance is not None else accuracy,
        "discordance": None if question.unpaired else share,
        "discordance_from": None if question.unpaired else source,
        "power": question.chance,
        "alpha": question.alpha,
    }
    if question.samples is not None:
        found = detectable_by_paired_shares(question.samples, share, **levels)
        return {**answer, "samples": question.samples, "detectable_difference": found}
    if question.unpaired:
        needed = samples_for_unpaired_shares(accuracy, accuracy + question.difference, **levels)
    else:
        needed = samples_for_paired_shares(question.difference, share, **levels)
    return {**answer, "difference": question.difference, "samples_needed": needed}


def _refuse_better_than_perfect(question: PowerQuestion) -> None:
    if question.accuracy is None or question.discordance is not None or question.accuracy + question.difference <= 1:
        return
    most = figure_text(1 - question.accuracy, 3)
    raise UserError(
        f"With --accuracy {question.accuracy:g}, the difference can be at most {most}, not {question.difference:g}."
    )


def _discordance(question: PowerQuestion, measured: MeasuredDiscordance | None, accuracy: float) -> tuple[float, str]:
    if measured is not None:
        a, b = measured.names
        return measured.share, f"{a} and {b} on {measured.benchmark}, n={measured.n:,}"
    if question.discordance is not None:
        return question.discordance, "given"
    share = discordance(accuracy, accuracy + question.difference, question.correlation)
    kind = "worst case, " if question.accuracy is None else ""
    shares = f"accuracies {figure_text(accuracy, 3)} and {figure_text(accuracy + question.difference, 3)}"
    return share, f"{kind}{shares}, correlation {question.correlation:g}"


def sentence(answer: Mapping[str, Any]) -> str:
    """The answer and what it rests on."""
    certainty = f"with {100 * answer['power']:g} % power (two-sided test at {100 * answer['alpha']:g} %)"
    if "samples" in answer:
        found = answer["detectable_difference"]
        start = f"{answer['samples']:,} samples "
        start += (
            "cannot detect any difference"
            if found is None
            else f"can detect a difference of {points_text(found)} points or more"
        )
    elif answer["design"] == "unpaired":
        start = f"{answer['samples_needed']:,} different samples for each model detect {_points(answer)}"
    else:
        start = f"{answer['samples_needed']:,} samples, answered by both models, detect {_points(answer)}"
    if answer["discordance"] is None:
        return f"{start} {certainty}."
    rests = f"the models differ on {percent_text(answer['discordance'])} of the samples ({answer['discordance_from']})"
    return f"{start} {certainty}, if {rests}."


def _points(answer: Mapping[str, Any]) -> str:
    return f"a difference of {100 * answer['difference']:g} points"
