"""Asks every judge, combines their verdicts into a score, and keeps what each of them said."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from statistics import fmean, median, multimode

from msgspec import structs

from proctor.domain.errors import ScorerError
from proctor.domain.identity import digest
from proctor.domain.message import Json
from proctor.domain.response import Response
from proctor.domain.sample import Sample
from proctor.domain.score import Score
from proctor.scorers.judging.judge import FindOpponent, Judge, Opinion, Opposition
from proctor.scorers.judging.kind import Case, Combine, Kind, Verdict
from proctor.scorers.judging.prompt import Form
from proctor.scorers.judging.verdict import Reading, read_verdict, reasons_in
from proctor.scorers.reading import final_text

MOST_REASON = 400


@dataclass(frozen=True, slots=True)
class Hearing:
    """One form in front of one judge."""

    form: Form
    opinion: Opinion
    reading: Reading[Verdict]


@dataclass(frozen=True, slots=True)
class Ruling:
    """What one judge decided; without a verdict when any of its replies could not be read."""

    judge: Judge
    hearings: tuple[Hearing, ...]
    verdict: Verdict | None

    @property
    def problem(self) -> str | None:
        return next((hearing.reading.problem for hearing in self.hearings if hearing.reading.problem), None)


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
        """Template, options, judges with their sampling options, and the other side where there is one."""
        judges = [[judge.identity, dict(judge.options)] for judge in self.judges]
        content = [asdict(self.kind), judges, self.opponents]  # type: ignore[call-overload]
        return f"{self.kind.template}+{digest(content)[:12]}"

    @property
    def opposition(self) -> Opposition | None:
        return self.kind.opposition

    def with_judges(self, judges: tuple[Judge, ...]) -> JudgeScorer:
        return replace(self, judges=judges)

    def with_opponents(self, find: FindOpponent, identity: str) -> JudgeScorer:
        return replace(self, find_opponent=find, opponents=identity)

    def obstacle(self, sample: Sample) -> str | None:
        return self.kind.obstacle(sample)

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
        case = Case(sample, response, text)
        if self.opposition is not None:
            opponent = await self._opponent(sample)
            if not opponent:
                return Score.unscored(self.name, reason=f"run {self.opposition.run} has no answer to this sample")
            case = replace(case, opponent=opponent)
        verdict = self.kind.foregone(case)
        if verdict is not None:
            reason = f"{self.kind.say(verdict)}: both texts are the same; no judge was asked"
            return Score(self.name, self.kind.value(verdict), reason=reason)
        return self._score_from(await self._hear(self.kind.forms(case)))

    async def _opponent(self, sample: Sample) -> str | None:
        if self.find_opponent is None:
            raise ScorerError(f"The scorer '{self.name}' was given no answers to compare with.")
        answer = await self.find_opponent(sample)
        return None if answer is None else final_text(answer)

    async def _hear(self, forms: Sequence[Form]) -> list[Ruling]:
        """Ask everybody; when somebody cannot be reached the others still finish, and are in the cache next time."""

        async def ask(judge: Judge, form: Form) -> Opinion | ScorerError:
            try:
                return await judge.ask(form.prompt)
            except ScorerError as error:
                return error

        async with asyncio.TaskGroup() as group:
            tasks = [[group.create_task(ask(judge, form)) for form in forms] for judge in self.judges]
        rulings = []
        for judge, asked in zip(self.judges, tasks, strict=True):
            hearings = []
            for form, task in zip(forms, asked, strict=True):
                opinion = task.result()
                if isinstance(opinion, ScorerError):
                    raise opinion
                hearings.append(self._hearing(form, opinion))
            rulings.append(Ruling(judge, tuple(hearings), self._settled(hearings)))
        return rulings

    def _hearing(self, form: Form, opinion: Opinion) -> Hearing:
        kind = self.kind
        reading: Reading[Verdict] = read_verdict(opinion.response, form.code, kind.understand, kind.allowed)
        return Hearing(form, opinion, reading)

    def _settled(self, hearings: Sequence[Hearing]) -> Verdict | None:
        verdicts = tuple(hearing.reading.verdict for hearing in hearings if hearing.reading.verdict is not None)
        return self.kind.settle(verdicts) if len(verdicts) == len(hearings) else None

    def _score_from(self, rulings: Sequence[Ruling]) -> Score:
        details = self._details(rulings)
        verdicts = [ruling.verdict for ruling in rulings if ruling.verdict is not None]
        if not verdicts:
            whys = "; ".join(f"{ruling.judge.label}: {ruling.problem}" for ruling in rulings)
            reason = f"no readable verdict, which is the judge's failing and not the answer's: {whys}"
            return Score(self.name, 0.0, reason=reason, details=details, is_invalid=True)
        value = COMBINE[self.kind.combine]([self.kind.value(verdict) for verdict in verdicts])
        return Score(self.name, value, reason=self._reason(rulings, value), details=details)

    def _reason(self, rulings: Sequence[Ruling], value: float) -> str:
        if len(rulings) == 1:
            [ruling] = rulings
            hearing = ruling.hearings[0]
            said = clean(reasons_in(hearing.opinion.response, hearing.form.code))
            cut = f"{said[:MOST_REASON]}…" if len(said) > MOST_REASON else said
            verdict = self.kind.say(ruling.verdict) if ruling.verdict is not None else "unreadable"
            return f"{verdict} by {ruling.judge.label}: {cut}" if cut else f"{verdict} by {ruling.judge.label}"
        each = ", ".join(
            f"{ruling.judge.label} {'unreadable' if ruling.verdict is None else self.kind.say(ruling.verdict)}"
            for ruling in rulings
        )
        return f"{self.kind.combine} {value:.3g} of: {each}"

    def _details(self, rulings: Sequence[Ruling]) -> dict[str, Json]:
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


def clean(text: str) -> str:
    """Text that can be stored: half characters become replacement signs."""
    return text.encode("utf-8", "replace").decode()


def _ruling_json(ruling: Ruling) -> dict[str, Json]:
    return {
        "judge": ruling.judge.label,
        "identity": asdict(ruling.judge.identity),
        "options": dict(ruling.judge.options),
        "verdict": ruling.verdict,
        "problem": ruling.problem,
        "hearings": [_hearing_json(hearing) for hearing in ruling.hearings],
    }


def _hearing_json(hearing: Hearing) -> dict[str, Json]:
    response = hearing.opinion.response
    return {
        "prompt": hearing.form.digest,
        "verdict": hearing.reading.verdict,
        "reply": clean(response.text),
        "model": response.model,
        "finish_reason": response.finish_reason.value,
        "usage": structs.asdict(response.usage),
        "cost_usd": None if response.cost_usd is None else str(response.cost_usd),
        "cost_basis": response.cost_basis,
        "latency_seconds": response.latency_seconds,
        "cached": hearing.opinion.is_cached,
    }
