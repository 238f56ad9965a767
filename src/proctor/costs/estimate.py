"""What a plan will cost, before anything is paid: an interval, and what it rests on."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal

from msgspec import Struct

from proctor.costs.tokens import (
    MEASURED_SPREAD,
    UNMEASURED_SPREAD,
    Tokeniser,
    files_in,
    prompt_tokens,
    tokeniser_of,
)
from proctor.domain.evaluation import Evaluation
from proctor.domain.message import DocumentPart, Message, Part, Prompt
from proctor.domain.plan import Plan
from proctor.domain.price import FREE, Price
from proctor.domain.response import Usage
from proctor.domain.sample import Sample
from proctor.planning.expand import trials_of
from proctor.stores.codec import prompt_text
from proctor.stores.database import Database
from proctor.stores.history import History, Lengths, count_answered, find_history

PROMPTS_LOOKED_AT = 200
DOCUMENTS_LOOKED_AT = 20
"""Reading a document takes a while: an estimate should take seconds."""
Z = 1.96
MAX_LOOKED_UP = 200_000
"""Trials beyond this are not looked up in the cache one by one: an estimate should take seconds."""


class CostEstimate(Struct, frozen=True):
    """Dollars with a 95 % interval; all None when the price or the length of the answers is unknown."""

    value_usd: Decimal | None
    low_usd: Decimal | None
    high_usd: Decimal | None
    basis: str
    cached_trials: int = 0
    """Trials whose answers are in the cache: they cost nothing."""


def estimate_cost(evaluation: Evaluation, database: Database | None) -> CostEstimate:
    """Without retries, and without judges; earlier runs tell how long answers are, and which are there already."""
    price = evaluation.price
    if price is None:
        return CostEstimate(None, None, None, "the price is unknown")
    if price is FREE:
        return CostEstimate(Decimal(0), Decimal(0), Decimal(0), "it costs nothing")
    cached = _cached_trials(evaluation, database)
    open_trials = evaluation.trials - cached
    history = _Histories(evaluation, database)
    talk = _talk(evaluation, history)
    answer = _answer_length(evaluation, history, open_trials, talk.turns)
    if answer is None:
        reason = "no earlier run tells how long the answers are, and max_tokens is not given; --pilot N finds out"
        return CostEstimate(None, None, None, reason, cached)
    costs = [
        _cost(price, talk, factor, tokens_out) * open_trials
        for factor, tokens_out in ((1.0, answer.mean), (1 - talk.spread, answer.low), (1 + talk.spread, answer.high))
    ]
    basis = f"{price.basis}; {answer.why}; {talk.how}" + (f"; {cached:,} answers are in the cache" if cached else "")
    return CostEstimate(costs[0], costs[1], costs[2], basis, cached)


def total_cost(estimates: Iterable[CostEstimate], judges: Iterable[CostEstimate] = ()) -> CostEstimate:
    """All of them together, judges included; unknown as soon as one is."""
    of_models, of_judges = list(estimates), list(judges)
    found = of_models + of_judges
    for items, what in ((of_models, "evaluations"), (of_judges, "judgings")):
        missing = sum(item.value_usd is None for item in items)
        if missing:
            return CostEstimate(None, None, None, f"{missing} of {len(items)} {what} cannot be estimated")

    def total(name: str) -> Decimal:
        return sum((getattr(item, name) for item in found), Decimal(0))

    # The errors may all go the same way: bounds are added, not combined.
    cached = sum(item.cached_trials for item in of_models)
    basis = "the sum of all evaluations" + (" and their judges" if of_judges else "")
    return CostEstimate(total("value_usd"), total("low_usd"), total("high_usd"), basis, cached)


class Length(Struct, frozen=True):
    """How long texts are expected to be: the mean with an interval, and what that rests on."""

    mean: float
    low: float
    high: float
    why: str


def from_history(known: Lengths, texts: int, most: float, why: str) -> Length:
    """The mean of so many further texts, where earlier ones were like this."""
    error = Z * known.deviation * math.sqrt(1 / known.answers + 1 / max(texts, 1))
    return Length(min(known.mean, most), max(known.mean - error, 0.0), min(known.mean + error, most), why)


def pilot_plan(plan: Plan, samples: int) -> Plan:
    """The same plan with a few samples of each benchmark, asked once; the real run finds their answers in the cache."""
    benchmarks = tuple(
        spec.model_copy(update={"limit": min(samples, spec.limit or samples), "epochs": 1}) for spec in plan.benchmarks
    )
    name = f"pilot of {plan.name}" if plan.name else "pilot"
    changes = {"benchmarks": benchmarks, "name": name, "batch": False, "until": None}
    return plan.model_copy(update=changes)


class _Histories:
    """Earlier answers of a model on this benchmark; others may be in another script, in more turns, with files."""

    def __init__(self, evaluation: Evaluation, database: Database | None) -> None:
        self.alike: History | None = None
        self.same_benchmark: History | None = None
        if database is not None:
            label, benchmark = evaluation.label, evaluation.benchmark.name
            self.same_benchmark = find_history(database, label, benchmark)
            self.alike = self.same_benchmark and find_history(database, label, benchmark, evaluation.options)


def _cached_trials(evaluation: Evaluation, database: Database | None) -> int:
    if database is None or not evaluation.use_cache or evaluation.trials > MAX_LOOKED_UP:
        return 0
    keys = {trial.cache_key for trial in trials_of(evaluation) if trial.cache_key is not None}
    return count_answered(database, sorted(keys))


class _Talk(Struct, frozen=True):
    """What one trial sends on average: one request, or as many as its conversation has turns."""

    turns: float
    tokens: float
    """Of all requests together, the model's own answers apart: each turn repeats what was said before it."""
    repeated: float
    """How many of the model's answers are sent again with later turns; 0 where the tokens have them in already."""
    spread: float
    how: str


