"""Asks every judge, combines their verdicts into a score, and keeps what each of them said.

A verdict that cannot be read is a fault of the judge: it counts neither for nor against the answer.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import chain
from statistics import fmean, median, multimode

from msgspec import structs

from proctor.domain.errors import JudgeRefusedError, ScorerError
from proctor.domain.identity import digest
from proctor.domain.message import Json
from proctor.domain.response import Response
from proctor.domain.sample import Sample
from proctor.domain.score import UNREADABLE, VERDICT, Score
from proctor.scorers.judging.judge import FindOpponent, Judge, Opinion, Opposition
from proctor.scorers.judging.kind import Combine, JudgeCase, Kind, Verdict
from proctor.scorers.judging.prompt import JudgeRequest
from proctor.scorers.judging.verdict import VerdictReading, read_verdict, reasons_in
from proctor.scorers.reading import final_text

MAX_REASON = 400
REVISION = "2"
"""Of how replies are read and combined; the first one scored 0 where no verdict could be read."""


@dataclass(frozen=True, slots=True)
class JudgeReply:
    """One form in front of one judge, once: a reply that cannot be read is asked for again."""

    form: JudgeRequest
    opinion: Opinion
    reading: VerdictReading[Verdict]


@dataclass(frozen=True, slots=True)
class JudgeDecision:
    """What one judge decided; without a verdict when it could not be read on every form."""

    judge: Judge
    replies: tuple[JudgeReply, ...]
    verdict: Verdict | None
    refusal: str | None = None
    """Why it was given no reply, where a request was refused."""

    @property
    def readable(self) -> tuple[JudgeReply, ...]:
        """One for each form, where there is a verdict."""
        return tuple(reply for reply in self.replies if reply.reading.verdict is not None)

    @property
    def problem(self) -> str | None:
        """Why there is no verdict."""
        if self.verdict is not None:
            return None
        if self.refusal is not None:
            return self.refusal
        return next((reply.reading.problem for reply in reversed(self.replies) if reply.reading.problem), None)


@dataclass(frozen=True, slots=True)
class JudgeScorer:
    """Scores by the verdicts of one or several judges; give it judges before it is asked to score."""

    kind: Kind
    judges: tuple[Judge, ...] = ()
    find_opponent: FindOpponent | None = None
    opponents: str = ""

    @property
    def name(self) -> str:
        return self.kind.name

    @property
    def version(self) -> str:
        """Template and revision, options, judges with their sampling options, the other side where there is one."""
        judges = [[judge.identity, dict(judge.options)] for judge in self.judges]
        content = [asdict(self.kind), judges, self.opponents]  # type: ignore[call-overload]
        return f"{self.kind.template}.{REVISION}+{digest(content)[:12]}"

    @property
    def opposition(self) -> Opposition | None:
        return self.kind.opposition

    def with_judges(self, judges: tuple[Judge, ...]) -> JudgeScorer:
        return replace(self, judges=judges)

    def with_opponents(self, find: FindOpponent, identity: str) -> JudgeScorer:
        return replace(self, find_opponent=find, opponents=identity)

    def obstacle(self, sample: Sample) -> str | None:
        return self.kind.obstacle(sample)

    def control(self, sample: Sample) -> None:
        """None: whether a judge can be reached is no doing of the answer's."""

    async def score(self, sample: Sample, response: Response) -> Score:
        if not self.judges:
            raise ScorerError(
                f"The scorer '{self.name}' has no judge. Name one with --judge, or as 'judge' in the plan."
            )
        if (obstacle := self.obstacle(sample)) is not None:
            return Score.unscored(self.name, reason=obstacle)
        text = final_text(response.text)
        if not text:
            return Score.invalid(self.name, reason="the response is empty; no judge was asked")
        case = JudgeCase(sample, response, text)
        if self.opposition is not None:
            opponent = await self._opponent(sample)
            if not opponent:
                return Score.unscored(self.name, reason=f"run {self.opposition.run} has no answer to this sample")
            case = replace(case, opponent=opponent)
        verdict = self.kind.foregone(case)
        if verdict is not None:
            reason = f"{self.kind.say(verdict, ())}: both texts are the same; no judge was asked"
            return Score(self.name, self.kind.value(verdict), reason=reason)
        return self._score_from(await self._hear(self.kind.forms(case)))

    async def _opponent(self, sample: Sample) -> str | None:
        if self.find_opponent is None:
            raise ScorerError(f"The scorer '{self.name}' was given no answers to compare with.")
        answer = await self.find_opponent(sample)
        return None if answer is None else final_text(answer)

    async def _hear(self, forms: Sequence[JudgeRequest]) -> list[JudgeDecision]:
        """Ask everybody; when somebody cannot be reached the others still finish, and are in the cache next time.

        A request that was refused may be the answer's doing (too long, filtered): it counts as a verdict that cannot
        be read, or such answers would be in no count at all.
        """

        async def ask(judge: Judge, form: JudgeRequest) -> tuple[JudgeReply, ...] | ScorerError:
            try:
                opinions = await judge.ask(form.prompt, lambda reply: self._read(form, reply).verdict is not None)
            except ScorerError as error:
                return error
            return tuple(JudgeReply(form, opinion, self._read(form, opinion.response)) for opinion in opinions)

        async with asyncio.TaskGroup() as group:
            tasks = [[group.create_task(ask(judge, form)) for form in forms] for judge in self.judges]
        rulings = []
        for judge, asked in zip(self.judges, tasks, strict=True):
            heard, refusal = [], None
            for task in asked:
                replies = task.result()
                if isinstance(replies, JudgeRefusedError):
                    refusal = str(replies)
                elif isinstance(replies, ScorerError):
                    raise replies
                else:
                    heard.append(replies)
            verdict = self._settled(heard) if refusal is None else None
            rulings.append(JudgeDecision(judge, tuple(chain.from_iterable(heard)), verdict, refusal))
        return rulings

    def _read(self, form: JudgeRequest, reply: Response) -> VerdictReading[Verdict]:
        return read_verdict(reply, form.code, self.kind.understand, self.kind.allowed)

    def _settled(self, heard: Sequence[Sequence[JudgeReply]]) -> Verdict | None:
        """The verdict out of the last reply to each form; None where one of them could not be read."""
        last = [replies[-1].reading.verdict for replies in heard]
        verdicts = tuple(verdict for verdict in last if verdict is not None)
        return self.kind.settle(verdicts) if len(verdicts) == len(last) else None

    def _score_from(self, rulings: Sequence[JudgeDecision]) -> Score:
        details = self._details(rulings)
        values = [self.kind.value(ruling.verdict) for ruling in rulings if ruling.verdict is not None]
        if not is_decided(values, len(rulings), self.kind.combine):
            reason = _why_undecided(rulings)
            return Score(self.name, None, reason=reason, details={**details, VERDICT: UNREADABLE})
        value = COMBINE[self.kind.combine](values)
        return Score(self.name, value, reason=self._reason(rulings, value), details=details)

    def _reason(self, rulings: Sequence[JudgeDecision], value: float) -> str:
        if len(rulings) == 1:
            [ruling] = rulings
            reply = ruling.readable[0]
            said = clean(reasons_in(reply.opinion.response, reply.form.code))
            cut = f"{said[:MAX_REASON]}…" if len(said) > MAX_REASON else said
            verdict = self._say(ruling)
            return f"{verdict} by {ruling.judge.label}: {cut}" if cut else f"{verdict} by {ruling.judge.label}"
        each = ", ".join(f"{ruling.judge.label} {self._say(ruling)}" for ruling in rulings)
        return f"{self.kind.combine} {value:.3g} of: {each}"

    def _say(self, ruling: JudgeDecision) -> str:
        if ruling.verdict is None:
            return UNREADABLE
        said = (reply.reading.verdict for reply in ruling.readable)
        return self.kind.say(ruling.verdict, tuple(word for word in said if word is not None))

    def _details(self, rulings: Sequence[JudgeDecision]) -> dict[str, Json]:
        return {
            "template": self.kind.template,
            "combine": self.kind.combine,
            "level": self.kind.level,
            "judges": [_ruling_json(ruling) for ruling in rulings],
        }


