"""The option the model gave the highest probability to."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from proctor.domain.message import Json
from proctor.domain.response import Response, TokenLogprob
from proctor.domain.sample import Sample
from proctor.domain.score import Score
from proctor.scorers.choice import LETTERS, ChoiceMatch, target_obstacle
from proctor.scorers.options import build, version_of

NAME = "logprob"
REVISION = "3"
# A response does not tell whether they were asked for: the words must be true either way.
NO_LOGPROBS = (
    "the response has no log-probabilities: they are given only when asked for (logprobs: true), and some endpoints "
    "and models never give them; there, let the answer be read from the text (the scorer 'choice')"
)


def create(**options: Json) -> LogprobChoice:
    return build(LogprobChoice, NAME, options)


@dataclass(frozen=True, slots=True)
class LogprobChoice:
    """Reads the first token that is a label; 1 when the likeliest label there is the target's.

    With `value: probability` the target's share of the labels' probability. `details` has the share of each label that
    the endpoint listed; one it did not list has no share, which is a lower bound and said so.
    A response without any label is invalid; one with a label but no log-probabilities is not measured. Where other
    responses have them, the answer may be the reason: it counts as unreadable, so that it gains nothing by it.
    """

    value: Literal["accuracy", "probability"] = "accuracy"
    index_base: Literal[0, 1] = 0

    @property
    def name(self) -> str:
        return NAME

    @property
    def version(self) -> str:
        return version_of(self, REVISION)

    def obstacle(self, sample: Sample) -> str | None:
        labels = LETTERS[: len(sample.choices)] if sample.choices else LETTERS
        return target_obstacle(ChoiceMatch(index_base=self.index_base), sample, labels)

    async def score(self, sample: Sample, response: Response) -> Score:
        if (obstacle := self.obstacle(sample)) is not None:
            return Score.unscored(NAME, reason=obstacle)
        labels = LETTERS[: len(sample.choices)] if sample.choices else LETTERS
        known = ChoiceMatch(index_base=self.index_base)
        wanted = {label for target in sample.targets if (label := known.label_of(target, sample.choices, labels))}
        if not response.text.strip():
            return Score.invalid(NAME, reason="the response is empty")
        shares = next((found for token in response.logprobs if (found := _shares(token, labels))), None)
        if shares is not None:
            return self._judge(shares, wanted, labels)
        # Without a label anywhere, log-probabilities would not have helped: a refusal is not a fault.
        if not response.logprobs and any(_label(word, labels) for word in response.text.split()):
            return Score.unreadable(NAME, NO_LOGPROBS)
        return Score.invalid(NAME, reason="no token of the response is a label")

    def _judge(self, shares: dict[str, float], wanted: set[str], labels: str) -> Score:
        best = max(sorted(shares), key=shares.__getitem__)
        right = sum(shares.get(label, 0.0) for label in wanted)
        unlisted = [label for label in labels if label not in shares] if len(labels) < len(LETTERS) else []
        reason = f"{best} has {shares[best]:.3f} of the labels' probability"
        if unlisted:
            reason += f"; not listed by the endpoint: {', '.join(unlisted)}"
        value = float(best in wanted) if self.value == "accuracy" else min(1.0, right)
        return Score(NAME, value, answer=best, reason=reason, details={"shares": shares, "unlisted": unlisted})


def _shares(token: TokenLogprob, labels: str) -> dict[str, float] | None:
    """How the labels share their probability at this token, if the token itself is a label."""
    if _label(token.token, labels) is None:
        return None
    mass: dict[str, float] = {}
    for text, logprob in {token.token: token.logprob, **token.top}.items():
        label = _label(text, labels)
        if label is not None and not math.isnan(logprob):
            mass[label] = mass.get(label, 0.0) + math.exp(min(0.0, logprob))
    total = sum(mass.values())
    return {label: share / total for label, share in sorted(mass.items())} if total > 0 else None


def _label(token: str, labels: str) -> str | None:
    bare = token.strip().strip("()[]*.:\"'")
    return bare if len(bare) == 1 and bare in labels else None
