"""What a plan will cost, before anything is paid: an interval, and what it rests on."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal

from proctor.domain.evaluation import Evaluation
from proctor.domain.message import Document, Image, Prompt
from proctor.domain.plan import Plan
from proctor.domain.price import FREE
from proctor.domain.response import Usage
from proctor.domain.sample import Sample
from proctor.models.prices import where_to_get_prices
from proctor.planning.expand import trials_of
from proctor.stores.codec import prompt_text
from proctor.stores.database import Database
from proctor.stores.history import History, Lengths, count_answered, find_history

PROMPTS_LOOKED_AT = 200
CHARACTERS_PER_TOKEN = 4.0
TOKENS_PER_MESSAGE = 6
# English prose has three to five characters to a token, code and other scripts fewer.
UNMEASURED_SPREAD = 0.35
MEASURED_SPREAD = 0.05
Z = 1.96
MOST_LOOKED_UP = 200_000
"""Trials beyond this are not looked up in the cache one by one: an estimate should take seconds."""


@dataclass(frozen=True, slots=True)
class CostEstimate:
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
        return CostEstimate(None, None, None, f"the price is unknown{where_to_get_prices()}")
    if price is FREE:
        return CostEstimate(Decimal(0), Decimal(0), Decimal(0), "it costs nothing")
    cached = _cached_trials(evaluation, database)
    open_trials = evaluation.trials - cached
    history = _Histories(evaluation, database)
    answer = _answer_length(evaluation, history, open_trials)
    if answer is None:
        reason = "no earlier run tells how long the answers are, and max_tokens is not given; --pilot N finds out"
        return CostEstimate(None, None, None, reason, cached)
    tokens_in, spread, how = _prompt_length(evaluation, history)
    costs = [
        _cost(evaluation, tokens_in * factor, tokens_out, open_trials)
        for factor, tokens_out in ((1.0, answer.mean), (1 - spread, answer.low), (1 + spread, answer.high))
    ]
    basis = f"{price.basis}; {answer.why}; {how}" + (f"; {cached:,} answers are in the cache" if cached else "")
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


@dataclass(frozen=True, slots=True)
class Length:
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
    """Earlier answers of a model, from the most to the least alike."""

    def __init__(self, evaluation: Evaluation, database: Database | None) -> None:
        self.alike: History | None = None
        self.same_benchmark: History | None = None
        self.any: History | None = None
        if database is not None:
            label, benchmark = evaluation.label, evaluation.benchmark.name
            self.any = find_history(database, label)
            self.same_benchmark = self.any and find_history(database, label, benchmark)
            self.alike = self.same_benchmark and find_history(database, label, benchmark, evaluation.options)


def _cached_trials(evaluation: Evaluation, database: Database | None) -> int:
    if database is None or not evaluation.use_cache or evaluation.trials > MOST_LOOKED_UP:
        return 0
    keys = {trial.cache_key for trial in trials_of(evaluation) if trial.cache_key is not None}
    return count_answered(database, sorted(keys))


def _prompt_length(evaluation: Evaluation, history: _Histories) -> tuple[float, float, str]:
    """Mean tokens of a prompt, how far that may be off, and where it comes from."""
    prompts = [evaluation.benchmark.renderer.render(sample) for sample in some_samples(evaluation)]
    known = history.same_benchmark or history.any
    if known is None:
        tokens = sum(_rough_tokens(prompt) for prompt in prompts) / len(prompts)
        apart = "; images and documents are not counted" if any(map(_has_files, prompts)) else ""
        return tokens, UNMEASURED_SPREAD, f"prompts measured in characters, about four to a token{apart}"
    characters = sum(len(prompt_text(prompt)) for prompt in prompts) / len(prompts)
    how = f"prompts at {known.characters_per_token:.1f} characters to a token, as before"
    return characters / known.characters_per_token, MEASURED_SPREAD, how


def _has_files(prompt: Prompt) -> bool:
    return any(isinstance(part, (Image, Document)) for message in prompt.messages for part in message.content)


def some_samples(evaluation: Evaluation) -> list[Sample]:
    """Spread evenly over the samples: files are often sorted."""
    count = evaluation.fingerprint.count
    step = max(1, count // PROMPTS_LOOKED_AT)
    positions = list(range(0, count, step))[:PROMPTS_LOOKED_AT]
    return list(evaluation.samples.at(positions))


def _rough_tokens(prompt: Prompt) -> float:
    more = len(prompt_text(Prompt((), prompt.tools, prompt.schema))) if prompt.tools or prompt.schema else 0
    return (len(prompt.text) + more) / CHARACTERS_PER_TOKEN + TOKENS_PER_MESSAGE * len(prompt.messages)


def _answer_length(evaluation: Evaluation, history: _Histories, trials: int) -> Length | None:
    """Mean tokens of an answer with an interval for the mean of so many, and where they come from."""
    longest = evaluation.options.get("max_tokens")
    most = float(longest) if isinstance(longest, int) else math.inf
    if (known := history.alike or history.same_benchmark) is not None:
        why = f"answers as long as {known.output.answers:,} earlier ones"
        return from_history(known.output, trials, most, why + ("" if history.alike else " with other options"))
    if math.isfinite(most):
        return Length(most / 2, 0.0, most, f"no earlier run: answers of 0 to {most:,.0f} tokens (max_tokens)")
    return None


def _cost(evaluation: Evaluation, tokens_in: float, tokens_out: float, trials: int) -> Decimal:
    """Of all trials, each of the same length, in whole tokens."""
    if evaluation.price is None:
        raise ValueError("an evaluation without a price has no cost")
    one = evaluation.price.cost(Usage(math.ceil(tokens_in), math.ceil(tokens_out)))
    return (one or Decimal(0)) * trials