def _majority(values: Sequence[float]) -> float:
    """The most frequent value; of several equally frequent ones, their mean."""
    return fmean(multimode(values))


COMBINE: dict[Combine, Callable[[Sequence[float]], float]] = {"mean": fmean, "median": median, "majority": _majority}


def is_decided(values: Sequence[float], judges: int, combine: Combine) -> bool:
    """Whether the judges that could be read decide for their panel: the others, whatever they meant to say, could
    not have changed its value. An answer gains nothing by making the strictest of them unreadable.
    """
    missing = judges - len(values)
    if not missing or not values:
        return not missing
    if combine != "majority":
        lowest, highest = (COMBINE[combine]([*values, *[mark] * missing]) for mark in (0.0, 1.0))
        return lowest == highest
    [(_, most), *others] = Counter(values).most_common(2)
    return most - sum(count for _, count in others) > missing


def _why_undecided(rulings: Sequence[JudgeDecision]) -> str:
    unread = [ruling for ruling in rulings if ruling.verdict is None]
    whys = "; ".join(f"{ruling.judge.label}: {ruling.problem}" for ruling in unread)
    if len(unread) == len(rulings):
        return f"no readable verdict, which is the judge's failing and not the answer's: {whys}"
    return f"too few judges could be read to decide for all {len(rulings)}, which is not the answer's failing: {whys}"


def clean(text: str) -> str:
    """Text that can be stored: half characters become replacement signs."""
    return text.encode("utf-8", "replace").decode()


def _ruling_json(ruling: JudgeDecision) -> dict[str, Json]:
    return {
        "judge": ruling.judge.label,
        "identity": asdict(ruling.judge.identity),
        "options": dict(ruling.judge.options),
        "verdict": ruling.verdict,
        "problem": ruling.problem,
        "hearings": [_reply_json(reply) for reply in ruling.replies],
    }


def _reply_json(reply: JudgeReply) -> dict[str, Json]:
    response = reply.opinion.response
    return {
        "prompt": reply.form.digest,
        "verdict": reply.reading.verdict,
        "reply": clean(response.text),
        "model": response.model,
        "finish_reason": response.finish_reason.value,
        "usage": structs.asdict(response.usage),
        "cost_usd": None if response.cost_usd is None else str(response.cost_usd),
        "cost_basis": response.cost_basis,
        "latency_seconds": response.latency_seconds,
        "cached": reply.opinion.is_cached,
    }
