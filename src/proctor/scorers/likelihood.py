"""The choice whose whole text the model finds likeliest, as base models are marked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from proctor.domain.message import Json
from proctor.domain.response import Response
from proctor.domain.sample import Sample
from proctor.domain.score import Score
from proctor.scorers.choice import LETTERS, ChoiceMatch, target_obstacle
from proctor.scorers.options import build, version_of

NAME = "likelihood"
REVISION = "2"
UNKNOWN = (
    "the model did not score the whole choices: ask one that can (completions/… on a server that echoes "
    "log-probabilities), or ask for letters"
)


def create(**options: Json) -> LikeliestChoice:
    return build(LikeliestChoice, NAME, options)


@dataclass(frozen=True, slots=True)
class LikeliestChoice:
    """1 when the target's text has the highest log-likelihood of all choices; of equals the first counts.

    With `normalise: length` each log-likelihood is divided by its choice's length in characters, as the harness'
    acc_norm does, so that long choices are not at a disadvantage. A response without the choices' log-likelihoods is
    not measured, and counts as unreadable: whoever answers must gain nothing by leaving them out.
    """

    label: str = NAME
    """What the score is called."""
    normalise: Literal["none", "length"] = "none"
    index_base: Literal[0, 1] = 0
    needs_likelihoods: ClassVar[bool] = True

    @property
    def name(self) -> str:
        return self.label

    @property
    def version(self) -> str:
        return version_of(self, REVISION)

    def obstacle(self, sample: Sample) -> str | None:
        labels = LETTERS[: len(sample.choices)]
        return target_obstacle(ChoiceMatch(index_base=self.index_base), sample, labels)

    async def score(self, sample: Sample, response: Response) -> Score:
        if (obstacle := self.obstacle(sample)) is not None:
            return Score.unscored(self.name, reason=obstacle)
        labels = LETTERS[: len(sample.choices)]
        known = ChoiceMatch(index_base=self.index_base)
        wanted = {label for target in sample.targets if (label := known.label_of(target, sample.choices, labels))}
        if not response.text.strip():
            return Score.invalid(self.name, reason="the response is empty")
        told = response.logprobs
        is_scored = len(told) == len(sample.choices) and all(
            one.token.endswith(choice) for one, choice in zip(told, sample.choices, strict=True)
        )
        if not is_scored:
            return Score.unreadable(self.name, UNKNOWN)
        values = [
            one.logprob / (max(1, len(choice)) if self.normalise == "length" else 1)
            for one, choice in zip(told, sample.choices, strict=True)
        ]
        best = labels[values.index(max(values))]
        shown = dict(zip(labels, values, strict=True))
        how = "log-likelihood per character" if self.normalise == "length" else "log-likelihood"
        reason = f"{best} has the highest {how}, {shown[best]:.4g}"
        return Score(self.name, float(best in wanted), answer=best, reason=reason, details={"values": shown})
