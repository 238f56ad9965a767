"""A plan drafted with the help of a model: it reads what the rules left over, and can fill only what was not said."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from msgspec.structs import replace

from proctor.domain.documents.draft import PlanChange, PlanDraft, UnsupportedWish
from proctor.domain.errors import ModelError, UserError
from proctor.domain.response import FinishReason, Response
from proctor.models.key_hosts import with_key_hosts
from proctor.models.prices import find_price
from proctor.models.registry import create_model, named_hosts
from proctor.offline import confined
from proctor.planner.answer import Fill, UnreadableAnswerError, merge_answer, read_answer
from proctor.planner.catalogue import PlannerCatalogue
from proctor.planner.drafting import draft
from proctor.planner.prompt import planner_prompt
from proctor.planner.reader import not_understood, read_query
from proctor.planner.reading import Reading
from proctor.planner.refining import refine
from proctor.planning.plan_file import model_spec, plan_from
from proctor.runs.plans.draft_plan import to_document
from proctor.runs.resolve import PlanContext

TIMEOUT_SECONDS = 30.0
MAX_TOKENS = 400


def draft_with_model(
    query: str,
    catalogue: PlannerCatalogue,
    planner: str,
    context: PlanContext,
    *,
    base: Mapping[str, Any] | None = None,
    timeout_seconds: float = TIMEOUT_SECONDS,
) -> PlanDraft:
    """Like `draft_plan`; whatever the model does, what the query says stays, and the bill is told."""
    reading = read_query(query, catalogue)
    if not not_understood(reading):
        return replace(_drafted(reading, catalogue, base), notes=["Every word was understood: no model was asked."])
    cost: Decimal | None = None
    refused: list[tuple[str, str]] = []
    failure: str | None = None
    try:
        response, cost = _ask(reading, catalogue, planner, context, timeout_seconds)
        refused = merge_answer(reading, catalogue, _fills(response), (base or {}).get("limits") or {})
    except (ModelError, UnreadableAnswerError, TimeoutError) as error:
        failure = f"{planner} gave nothing that could be used: {str(error) or 'it took too long'}"
    try:
        made = _drafted(reading, catalogue, base)
    except UserError as error:
        # What the rules alone read may hold; where it does not, that is what is told.
        made = _drafted(read_query(query, catalogue), catalogue, base)
        failure = failure or f"what {planner} made of the words does not go with the rest: {error}"
    if failure is not None:
        made = _drafted(read_query(query, catalogue), catalogue, base)
        return replace(made, fallback=failure, cost_usd=None if cost is None else float(cost))
    told = f"{planner} gave these words a meaning that is not used"
    notes = [UnsupportedWish(text, f"{told}: {why}") for text, why in refused]
    return replace(
        made, by=planner, cost_usd=None if cost is None else float(cost), unsupported=[*made.unsupported, *notes]
    )


def _fills(response: Response) -> list[Fill]:
    if response.finish_reason is not FinishReason.STOP:
        raise UnreadableAnswerError(f"the answer ended with {response.finish_reason}")
    return read_answer(response.text)


def _drafted(reading: Reading, catalogue: PlannerCatalogue, base: Mapping[str, Any] | None) -> PlanDraft:
    if base is None:
        return to_document(draft(reading, catalogue))
    plan_from(base)
    refined = refine(reading, catalogue, base)
    return to_document(refined.drafted, changes=[PlanChange(*change) for change in refined.changes])


def _ask(
    reading: Reading, catalogue: PlannerCatalogue, planner: str, context: PlanContext, timeout_seconds: float
) -> tuple[Response, Decimal | None]:
    """The model's answer and what it cost; asked once, for a person is waiting."""
    spec = model_spec(planner)
    environment = with_key_hosts(context.environment, named_hosts([spec]))
    options = {"max_tokens": MAX_TOKENS, **spec.sampling.given()}

    async def ask() -> tuple[Response, Decimal | None]:
        model = create_model(spec, environment=environment, folder=context.folder, is_offline=context.is_offline)
        try:
            async with asyncio.timeout(timeout_seconds):
                response = await model.respond(
                    planner_prompt(reading, catalogue), options, timeout_seconds=timeout_seconds
                )
            if response.cost_usd is not None:
                return response, response.cost_usd
            price = find_price(model.identity, context.prices, None, context.lists)
            return response, None if price is None else price.cost(response.usage)
        finally:
            await model.close()

    with confined(context.is_offline):
        return asyncio.run(ask())
