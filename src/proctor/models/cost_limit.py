"""What a cost limit rests on: a price, a bound on every answer, and requests that hold nothing dearer."""

from __future__ import annotations

from collections.abc import Mapping

from proctor.domain.errors import PlanError
from proctor.domain.message import Json
from proctor.domain.model import Model, Unbounded
from proctor.domain.price import FREE, Price

CANNOT_CHANGE_THE_COST = frozenset(
    {
        # Whose request it is, and what the provider notes of it.
        "metadata",
        "prompt_cache_key",
        "safety_identifier",
        "store",
        "user",
        # Which token comes next: answers keep to max_tokens however their words are chosen.
        "logit_bias",
        "min_p",
        "repetition_penalty",
        "stop_token_ids",
        "top_a",
        "top_k",
        "typical_p",
        # What is let through.
        "safetySettings",
        # How the chat is written out; whatever it adds is reserved with the prompt.
        "chat_template_kwargs",
    }
)
"""The fields of `extra` that can be sent under a cost limit.

A list of what is allowed, because no list of what is not could be whole: several answers instead of one (n, best_of,
candidateCount), other names for the limit (max_completion_tokens, generationConfig), dearer service (service_tier),
other models (models, route), tools that are billed by the call (web_search_options, plugins), longer input
(cachedContent, previous_response_id, messages), and whatever a provider thinks of next.
"""


def refuse_unenforceable(
    who: str, model: Model, price: Price | None, options: Mapping[str, Json], remedy: str = "the option max_tokens"
) -> None:
    """A cap that cannot be enforced is refused, not ignored."""
    if price is None:
        raise PlanError(
            f"The cost limit cannot be enforced: the price of {who} is unknown. Give one with "
            "--assume-price IN/OUT (dollars for a million tokens) or in a prices file, or leave out the limit."
        )
    if price is FREE:
        return
    if isinstance(model, Unbounded) and model.unbounded is not None:
        raise PlanError(f"The cost limit cannot be enforced: {who} {model.unbounded}, or leave out the limit.")
    if "max_tokens" not in options:
        raise PlanError(
            f"The cost limit cannot be enforced: answers of {who} may be of any length. Limit them with {remedy}."
        )
    dear = sorted(set(options.get("extra") or ()) - CANNOT_CHANGE_THE_COST)
    if dear:
        raise PlanError(
            f"The cost limit cannot be enforced: 'extra' of {who} holds {', '.join(dear)}, which may change what a "
            f"request costs. Leave that out, or the limit; with one, 'extra' may hold "
            f"{', '.join(sorted(CANNOT_CHANGE_THE_COST))}."
        )
