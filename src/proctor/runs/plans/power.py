"""How many samples a comparison needs: the question, the assumptions, the answer."""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from proctor.domain.documents.comparison import Comparisons
from proctor.domain.documents.power import PowerAnswer
from proctor.domain.errors import UserError
from proctor.metrics.power import (
    ALPHA,
    POWER,
    detectable_by_paired_shares,
    discordance,
    samples_for_paired_shares,
    samples_for_unpaired_shares,
)
from proctor.metrics.rounding import figure_text

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


def discordance_of(comparisons: Comparisons) -> MeasuredDiscordance:
    """From a single comparison; several are too many to plan with."""
    if len(comparisons) > 1:
        raise UserError("This run has several comparisons: choose two models with --model and a benchmark with --on.")
    item = comparisons[0]
    if "odds_ratio" not in item.effects:
        raise UserError(
            f"{item.scorer} gives partial scores, so there is no share of samples that only one model gets right. "
            "'proctor compare RUN --target D' computes how many more samples a difference needs."
        )
    if not item.flips.count or not item.n:
        raise UserError(
            f"{item.a.name} and {item.b.name} differ on none of {item.n:,} samples, so "
            "their discordance is not known. Give --discordance or --accuracy instead of a run."
        )
    return MeasuredDiscordance(item.flips.count / item.n, item.n, (item.a.name, item.b.name), item.benchmark)


def answer_power(question: PowerQuestion, measured: MeasuredDiscordance | None = None) -> PowerAnswer:
    """Samples needed (of each model), or the difference that so many samples can show; ValueError where impossible."""
    if question.unpaired and question.samples is not None:
        raise UserError("--samples computes the minimum detectable difference of paired samples: leave out --unpaired.")
    accuracy = HARDEST - question.difference / 2 if question.accuracy is None else question.accuracy
    _refuse_better_than_perfect(question)
    share, source = _discordance(question, measured, accuracy)
    levels = {"power": question.chance, "alpha": question.alpha}
    answer = PowerAnswer(
        design="unpaired" if question.unpaired else "paired",
        accuracy=None if measured or question.discordance is not None else accuracy,
        discordance=None if question.unpaired else share,
        discordance_from=None if question.unpaired else source,
        power=question.chance,
        alpha=question.alpha,
    )
    if question.samples is not None:
        found = detectable_by_paired_shares(question.samples, share, **levels)
        return replace(answer, samples=question.samples, detectable_difference=found)
    if question.unpaired:
        needed = samples_for_unpaired_shares(accuracy, accuracy + question.difference, **levels)
    else:
        needed = samples_for_paired_shares(question.difference, share, **levels)
    return replace(answer, difference=question.difference, samples_needed=needed)


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
