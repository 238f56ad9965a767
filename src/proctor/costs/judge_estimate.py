"""What the judges of a plan will cost: their prompts are drafted around answers of the length that is expected."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from decimal import Decimal
from itertools import islice

from msgspec import Struct

from proctor.costs.estimate import (
    MAX_LOOKED_UP,
    PROMPTS_LOOKED_AT,
    CostEstimate,
    Length,
    from_history,
    some_samples,
)
from proctor.costs.tokens import LATIN, Tokeniser, prompt_tokens, tokeniser_of
from proctor.domain.evaluation import Evaluation
from proctor.domain.identity import CacheKeys
from proctor.domain.message import Prompt
from proctor.domain.price import FREE, Price
from proctor.domain.response import Response, Usage
from proctor.domain.sample import Sample
from proctor.judges.asking import AskedJudge
from proctor.planning.expand import trials_of
from proctor.scorers.judging.kind import JudgeCase
from proctor.scorers.judging.panel import JudgeScorer
from proctor.scorers.reading import final_text
from proctor.stores.answer_cache import count_kept
from proctor.stores.database import Database
from proctor.stores.history import answers_to, find_answer_lengths, find_reply_lengths


class JudgeEstimate(Struct, frozen=True):
    scorer: str
    judge: str
    cost: CostEstimate


def estimate_judges(evaluation: Evaluation, database: Database | None) -> list[JudgeEstimate]:
    """One estimate for each judging scorer and judge, retries apart; empty where nobody judges."""
    return [
        JudgeEstimate(scorer.name, judge.label, _estimate(evaluation, scorer, judge, database))
        for scorer in evaluation.scorers
        if isinstance(scorer, JudgeScorer)
        for judge in scorer.judges
        if isinstance(judge, AskedJudge)
    ]


def _estimate(
    evaluation: Evaluation, scorer: JudgeScorer, judge: AskedJudge, database: Database | None
) -> CostEstimate:  # fmt: skip
    if judge.price is None:
        return CostEstimate(None, None, None, "the price is unknown")
    if judge.price is FREE:
        return CostEstimate(Decimal(0), Decimal(0), Decimal(0), "it costs nothing")
    judged = _judged_already(evaluation, scorer, judge, database)
    cases = evaluation.trials - judged
    samples = some_samples(evaluation)
    tokeniser = tokeniser_of(judge.identity.name)
    rate = _characters_per_token(samples, tokeniser)
    answer = _answer_length(evaluation, database, cases, rate)
    if answer is None:
        return _unknown("the answers", judged)
    forms = _forms(scorer, samples, tokeniser)
    if forms.requests == 0:
        return CostEstimate(Decimal(0), Decimal(0), Decimal(0), "no sample can be judged", judged)
    reply = _reply_length(judge, database, cases)
    if reply is None:
        return _unknown("the judge's replies", judged)
    spread = tokeniser.spread
    costs = [
        _cost(judge.price, forms, answers / rate, factor=factor, reply=replies) * cases
        for factor, answers, replies in (
            (1.0, answer.mean, reply.mean),
            (1 - spread, answer.low, reply.low),
            (1 + spread, answer.high, reply.high),
        )
    ]
    basis = f"{judge.price.basis}; {reply.why}; prompts drafted around {answer.why}"
    if judged:
        basis += f"; {judged:,} verdicts are in the cache"
    return CostEstimate(costs[0], costs[1], costs[2], basis, judged)


def _unknown(what: str, judged: int) -> CostEstimate:
    reason = f"no earlier run tells how long {what} are, and max_tokens is not given; --pilot N finds out"
    return CostEstimate(None, None, None, reason, judged)


class _Forms(Struct, frozen=True):
    """What judging one answer takes on average, whatever the answer is."""

    requests: float
    tokens: float
    """Of all requests together, without the answer."""
    answers: float
    """How many texts of an answer's length stand in all requests together."""


