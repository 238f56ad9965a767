"""Gives every answer a score: where a scorer fails on one, a known-good answer tells whose doing that is."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from proctor.domain.errors import PackageSourceError, ProctorError
from proctor.domain.response import FinishReason, Response
from proctor.domain.sample import Sample
from proctor.domain.score import Score
from proctor.domain.scorer import Control, Controlled, Scorer
from proctor.domain.text import message_of

ATTEMPTS = 2
"""How often an answer and its control are tried while the control fails too: a fault may pass."""
_SHOWN = 500


Mark = Callable[[Scorer, Sample, Response], Awaitable[Score]]


async def mark_here(scorer: Scorer, sample: Sample, response: Response) -> Score:
    return await scorer.score(sample, response)


async def score_answer(scorer: Scorer, sample: Sample, response: Response, mark: Mark = mark_here) -> Score:
    """The answer's score; unscored only where a known-good answer could not be scored either."""
    if response.finish_reason is FinishReason.UNUSABLE:
        return Score.invalid(scorer.name, response.note or "nothing of the answer could be taken")
    said = ""
    for _attempt in range(ATTEMPTS):
        score, said = await _try(mark, scorer, sample, response)
        if score is not None:
            return score
        control = _control_of(scorer, sample)
        if control is None:
            break
        if not await _is_scored(mark, scorer, sample, control):
            continue
        # Once may have been the machine; before and after a known-good answer, it is the answer's own doing.
        score, said = await _try(mark, scorer, sample, response)
        return score or _blamed(scorer, control, said)
    return Score.unscored(scorer.name, said)


async def score_unscorable(scorer: Scorer, sample: Sample, said: str) -> Score:
    """The score of an answer that ended whoever scored it, again and again: only a known-good answer is tried."""
    control = _control_of(scorer, sample)
    if control is not None and await _is_scored(mark_here, scorer, sample, control):
        return _blamed(scorer, control, said)
    return Score.unscored(scorer.name, said)


async def _is_scored(mark: Mark, scorer: Scorer, sample: Sample, control: Control) -> bool:
    known, _ = await _try(mark, scorer, sample, control.response)
    return known is not None and known.value is not None and known.value >= control.least


def _blamed(scorer: Scorer, control: Control, said: str) -> Score:
    return Score.invalid(scorer.name, f"this answer cannot be scored, {control.kind} can: {said}")


async def _try(mark: Mark, scorer: Scorer, sample: Sample, response: Response) -> tuple[Score | None, str]:
    try:
        return await mark(scorer, sample, response), ""
    except PackageSourceError as error:
        # Found out without the answer's help; a known-good one may do without packages, and would blame this one.
        return Score.unscored(scorer.name, _describe(error)), ""
    except Exception as error:  # noqa: BLE001 - the trial's boundary: whose doing it is is found out by a control
        return None, _describe(error)


def _control_of(scorer: Scorer, sample: Sample) -> Control | None:
    if not isinstance(scorer, Controlled):
        return _plain_control(sample)
    try:
        return scorer.control(sample)
    except Exception:  # noqa: BLE001 - no answer has a part in it: the sample cannot be scored at all
        return None


def _plain_control(sample: Sample) -> Control:
    target = next(iter(sample.targets), None)
    return Control(Response(""), "an empty one") if target is None else Control(Response(target), "the target")


def _describe(error: Exception) -> str:
    text = message_of(error)[:_SHOWN]
    return text if isinstance(error, ProctorError) else f"the scorer failed: {type(error).__name__}: {text}"