def _talk(evaluation: Evaluation, history: _Histories) -> _Talk:
    samples = some_samples(evaluation)
    prompts = [evaluation.benchmark.renderer.render(sample) for sample in samples]
    turns = 1 + sum(len(sample.follow_ups) for sample in samples) / len(samples)
    talks = f"; conversations of {turns:.3g} turns, each with all that was said before" if turns > 1 else ""
    if (known := history.same_benchmark) is not None:
        # Tokens are recorded for whole conversations, so what was counted before holds every turn.
        characters = sum(len(prompt_text(prompt)) for prompt in prompts) / len(prompts)
        how = f"prompts at {known.characters_per_token:.1f} characters to a token, as before{talks}"
        return _Talk(turns, characters / known.characters_per_token, 0.0, MEASURED_SPREAD, how)
    tokeniser = tokeniser_of(evaluation.model.identity.name)
    tokens = sum(_said(prompt, sample.follow_ups, tokeniser) for prompt, sample in zip(prompts, samples, strict=True))
    repeated = sum(len(sample.follow_ups) * (len(sample.follow_ups) + 1) / 2 for sample in samples)
    has_files = any(map(files_in, prompts))
    files = "; images and pages of documents at about 1,000 tokens" if has_files else ""
    spread = UNMEASURED_SPREAD if has_files else tokeniser.spread
    how = f"prompts {tokeniser.how}{files}{talks}"
    return _Talk(turns, tokens / len(samples), repeated / len(samples), spread, how)


def _said(prompt: Prompt, follow_ups: Sequence[str], tokeniser: Tokeniser) -> float:
    """Tokens of all turns together: the prompt is sent with each, a follow-up with its own and those after it."""
    turns = 1 + len(follow_ups)
    later = (
        (turns - number) * prompt_tokens(Prompt((Message("assistant", ""), Message("user", text))), tokeniser.count)
        for number, text in enumerate(follow_ups, 1)
    )
    return turns * prompt_tokens(prompt, tokeniser.count) + sum(later)


def some_samples(evaluation: Evaluation) -> list[Sample]:
    """Spread evenly over the samples: files are often sorted; fewer where there are documents to read."""
    count = evaluation.fingerprint.count
    step = max(1, count // PROMPTS_LOOKED_AT)
    positions = list(range(0, count, step))[:PROMPTS_LOOKED_AT]
    samples = list(evaluation.samples.at(positions))
    has_documents = any(isinstance(part, DocumentPart) for sample in samples for part in _parts(sample))
    return samples[:: math.ceil(len(samples) / DOCUMENTS_LOOKED_AT)] if has_documents else samples


def _parts(sample: Sample) -> Iterator[Part | str]:
    yield from sample.files
    for message in () if isinstance(sample.input, str) else sample.input:
        yield from message.content


def _answer_length(evaluation: Evaluation, history: _Histories, trials: int, turns: float) -> Length | None:
    """Mean tokens of all answers of a trial with an interval for the mean of so many, and where they come from."""
    longest = evaluation.options.get("max_tokens")
    most = longest * turns if isinstance(longest, int) else math.inf
    if (known := history.alike or history.same_benchmark) is not None:
        why = f"answers as long as {known.output.answers:,} earlier ones"
        return from_history(known.output, trials, most, why + ("" if history.alike else " with other options"))
    if math.isfinite(most):
        return Length(most / 2, 0.0, most, f"no earlier run: answers of 0 to {longest:,} tokens (max_tokens)")
    return None


def _cost(price: Price, talk: _Talk, factor: float, tokens_out: float) -> Decimal:
    """Of one trial whose answers have so many tokens together; the factor is on what it is told."""
    answer = tokens_out / talk.turns
    tokens_in = (talk.tokens * factor + talk.repeated * answer) / talk.turns
    # Prices have tiers for long prompts, so one request is priced, not the sum of several.
    one = price.cost(Usage(math.ceil(tokens_in), math.ceil(answer)))
    return (one or Decimal(0)) * Decimal(talk.turns)