def _forms(scorer: JudgeScorer, samples: Sequence[Sample], tokeniser: Tokeniser) -> _Forms:
    """The forms of drafted cases; what the other side of a comparison says counts as long as the answer."""
    requests, tokens = 0, 0.0
    for sample in samples:
        for prompt in _prompts(scorer, sample, "?"):
            requests += 1
            tokens += prompt_tokens(prompt, tokeniser.count)
    sides = 1 if scorer.kind.opposition is None else 2
    return _Forms(requests / len(samples), tokens / len(samples), sides * requests / len(samples))


def _prompts(scorer: JudgeScorer, sample: Sample, text: str) -> Iterator[Prompt]:
    kind = scorer.kind
    if kind.obstacle(sample) is None:
        opponent = "!" if kind.opposition is not None else None
        for form in kind.forms(JudgeCase(sample, Response(text), text, opponent)):
            yield form.prompt


def _characters_per_token(samples: Sequence[Sample], tokeniser: Tokeniser) -> float:
    """Of the answers: questions are mostly answered in the script that they are asked in."""
    text = "".join(sample.input_text for sample in samples)
    return len(text) / tokeniser.count(text) if text else LATIN


def _answer_length(
    evaluation: Evaluation, database: Database | None, cases: int, characters_per_token: float
) -> Length | None:
    """Characters of an answer."""
    most = evaluation.options.get("max_tokens")
    longest = most * characters_per_token if isinstance(most, int) else math.inf
    known = None
    if database is not None:
        label, benchmark = evaluation.label, evaluation.benchmark.name
        known = find_answer_lengths(database, label, benchmark) or find_answer_lengths(database, label)
    if known is not None:
        return from_history(known, cases, math.inf, f"answers as long as {known.answers:,} earlier ones")
    if math.isfinite(longest):
        return Length(longest / 2, 0.0, longest, f"answers of 0 to {longest:,.0f} characters (max_tokens)")
    return None


def _reply_length(judge: AskedJudge, database: Database | None, cases: int) -> Length | None:
    """Tokens of a judge's reply."""
    most = judge.options.get("max_tokens")
    longest = float(most) if isinstance(most, int) else math.inf
    known = find_reply_lengths(database, judge.label) if database is not None else None
    if known is not None:
        return from_history(known, cases, longest, f"replies as long as {known.answers:,} earlier ones")
    if math.isfinite(longest):
        return Length(longest / 2, 0.0, longest, f"no earlier run: replies of 0 to {longest:,.0f} tokens (max_tokens)")
    return None


def _cost(price: Price, forms: _Forms, answer: float, *, factor: float, reply: float) -> Decimal:
    """Of judging one answer of so many tokens; the factor is on what was counted by characters."""
    tokens_in = (forms.tokens + answer * forms.answers) * factor
    # Prices have tiers for long prompts, so one request is priced, not the sum of several.
    one = price.cost(Usage(math.ceil(tokens_in / forms.requests), math.ceil(reply)))
    return (one or Decimal(0)) * Decimal(forms.requests)


def _judged_already(
    evaluation: Evaluation, scorer: JudgeScorer, judge: AskedJudge, database: Database | None
) -> int:  # fmt: skip
    """How many trials need no request: their answers are in the cache, and so is what the judge says of them."""
    if database is None or not evaluation.use_cache or scorer.kind.opposition is not None:
        return 0
    if evaluation.trials > MAX_LOOKED_UP or not judge.is_cached:
        return 0
    keys = CacheKeys(judge.identity, judge.options)
    looked_at = judged = 0
    trials = {trial.cache_key: trial.sample for trial in trials_of(evaluation) if trial.cache_key is not None}
    answers = answers_to(database, list(trials))
    for key, text in islice(answers.items(), PROMPTS_LOOKED_AT):
        looked_at += 1
        wanted = [keys.of(prompt, (), 0) for prompt in _prompts(scorer, trials[key], final_text(text))]
        judged += count_kept(database, wanted) == len(wanted)
    return round(len(answers) * judged / looked_at) if looked_at else 0
