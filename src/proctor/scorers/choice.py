"""The option a response settles on is the target."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from proctor.domain.errors import BenchmarkError
from proctor.domain.message import Json
from proctor.domain.response import FinishReason, Response
from proctor.domain.sample import Sample
from proctor.domain.score import Score
from proctor.scorers.options import build, version_of
from proctor.scorers.reading import TextReader, final_text, shorten

NAME = "choice"
REVISION = "12"
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def create(**options: Json) -> ChoiceMatch:
    scorer = build(ChoiceMatch, NAME, options)
    labels = scorer.labels
    if len(labels) < 2 or len(set(labels)) != len(labels) or not all(c.isascii() and c.isalnum() for c in labels):
        raise BenchmarkError(f"The option 'labels' of the scorer 'choice' is {labels!r}; write each once, as in ABCD.")
    return scorer


@dataclass(frozen=True, slots=True)
class ChoiceMatch(TextReader):
    """1 when the response settles on the target's option, by its letter or by its text.

    The last explicit statement counts ('the answer is', \\boxed{}, 'B is correct', 'I choose B', a correction); one
    that names two options is invalid. Without such a statement: a response that is, ends with or begins with a letter;
    then the only option mentioned; then the only option quoted. Anything else is invalid.
    """

    labels: str = LETTERS
    index_base: Literal[0, 1] = 0
    """Whether a target that is a number counts the options from 0 or from 1."""

    @property
    def name(self) -> str:
        return NAME

    @property
    def version(self) -> str:
        return version_of(self, REVISION)

    def obstacle(self, sample: Sample) -> str | None:
        """A sample is scored by the label of its target, so the target must stand for one."""
        labels = self.labels[: len(sample.choices)] if sample.choices else self.labels
        return target_obstacle(self, sample, labels)

    async def score(self, sample: Sample, response: Response) -> Score:
        if (obstacle := self.obstacle(sample)) is not None:
            return Score.unscored(NAME, reason=obstacle)
        choices = sample.choices
        labels = self.labels[: len(choices)] if choices else self.labels
        wanted = _wanted(self, sample.targets, choices, labels)
        text = shorten(final_text(response.text))
        if not text:
            return Score.invalid(NAME, reason="the response is empty")
        is_cut = response.finish_reason is FinishReason.LENGTH
        # Its patterns take a while to make: when the first answer is there, not while a run is being started.
        from proctor.scorers.choice_reading import read_choice

        label, how = read_choice(text, labels, choices, question=sample.input_text, is_cut=is_cut)
        if label is None:
            return Score.invalid(NAME, reason=how)
        right = label in wanted
        return Score(NAME, float(right), answer=label, reason=how if right else f"{how}; the target is {min(wanted)}")

    def label_of(self, target: str, choices: tuple[str, ...], labels: str) -> str | None:
        """The label a target stands for: it may be the label itself, '(B)', a choice's text or its index."""
        target = target.strip()
        bare = target.strip("().").upper()
        if target in choices and not (len(bare) == 1 and bare in labels and bare.isalpha()):
            return labels[choices.index(target)]
        if len(bare) == 1 and bare in labels:
            return bare
        if target.isdecimal() and self.index_base <= int(target) < len(choices) + self.index_base:
            return labels[int(target) - self.index_base]
        same = [label for label, text in zip(labels, choices, strict=False) if text.strip() == target]
        return same[0] if same else None


def target_obstacle(scorer: ChoiceMatch, sample: Sample, labels: str) -> str | None:
    """Why no target stands for one of the labels; None when one does."""
    if sample.target is None:
        return "the sample has no target"
    if any(scorer.label_of(target, sample.choices, labels) for target in sample.targets):
        return None
    if sample.choices:
        return f"the target {sample.target!r} is none of the choices"
    return f"the target {sample.target!r} is no letter, and the sample has no choices"


@lru_cache(maxsize=4096)
def _wanted(scorer: ChoiceMatch, targets: tuple[str, ...], choices: tuple[str, ...], labels: str) -> frozenset[str]:
    """The labels that are right; one sample is scored for many models and epochs."""
    return frozenset(label for target in targets if (label := scorer.label_of(target, choices, labels)))
