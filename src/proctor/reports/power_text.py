"""How many samples a comparison needs, in words."""

from __future__ import annotations

from msgspec import UNSET

from proctor.domain.documents.power import PowerAnswer
from proctor.metrics.rounding import percent_text, points_text


def power_sentence(answer: PowerAnswer) -> str:
    """The answer and what it rests on."""
    certainty = f"with {100 * answer.power:g} % power (two-sided test at {100 * answer.alpha:g} %)"
    if answer.discordance is None:
        return f"{_start(answer)} {certainty}."
    rests = f"the models differ on {percent_text(answer.discordance)} of the samples ({answer.discordance_from})"
    return f"{_start(answer)} {certainty}, if {rests}."


def _start(answer: PowerAnswer) -> str:
    if answer.samples is not None:
        found = answer.detectable_difference
        if found is None or found is UNSET:
            return f"{answer.samples:,} samples cannot detect any difference"
        return f"{answer.samples:,} samples can detect a difference of {points_text(found)} points or more"
    which = "different samples for each model" if answer.design == "unpaired" else "samples, answered by both models,"
    return f"{answer.samples_needed:,} {which} detect a difference of {100 * (answer.difference or 0.0):g} points"
