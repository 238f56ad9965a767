"""What a plan will cost, before anything is paid: an interval, and what it rests on."""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal
from itertools import islice

from proctor.domain.evaluation import Evaluation
from proctor.domain.response import Usage
from proctor.stores.codec import prompt_text
from proctor.stores.database import Database
from proctor.stores.history import History, find_history

PROMPTS_LOOKED_AT = 200
CHARACTERS_PER_TOKEN = 4.0
# English prose has three to five characters to a token, other scripts and code fewer.
CHARACTERS_UNCERTAINTY = 0.35
Z = 1.96


@dataclass(frozen=True, slots=True)
class CostEstimate:
    """Dollars with a 95 % interval; all None when the price or the length of the answers is unknown."""

    value_usd: Decimal | None
    low_usd: Decimal | None
    high_usd: Decimal | None
    basis: str


def estimate_cost(evaluation: Evaluation, database: Database | None) -> CostEstimate:
    """Before any answer from the cache and any retry; the database's earlier runs tell how long answers are."""
    if evaluation.price is None:
        return CostEstimate(None, None, None, "the price is unknown")
    render = evaluation.benchmark.renderer.render
    lengths = [len(prompt_text(render(sample))) for sample in islice(evaluation.samples, PROMPTS_LOOKED_AT)]
    characters = sum(lengths) / len(lengths)
    own = _history(database, evaluation.label, evaluation.benchmark.name)
    known = own or _history(database, evaluation.label, None)
    spread = 0.05 if known else CHARACTERS_UNCERTAINTY
    tokens_in = characters / (known.characters_per_token if known else CHARACTERS_PER_TOKEN)
    answer = _answer_length(evaluation, own)
    if answer is None:
        why = "no earlier run tells how long the answers are, and max_tokens is not given"
        return CostEstimate(None, None, None, why)
    mean, low, high, why = answer
    costs = [
        _cost(evaluation, tokens_in * factor, tokens_out)
        for factor, tokens_out in ((1.0, mean), (1 - spread, low), (1 + spread, high))
    ]
    return CostEstimate(costs[0], costs[1], costs[2], f"{evaluation.price.source}; {why}")


def _history(database: Database | None, model: str, benchmark: str | None) -> History | None:
    return None if database is None else find_history(database, model, benchmark)


def _answer_length(evaluation: Evaluation, known: History | None) -> tuple[float, float, float, str] | None:
    """Mean tokens of an answer with an interval, and where they come from."""
    if known is not None:
        error = Z * known.output_deviation * math.sqrt(1 / known.answers + 1 / evaluation.trials)
        why = f"answers as long as {known.answers:,} earlier ones"
        return known.output_mean, max(known.output_mean - error, 0.0), known.output_mean + error, why
    longest = evaluation.options.get("max_tokens")
    if isinstance(longest, int):
        return longest / 2, 0.0, float(longest), f"no earlier run: answers of 0 to {longest:,} tokens (max_tokens)"
    return None


def _cost(evaluation: Evaluation, tokens_in: float, tokens_out: float) -> Decimal:
    assert evaluation.price is not None  # noqa: S101 - asked by the caller
    one = evaluation.price.cost(Usage(math.ceil(tokens_in), math.ceil(tokens_out)))
    return (one or Decimal(0)) * evaluation.trials
