"""From a request to what is asked of each model: names, prices and the cap are looked at before anything is sent."""

from __future__ import annotations

import string
from collections.abc import Mapping, Sequence
from decimal import Decimal
from secrets import SystemRandom
from typing import TypeVar

from msgspec import Struct, to_builtins
from msgspec.structs import replace

from proctor.domain.documents.playground import PlaygroundView
from proctor.domain.errors import PlanError, UserError, in_field
from proctor.domain.fields import Frozen, InvalidValueError
from proctor.domain.message import Json, Prompt
from proctor.domain.model import Model
from proctor.domain.plan import Limits, ModelSpec, Sampling
from proctor.domain.price import FREE, Price
from proctor.engine.budget import most_it_can_cost
from proctor.models.cost_limit import refuse_unenforceable
from proctor.models.key_hosts import with_key_hosts
from proctor.models.registry import create_model, named_hosts, provider_of
from proctor.offline import confined
from proctor.runs.playground.request import VIEW, PlaygroundRequest, view_of
from proctor.runs.resolve import PlanContext, price_of
from proctor.stores.accounts.budgets import Spender
from proctor.stores.codec import PICO
from proctor.stores.database import Database
from proctor.stores.idempotency import RequestKey
from proctor.stores.playground import AnswerRow, AskedFile, PlaygroundStore
from proctor.yaml_document import explain_value

SLOTS = string.ascii_lowercase
Checked = TypeVar("Checked", bound=Frozen)


class AskedModel(Struct, frozen=True):
    slot: str
    position: int
    label: str
    model: Model
    options: Mapping[str, Json]
    price: Price | None
    held_usd: Decimal
    """The most that it can cost, where there is a cap."""


class PreparedAsk(Struct, frozen=True):
    request: PlaygroundRequest
    prompt: Prompt
    files: tuple[AskedFile, ...]
    view: PlaygroundView
    models: tuple[AskedModel, ...]

    @property
    def held_usd(self) -> Decimal | None:
        """The most that it can cost; None without a cap."""
        return None if self.request.cost_usd is None else sum((one.held_usd for one in self.models), Decimal(0))

    def write(
        self, database: Database, author: str, key: RequestKey | None = None, spender: Spender | None = None
    ) -> tuple[str, bool]:
        """Write it down, and reserve what it can cost; gives its id, and False where the same was there before."""
        rows = [
            AnswerRow(
                slot=one.slot, position=one.position, model=one.label, held_pico_usd=int(one.held_usd * PICO)
            )
            for one in self.models
        ]  # fmt: skip
        kind = str(self.request.__struct_config__.tag)
        stored = {**self.request.stored(), VIEW: to_builtins(self.view)}
        return PlaygroundStore(database).add(
            author,
            kind,
            stored,
            rows,
            self.files,
            is_blind=self.request.is_blind,
            key=key,
            spender=spender,
            cap_usd=self.held_usd,
        )


def read_models(request: PlaygroundRequest) -> tuple[ModelSpec, ...]:
    """The models as a plan would name them; raises PlanError with the field of the first mistake."""
    found = []
    for index, written in enumerate(request.models):
        with in_field("models", index):
            found.append(_validated(ModelSpec, written))
    return tuple(found)


def prepare_ask(
    request: PlaygroundRequest, specs: Sequence[ModelSpec], context: PlanContext, *, is_operator: bool
) -> PreparedAsk:
    """Everything that is needed to ask; raises a UserError for what cannot be asked, or not within the cap."""
    with in_field("options"):
        sampling = _validated(Sampling, dict(request.options))
    prompt, files = request.to_prompt(), request.files()
    view = view_of(request, files)
    if is_operator:  # who names models here as on the command line
        hosts = named_hosts(specs)
        context = replace(context, environment=with_key_hosts(context.environment, hosts))
    limits = _validated(Limits, {"assume_price": request.assume_price})
    cap = None if request.cost_usd is None else Decimal(str(request.cost_usd))
    slots = list(SLOTS[: len(specs)])
    if request.is_blind:
        SystemRandom().shuffle(slots)
    models = []
    for index, (spec, slot) in enumerate(zip(specs, slots, strict=True)):
        with in_field("models", index):
            options = {**sampling.given(), **spec.sampling.given()}
            model = _created(spec, context)
            price = price_of(model, limits, context)
            held = _held(spec, model, price, prompt, options) if cap is not None else Decimal(0)
            models.append(AskedModel(slot, index, _label(spec, specs), model, options, price, held))
    _refuse_beyond(cap, models)
    return PreparedAsk(request, prompt, files, view, tuple(models))


def _validated(kind: type[Checked], value: object) -> Checked:
    try:
        return kind.model_validate(value)
    except InvalidValueError as error:
        raise PlanError(explain_value(error, kind)) from None


def _created(spec: ModelSpec, context: PlanContext) -> Model:
    """The model, answering piece by piece where it can."""
    settings = dict(spec.settings)
    if "stream" in _settings_of(spec.provider):
        settings.setdefault("stream", True)
    streaming = spec.model_copy(update={"settings": settings})
    with confined(context.is_offline):
        return create_model(
            streaming, environment=context.environment, folder=context.folder, is_offline=context.is_offline
        )


def _settings_of(provider: str) -> Sequence[str]:
    try:
        found = provider_of(provider)
    except UserError:  # creating the model says so in better words
        return ()
    return found.settings if found.capabilities.streaming else ()


def _held(
    spec: ModelSpec, model: Model, price: Price | None, prompt: Prompt, options: Mapping[str, Json]
) -> Decimal:  # fmt: skip
    refuse_unenforceable(spec.short, model, price, options)
    if price is None or price is FREE:
        return Decimal(0)
    return most_it_can_cost(prompt, options, price, spec.short)


def _refuse_beyond(cap: Decimal | None, models: Sequence[AskedModel]) -> None:
    total = sum((one.held_usd for one in models), Decimal(0))
    if cap is not None and total > cap:
        with in_field("cost_usd"):
            raise PlanError(
                f"These {len(models)} requests could cost up to ${total:.4f}, more than the limit of ${cap}: nothing "
                "was sent. Lower max_tokens, ask fewer models, or raise the limit."
            )


def _label(spec: ModelSpec, specs: Sequence[ModelSpec]) -> str:
    """Short where that is unambiguous."""
    return spec.short if sum(other.short == spec.short for other in specs) == 1 else str(spec)
